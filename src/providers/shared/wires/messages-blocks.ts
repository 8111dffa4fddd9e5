// The blocks of one answer in the Messages wire. Each has an index of the provider's; deltas name it.
import { JsonShape } from '../../../json/json-shape.js';
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents, BlockKind, OpaqueReasoning } from './answer-events.js';

export const BLOCK = new JsonShape(['type', 'text', 'thinking', 'signature', 'data', 'id', 'name', 'input']);
export const DELTA = new JsonShape([
  'type',
  'text',
  'thinking',
  'partial_json',
  'signature',
  'stop_reason',
  'stop_sequence',
  'stop_details',
]);

/** `other`: a block that only this wire knows, such as the result of a server's tool. */
type Kind = Exclude<BlockKind, 'refusal'> | 'other';

interface BlockState {
  readonly kind: Kind;
  /** Null: nothing of it has come. */
  block: AnswerBlock | null;
  signature: string;
  /** The whole input of a call, which servers may send with its start. */
  input: Buffer | null;
}

const KINDS: Readonly<Record<string, Kind>> = {
  text: 'text',
  thinking: 'reasoning',
  tool_use: 'call',
};
const DELTAS: Readonly<Record<string, { readonly kind: Kind; readonly member: string }>> = {
  text_delta: { kind: 'text', member: 'text' },
  thinking_delta: { kind: 'reasoning', member: 'thinking' },
  input_json_delta: { kind: 'call', member: 'partial_json' },
};
/** They say nothing to the kernel. */
const SILENT_DELTAS: ReadonlySet<string> = new Set(['citations_delta']);
const EMPTY_INPUT = Buffer.from('{}');
/** The wire has one answer. */
const CHOICE = 0;

export class MessagesBlocks {
  /** Calls that have opened. */
  calls = 0;
  private readonly states = new Map<number, BlockState>();

  constructor(private readonly answer: AnswerEvents) {}

  start(index: number, block: JsonNode): void {
    if (this.states.has(index)) throw new BrokenAnswer('a block begins twice');
    const type = block.text(block.find('type'));
    if (type === 'redacted_thinking') {
      this.redacted(block.text(block.find('data')));
      return;
    }
    const kind = Object.hasOwn(KINDS, type) ? (KINDS[type] ?? 'other') : 'other';
    const state = this.add(index, kind);
    if (type === 'tool_use') this.startCall(state, block);
    else if (kind !== 'other') this.grow(state, block, block.find(type));
    if (type === 'thinking') state.signature = block.text(block.find('signature'));
  }

  delta(index: number, delta: JsonNode): void {
    const type = delta.text(delta.find('type'));
    const known = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined;
    const state = this.states.get(index) ?? this.repaired(index, known?.kind);
    if (type === 'signature_delta') state.signature += delta.text(delta.find('signature'));
    else if (known && state.kind === known.kind) this.grow(state, delta, delta.find(known.member));
    else if (known && state.kind !== 'other')
      throw new BrokenAnswer('a delta of another kind than its block');
    else if (!known && !SILENT_DELTAS.has(type)) this.answer.skipped(delta.to - delta.from);
  }

  stop(index: number): void {
    const state = this.states.get(index);
    if (state === undefined) return;
    this.states.delete(index);
    this.close(state);
  }

  /** Closes all blocks. */
  end(): void {
    for (const state of this.states.values()) this.close(state);
    this.states.clear();
  }

  /** The blocks of a whole answer. */
  readAll(blocks: JsonNode): void {
    for (let at = 0; at < blocks.count; at++) {
      const block = blocks.child(at);
      if (block === null || block.isList) throw new BrokenAnswer('a block of the content is not an object');
      this.start(at, block);
      this.stop(at);
    }
  }

  /** A text that this wire has elsewhere. */
  refuse(explanation: string): void {
    const escaped = Buffer.from(JSON.stringify(explanation));
    const block = this.answer.open(CHOICE, 'refusal');
    this.answer.delta(block, escaped, 1, escaped.length - 1);
    this.answer.close(block);
  }

  private add(index: number, kind: Kind): BlockState {
    const state: BlockState = { kind, block: null, signature: '', input: null };
    this.states.set(index, state);
    return state;
  }

  /** Some servers leave out the start of a block. A call has no name without it. */
  private repaired(index: number, kind: Kind | undefined): BlockState {
    if (kind === 'call') throw new BrokenAnswer('the input of a tool call came without its start');
    this.answer.repaired();
    return this.add(index, kind ?? 'other');
  }

  private startCall(state: BlockState, block: JsonNode): void {
    const id = block.text(block.find('id'));
    const name = block.text(block.find('name'));
    if (id === '' || name === '') throw new BrokenAnswer('a tool call has no id or no name');
    this.calls++;
    state.block = this.answer.open(CHOICE, 'call', { id, name });
    const input = block.find('input');
    if (!block.isNothing(input) && !block.equals(input, EMPTY_INPUT))
      state.input = Buffer.from(block.raw(input));
  }

  /** It comes whole, with its start. */
  private redacted(data: string): void {
    const block = this.answer.open(CHOICE, 'reasoning');
    this.answer.close(block, { kind: 'encrypted', text: data });
  }

  private grow(state: BlockState, node: JsonNode, at: number): void {
    if (!node.hasText(at) || state.kind === 'other') return;
    state.block ??= this.answer.open(CHOICE, state.kind);
    state.input = null;
    this.answer.delta(state.block, node.bytes, node.fromOf(at) + 1, node.toOf(at) - 1);
  }

  private close(state: BlockState): void {
    const { kind, signature, input } = state;
    if (kind === 'other') return;
    // A signature stays without its text where the text is hidden.
    if (state.block === null && kind === 'reasoning' && signature !== '')
      state.block = this.answer.open(CHOICE, kind);
    if (state.block === null) return;
    if (input !== null) {
      const escaped = Buffer.from(JSON.stringify(input.toString()));
      this.answer.delta(state.block, escaped, 1, escaped.length - 1);
    }
    const opaque: OpaqueReasoning = { kind: 'signature', text: signature };
    if (signature === '') this.answer.close(state.block);
    else this.answer.close(state.block, opaque);
  }
}

/** Of the event's block. */
export function indexOf(event: JsonNode): number {
  const index = integerAt(event, event.find('index'));
  if (index === null || index < 0) throw new BrokenAnswer('an event has no index of a block');
  return index;
}
