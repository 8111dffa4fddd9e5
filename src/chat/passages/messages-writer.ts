// Writes answers of other wires in the Messages wire (docs/contract.md#messages).
import { countedChatUsage } from '../../domain/chat/chat-usage.js';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import { OWN_SIGNATURE } from '../../providers/shared/messages/reasoning-details.js';
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import { costMembers, MESSAGE_STOP, messagesEvent } from '../clients/messages.js';
import { messagesUsageMembers } from '../clients/messages-usage.js';
import type { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import { sealedReasoning } from '../kernel/reasoning-envelope.js';
import type { AnswerEnd, PassageOptions } from './passage.js';
import type { StreamWriter, WholeWriter } from './translated-passage.js';

/** The signature of thoughts without one: clients send it back, and requests lose such thoughts. */
const NO_SIGNATURE = `${OWN_SIGNATURE}none`;
const STOP_REASONS: Readonly<Record<string, string>> = {
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};
const DELTA_NAMES = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  call: ['input_json_delta', 'partial_json'],
} as const;
const DELTA_END = Buffer.from('"}}\n\n');
const QUOTE = Buffer.from('"');

export class MessagesWriter implements StreamWriter {
  private hasStarted = false;
  private index = -1;
  private isEmpty = true;

  constructor(
    private readonly options: PassageOptions,
    private readonly output: GrowingBuffer,
  ) {}

  opened({ kind }: AnswerBlock, call?: ToolCallStart): void {
    this.start();
    this.index++;
    this.isEmpty = true;
    const block = call
      ? { type: 'tool_use', id: call.id, name: call.name, input: {} }
      : kind === 'reasoning'
        ? { type: 'thinking', thinking: '', signature: '' }
        : { type: 'text', text: '', citations: null };
    this.event('content_block_start', { index: this.index, content_block: block });
  }

  grew({ kind }: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    const [type, member] = DELTA_NAMES[kind];
    this.isEmpty = false;
    const start = Buffer.from(
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.index},` +
        `"delta":{"type":"${type}","${member}":"`,
    );
    this.output.append(start, 0, start.length);
    this.output.append(bytes, from, to);
    this.output.append(DELTA_END, 0, DELTA_END.length);
  }

  closed(block: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (block.kind === 'call' && this.isEmpty) this.grew(block, Buffer.from('{}'), 0, 2);
    if (block.kind === 'reasoning')
      this.event('content_block_delta', {
        index: this.index,
        delta: { type: 'signature_delta', signature: signatureOf(opaque, this.options) },
      });
    this.event('content_block_stop', { index: this.index });
  }

  end(): void {
    this.start();
  }

  last({ usage, cost, members }: AnswerEnd, answer: Answer): Buffer {
    const event = {
      type: 'message_delta',
      delta: stopOf(answer),
      usage: { ...messagesUsageMembers(usage), ...costMembers(cost) },
      ...members,
    };
    return Buffer.concat([messagesEvent('message_delta', JSON.stringify(event)), MESSAGE_STOP]);
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    // Clients take the size of the prompt from this event only.
    const counted = countedChatUsage(Math.max(1, this.options.countedPrompt ?? 1), 1);
    const message = {
      ...messageMembers(this.options),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: messagesUsageMembers(counted),
    };
    this.event('message_start', { message });
  }

  private event(type: string, members: object): void {
    const event = messagesEvent(type, JSON.stringify({ type, ...members }));
    this.output.append(event, 0, event.length);
  }
}

export class WholeMessagesWriter implements WholeWriter {
  /** Of the content, in turns with what stands between them. */
  private readonly pieces: Buffer[] = [];
  private call: Buffer[] = [];
  private count = 0;

  constructor(private readonly options: PassageOptions) {}

  opened({ kind }: AnswerBlock, call?: ToolCallStart): void {
    if (this.count++ > 0) this.add(',');
    this.call = [];
    if (call)
      this.add(`${JSON.stringify({ type: 'tool_use', id: call.id, name: call.name }).slice(0, -1)},"input":`);
    else if (kind === 'reasoning') this.add('{"type":"thinking","thinking":"');
    else this.add('{"type":"text","text":"');
  }

  grew({ kind }: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    // The bytes are valid during the call only.
    const copy = Buffer.from(bytes.subarray(from, to));
    if (kind === 'call') this.call.push(copy);
    else this.pieces.push(copy);
  }

  closed({ kind }: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (kind === 'call') this.add(`${inputOf(Buffer.concat([QUOTE, ...this.call, QUOTE]).toString())}}`);
    else if (kind === 'reasoning')
      this.add(`","signature":${JSON.stringify(signatureOf(opaque, this.options))}}`);
    else this.add('","citations":null}');
  }

  body({ usage, cost, members }: AnswerEnd, answer: Answer): readonly Buffer[] {
    const start = JSON.stringify(messageMembers(this.options)).slice(0, -1);
    const end = JSON.stringify({
      ...stopOf(answer),
      usage: { ...messagesUsageMembers(usage), ...costMembers(cost) },
      provider: this.options.identity.provider,
      ...members,
    });
    return [Buffer.from(`${start},"content":[`), ...this.pieces, Buffer.from(`],${end.slice(1)}`)];
  }

  private add(text: string): void {
    this.pieces.push(Buffer.from(text));
  }
}

function messageMembers({ identity: { id, model } }: PassageOptions): Readonly<Record<string, unknown>> {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, container: null };
}

function stopOf(answer: Answer): Readonly<Record<string, unknown>> {
  const { finishReason = null } = answer.choices[0] ?? {};
  const reason = STOP_REASONS[finishReason ?? ''] ?? 'end_turn';
  const details = reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
  return { stop_reason: reason, stop_sequence: null, stop_details: details };
}

/** Sealed: the client's own provider must not get what another one made. */
function signatureOf(opaque: OpaqueReasoning | undefined, { wire, identity }: PassageOptions): string {
  const producer = producerBehind(wire.protocol);
  if (opaque === undefined || producer === null) return NO_SIGNATURE;
  return sealedReasoning(opaque, producer, identity.model);
}

/** `spelled`: the arguments as a JSON string. Their own text is the input, with its digits; a text that is no object stays a text. */
function inputOf(spelled: string): string {
  const text = JSON.parse(spelled) as string;
  if (text.trim() === '') return '{}';
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : spelled;
  } catch {
    return spelled;
  }
}
