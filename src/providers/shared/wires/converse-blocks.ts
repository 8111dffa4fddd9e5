// The blocks of one answer in the Converse wire. Only calls have a start: texts and thoughts begin with their first delta.
import { JsonShape } from '../../../json/json-shape.js';
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents, BlockKind } from './answer-events.js';

const CALL = new JsonShape(['toolUseId', 'name', 'input']);
const REASONING = new JsonShape(['text', 'signature', 'redactedContent', 'reasoningText'], {
  reasoningText: new JsonShape(['text', 'signature']),
});
export const START = new JsonShape(['toolUse'], { toolUse: CALL });
export const DELTA = new JsonShape(['text', 'toolUse', 'reasoningContent'], {
  toolUse: CALL,
  reasoningContent: REASONING,
});
/** Of an answer that is not streamed. */
export const WHOLE_BLOCK = new JsonShape(['text', 'toolUse', 'reasoningContent', 'citationsContent'], {
  toolUse: CALL,
  reasoningContent: REASONING,
  citationsContent: new JsonShape(['content'], { content: new JsonShape(['text']) }),
});
/** The wire has one answer. */
const CHOICE = 0;

type Kind = Exclude<BlockKind, 'refusal'>;

interface BlockState {
  readonly kind: Kind;
  /** Null: nothing of it has come. */
  block: AnswerBlock | null;
  signature: string;
}

export class ConverseBlocks {
  /** Calls that have opened. */
  calls = 0;
  private readonly states = new Map<number, BlockState>();

  constructor(private readonly answer: AnswerEvents) {}

  start(event: JsonNode): void {
    const start = event.child(event.find('start'));
    const call = start?.child(start.find('toolUse'));
    // Of an image, or of a kind that is not known.
    if (!call) this.answer.skipped(event.to - event.from);
    else this.openCall(this.add(indexOf(event), 'call'), call);
  }

  delta(event: JsonNode): void {
    const delta = event.child(event.find('delta'));
    if (delta === null) throw new BrokenAnswer('contentBlockDelta has no delta');
    const index = indexOf(event);
    const call = delta.child(delta.find('toolUse'));
    const reasoning = delta.child(delta.find('reasoningContent'));
    if (call !== null) this.grow(this.stateOf(index, 'call'), call, call.find('input'));
    else if (reasoning !== null) this.think(this.stateOf(index, 'reasoning'), reasoning);
    else if (delta.isString(delta.find('text')))
      this.grow(this.stateOf(index, 'text'), delta, delta.find('text'));
    else this.answer.skipped(event.to - event.from);
  }

  stop(event: JsonNode): void {
    const index = indexOf(event);
    const state = this.states.get(index);
    this.states.delete(index);
    if (state) this.close(state);
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
      this.readBlock(block);
    }
  }

  private readBlock(block: JsonNode): void {
    const call = block.child(block.find('toolUse'));
    const reasoning = block.child(block.find('reasoningContent'));
    const cited = block.child(block.find('citationsContent'));
    const state = newState(call ? 'call' : reasoning ? 'reasoning' : 'text');
    if (call) this.readCall(state, call);
    else if (reasoning) this.think(state, reasoning.child(reasoning.find('reasoningText')) ?? reasoning);
    else if (cited) this.readCited(state, cited.child(cited.find('content')));
    else if (block.isString(block.find('text'))) this.grow(state, block, block.find('text'));
    else this.answer.skipped(block.to - block.from);
    this.close(state);
  }

  private readCall(state: BlockState, call: JsonNode): void {
    const block = this.openCall(state, call);
    const input = call.find('input');
    if (call.isNothing(input)) return;
    const escaped = Buffer.from(JSON.stringify(call.raw(input).toString()));
    this.answer.delta(block, escaped, 1, escaped.length - 1);
  }

  private readCited(state: BlockState, parts: JsonNode | null): void {
    for (let at = 0; at < (parts?.count ?? 0); at++) {
      const part = parts?.child(at);
      if (part) this.grow(state, part, part.find('text'));
    }
  }

  private openCall(state: BlockState, call: JsonNode): AnswerBlock {
    const id = call.text(call.find('toolUseId'));
    const name = call.text(call.find('name'));
    if (id === '' || name === '') throw new BrokenAnswer('a tool call has no id or no name');
    this.calls++;
    return (state.block = this.answer.open(CHOICE, 'call', { id, name }));
  }

  private think(state: BlockState, reasoning: JsonNode): void {
    this.grow(state, reasoning, reasoning.find('text'));
    state.signature += reasoning.text(reasoning.find('signature'));
    const redacted = reasoning.text(reasoning.find('redactedContent'));
    if (redacted === '') return;
    const block = this.answer.open(CHOICE, 'reasoning');
    this.answer.close(block, { kind: 'encrypted', text: redacted });
  }

  private grow(state: BlockState, node: JsonNode, at: number): void {
    if (!node.hasText(at)) return;
    state.block ??= this.answer.open(CHOICE, state.kind);
    this.answer.delta(state.block, node.bytes, node.fromOf(at) + 1, node.toOf(at) - 1);
  }

  private close({ kind, block, signature }: BlockState): void {
    if (signature !== '')
      this.answer.close(block ?? this.answer.open(CHOICE, kind), { kind: 'signature', text: signature });
    else if (block !== null) this.answer.close(block);
  }

  private stateOf(index: number, kind: Kind): BlockState {
    const state = this.states.get(index);
    if (state === undefined) {
      if (kind === 'call') throw new BrokenAnswer('the input of a tool call came without its start');
      return this.add(index, kind);
    }
    if (state.kind !== kind) throw new BrokenAnswer('a delta of another kind than its block');
    return state;
  }

  private add(index: number, kind: Kind): BlockState {
    if (this.states.has(index)) throw new BrokenAnswer('a block begins twice');
    const state = newState(kind);
    this.states.set(index, state);
    return state;
  }
}

function newState(kind: Kind): BlockState {
  return { kind, block: null, signature: '' };
}

/** Of the event's block. */
function indexOf(event: JsonNode): number {
  const index = integerAt(event, event.find('contentBlockIndex'));
  if (index === null || index < 0) throw new BrokenAnswer('an event has no index of a block');
  return index;
}
