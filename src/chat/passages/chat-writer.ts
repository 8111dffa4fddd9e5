// Writes answers of other wires in Chat's wire (docs/contract.md#chat-streams).
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import { bodyOf, CHUNK_END, chunkStart, DONE, finishChunk, usageChunk } from '../clients/chat.js';
import { toChatUsageDto } from '../dto/chat-usage.dto.js';
import type { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import type { AnswerEnd, PassageOptions } from './passage.js';
import type { StreamWriter, WholeWriter } from './translated-passage.js';

const MEMBERS = { text: 'content', refusal: 'refusal' } as const;
const TEXT_DETAIL = ['reasoning.text', 'text'] as const;
const SUMMARY_DETAIL = ['reasoning.summary', 'summary'] as const;
const QUOTE = Buffer.from('"');

export class ChatWriter implements StreamWriter {
  private readonly start: Buffer;
  private hasRole = false;
  private calls = -1;
  /** Of the reasoning blocks. */
  private details = -1;

  constructor(
    private readonly options: PassageOptions,
    private readonly output: GrowingBuffer,
  ) {
    this.start = chunkStart(options.identity);
  }

  opened({ kind }: AnswerBlock, call?: ToolCallStart): void {
    if (kind === 'reasoning') this.details++;
    if (call === undefined) return;
    this.calls++;
    const called = { name: call.name, arguments: '' };
    const fragment = { index: this.calls, id: call.id, type: 'function', function: called };
    this.delta(`"tool_calls":${JSON.stringify([fragment])}`);
  }

  grew({ kind }: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    if (kind === 'call') {
      this.delta(`"tool_calls":[{"index":${this.calls},"function":{"arguments":"`, bytes, from, to, '"}}]');
      return;
    }
    if (kind !== 'reasoning') {
      this.delta(`"${MEMBERS[kind]}":"`, bytes, from, to, '"');
      return;
    }
    if (this.options.excludesReasoning) return;
    const text = bytes.toString('utf8', from, to);
    const detail = textDetail(this.options, this.details, `"${text}"`);
    this.delta(`"reasoning":"${text}","reasoning_details":[${detail}]`);
  }

  /** Clients send the detail back, and its producer reads it. */
  closed({ kind }: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (opaque === undefined || this.options.excludesReasoning) return;
    if (kind !== 'reasoning') this.details++;
    this.delta(`"reasoning_details":${JSON.stringify([opaqueDetail(opaque, this.options, this.details)])}`);
  }

  end(answer: Answer): void {
    for (const choice of answer.choices) {
      if (choice.finishReason === null) continue;
      if (!this.hasRole) this.delta('"content":""');
      const event = finishChunk(this.options.identity, choice);
      this.output.append(event, 0, event.length);
    }
  }

  last({ usage, cost, members, hasChoice }: AnswerEnd): Buffer {
    const shown = { usage: toChatUsageDto(usage, cost), ...members };
    return Buffer.concat([usageChunk(this.options.identity, shown, hasChoice), DONE]);
  }

  /** Members of the delta as JSON text, around the inside of a string. */
  private delta(before: string, bytes?: Buffer, from = 0, to = 0, after = ''): void {
    const role = this.hasRole ? '' : '"role":"assistant",';
    this.hasRole = true;
    const head = Buffer.from(`"choices":[{"index":0,"delta":{${role}${before}`);
    const tail = Buffer.from(`${after}},"finish_reason":null}]`);
    this.output.append(this.start, 0, this.start.length);
    this.output.append(head, 0, head.length);
    if (bytes) this.output.append(bytes, from, to);
    this.output.append(tail, 0, tail.length);
    this.output.append(CHUNK_END, 0, CHUNK_END.length);
  }
}

export class WholeChatWriter implements WholeWriter {
  private readonly texts = { text: [] as Buffer[], reasoning: [] as Buffer[], refusal: [] as Buffer[] };
  private readonly calls: { readonly call: ToolCallStart; readonly text: Buffer[] }[] = [];
  private readonly details: string[] = [];
  private thought: Buffer[] = [];
  private thoughts = -1;

  constructor(private readonly options: PassageOptions) {}

  opened({ kind }: AnswerBlock, call?: ToolCallStart): void {
    if (call) this.calls.push({ call, text: [] });
    if (kind === 'reasoning') this.beginThought();
  }

  grew({ kind }: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    const copy = Buffer.from(bytes.subarray(from, to));
    if (kind === 'call') this.calls.at(-1)?.text.push(copy);
    else this.texts[kind].push(copy);
    if (kind === 'reasoning') this.thought.push(copy);
  }

  closed({ kind }: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (kind !== 'reasoning') {
      if (opaque === undefined) return;
      this.beginThought();
    }
    const { options, thoughts: index } = this;
    const isSigned = opaque?.kind === 'signature';
    const signature = isSigned ? `,"signature":${JSON.stringify(opaque.text)}` : '';
    const hasText = this.thought.length > 0 || opaque?.kind !== 'encrypted';
    if (hasText) this.details.push(textDetail(options, index, spelled(this.thought), signature));
    if (opaque && !isSigned) this.details.push(JSON.stringify(opaqueDetail(opaque, options, index)));
  }

  body({ usage, cost, members }: AnswerEnd, answer: Answer): readonly Buffer[] {
    const { finishReason = null, nativeFinishReason = null } = answer.choices[0] ?? {};
    const { text, reasoning, refusal } = this.texts;
    const hasReasoning = !this.options.excludesReasoning && this.details.length > 0;
    const message = [
      '"role":"assistant"',
      `"content":${text.length === 0 ? 'null' : spelled(text)}`,
      ...(hasReasoning
        ? [
            `"reasoning":${reasoning.length === 0 ? 'null' : spelled(reasoning)}`,
            `"reasoning_details":[${this.details.join(',')}]`,
          ]
        : []),
      ...(refusal.length === 0 ? [] : [`"refusal":${spelled(refusal)}`]),
      ...(this.calls.length === 0 ? [] : [`"tool_calls":[${this.calls.map(callText).join(',')}]`]),
    ].join(',');
    const reasons = JSON.stringify({ finish_reason: finishReason, native_finish_reason: nativeFinishReason });
    const choices = `"choices":[{"index":0,"message":{${message}},${reasons.slice(1)}]`;
    const shown = { system_fingerprint: null, usage: toChatUsageDto(usage, cost), ...members };
    return bodyOf(this.options.identity, [Buffer.from(choices)], shown);
  }

  private beginThought(): void {
    this.thought = [];
    this.thoughts++;
  }
}

function callText({
  call,
  text,
}: {
  readonly call: ToolCallStart;
  readonly text: readonly Buffer[];
}): string {
  const start = JSON.stringify({ id: call.id, type: 'function' }).slice(0, -1);
  const written = text.length === 0 ? '"{}"' : spelled(text);
  return `${start},"function":{"name":${JSON.stringify(call.name)},"arguments":${written}}}`;
}

/** Pieces of the inside of a string. */
function spelled(pieces: readonly Buffer[]): string {
  return Buffer.concat([QUOTE, ...pieces, QUOTE]).toString();
}

/** `text`: JSON of a string. `more`: JSON of further members. A provider of the Responses wire shows summaries. */
function textDetail(options: PassageOptions, index: number, text: string, more = ''): string {
  const [type, member] = options.wire.protocol === 'responses' ? SUMMARY_DETAIL : TEXT_DETAIL;
  const start = JSON.stringify({ type, format: formatOf(options), index }).slice(0, -1);
  return `${start},"${member}":${text}${more}}`;
}

function opaqueDetail({ kind, text, id }: OpaqueReasoning, options: PassageOptions, index: number): object {
  const format = formatOf(options);
  return kind === 'encrypted'
    ? { type: 'reasoning.encrypted', format, index, ...(id !== undefined && { id }), data: text }
    : { type: 'reasoning.text', format, index, text: '', signature: text };
}

function formatOf({ wire }: PassageOptions): string | undefined {
  return producerBehind(wire.protocol)?.format;
}
