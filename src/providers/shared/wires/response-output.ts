// The items of one answer in the Responses wire. Events name an item by its place in the output; ids of some servers change from event
// to event.
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents, BlockKind, OpaqueReasoning } from './answer-events.js';

const PART = new JsonShape(['type', 'text', 'refusal']);
export const ITEM = new JsonShape(
  ['type', 'id', 'call_id', 'name', 'arguments', 'input', 'content', 'summary', 'encrypted_content'],
  { content: PART, summary: PART },
);

/** `other`: an item that only this wire knows. */
type ItemKind = 'message' | 'reasoning' | 'function_call' | 'custom_tool_call' | 'other';

interface ItemState {
  readonly kind: ItemKind;
  /** Null: nothing of it has come. */
  block: AnswerBlock | null;
  /** The part of a reasoning whose text comes. */
  part: string;
  hasText: boolean;
  isClosed: boolean;
}

interface DeltaRule {
  readonly item: Exclude<ItemKind, 'other'>;
  readonly block: BlockKind;
  /** The member with the number of the part. */
  readonly part?: 'content_index' | 'summary_index';
}

const DELTAS: Readonly<Record<string, DeltaRule>> = {
  'response.output_text.delta': { item: 'message', block: 'text' },
  'response.refusal.delta': { item: 'message', block: 'refusal' },
  'response.reasoning_summary_text.delta': { item: 'reasoning', block: 'reasoning', part: 'summary_index' },
  'response.reasoning_text.delta': { item: 'reasoning', block: 'reasoning', part: 'content_index' },
  'response.function_call_arguments.delta': { item: 'function_call', block: 'call' },
  'response.custom_tool_call_input.delta': { item: 'custom_tool_call', block: 'call' },
};
const KINDS: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);
/** The parts of an item, by the member that has them. */
const PARTS: Readonly<Record<string, { readonly block: BlockKind; readonly member: string }>> = {
  output_text: { block: 'text', member: 'text' },
  refusal: { block: 'refusal', member: 'refusal' },
  summary_text: { block: 'reasoning', member: 'text' },
  reasoning_text: { block: 'reasoning', member: 'text' },
};
/** Insides of JSON strings. */
const PARAGRAPH = Buffer.from('\\n\\n');
const INPUT_START = Buffer.from('{\\"input\\":\\"');
const INPUT_END = Buffer.from('\\"}');
/** The wire has one answer. */
const CHOICE = 0;

export class ResponseOutput {
  /** Calls that have opened. */
  calls = 0;
  private readonly states = new Map<number, ItemState>();

  constructor(private readonly answer: AnswerEvents) {}

  get isEmpty(): boolean {
    return this.states.size === 0;
  }

  added(index: number, item: JsonNode): void {
    const state = this.begin(index, kindOf(item));
    if (isCall(state)) this.openCall(state, item);
  }

  delta(rule: DeltaRule, index: number, event: JsonNode): void {
    let state = this.states.get(index);
    if (state?.kind !== rule.item) {
      // Some servers leave out the beginning of an item.
      this.answer.repaired();
      state = this.begin(index, rule.item);
    }
    // The end of an item has repeated all of it. A call without its beginning has its name there.
    if (state.isClosed || (isCall(state) && state.block === null)) return;
    const part = rule.part ? `${rule.part} ${integerAt(event, event.find(rule.part)) ?? 0}` : '';
    this.grow(state, rule.block, event, event.find('delta'), part);
  }

  /** The item is whole. One of which nothing has come at all is not over: some servers send its deltas behind. */
  done(index: number, item: JsonNode): void {
    const kind = kindOf(item);
    let state = this.states.get(index);
    if (state?.kind !== kind) {
      if (state !== undefined && !state.isClosed && kind !== 'other') this.answer.repaired();
      state = this.begin(index, kind);
    }
    if (state.isClosed) return;
    if (isCall(state) && state.block === null) this.openCall(state, item);
    if (!state.hasText) this.readTexts(state, item);
    const opaque = encryptedIn(item);
    if (state.hasText || opaque !== null || kind === 'other') this.close(state, opaque);
  }

  /** The items of a whole answer. */
  readAll(items: JsonNode): void {
    for (let at = 0; at < items.count; at++) {
      const item = items.child(at);
      if (item === null || item.isList) throw new BrokenAnswer('an item of the output is not an object');
      this.done(at, item);
    }
  }

  /** Closes all items. */
  end(): void {
    for (const state of this.states.values()) this.close(state, null);
  }

  /** An item that stands in the same place is over. */
  private begin(index: number, kind: ItemKind): ItemState {
    const before = this.states.get(index);
    if (before !== undefined && !before.isClosed) {
      this.close(before, null);
      this.answer.repaired();
    }
    const state: ItemState = { kind, block: null, part: '', hasText: false, isClosed: false };
    this.states.set(index, state);
    return state;
  }

  private openCall(state: ItemState, item: JsonNode): void {
    const id = item.text(item.find('call_id')) || item.text(item.find('id'));
    const name = item.text(item.find('name'));
    if (id === '' || name === '') throw new BrokenAnswer('a tool call has no id or no name');
    this.calls++;
    state.block = this.answer.open(CHOICE, 'call', { id, name });
  }

  private readTexts(state: ItemState, item: JsonNode): void {
    if (state.kind === 'function_call') this.grow(state, 'call', item, item.find('arguments'), '');
    else if (state.kind === 'custom_tool_call') this.grow(state, 'call', item, item.find('input'), '');
    else if (state.kind !== 'other')
      for (const member of ['summary', 'content'])
        this.readParts(state, item.child(item.find(member)), member);
  }

  private readParts(state: ItemState, parts: JsonNode | null, member: string): void {
    for (let at = 0; at < (parts?.count ?? 0); at++) {
      const part = parts?.child(at);
      const type = part ? part.text(part.find('type')) : '';
      const rule = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
      if (part && rule && (rule.block === 'reasoning') === (state.kind === 'reasoning'))
        this.grow(state, rule.block, part, part.find(rule.member), `${member} ${at}`);
    }
  }

  /** `part`: a reasoning has several, which are paragraphs. */
  private grow(state: ItemState, kind: BlockKind, node: JsonNode, at: number, part: string): void {
    if (!node.hasText(at)) return;
    if (state.block !== null && state.block.kind !== kind) {
      this.answer.close(state.block);
      state.block = null;
    }
    const block = (state.block ??= this.answer.open(CHOICE, kind));
    const from = node.fromOf(at) + 1;
    const to = node.toOf(at) - 1;
    if (state.kind === 'custom_tool_call') {
      if (!state.hasText) this.answer.delta(block, INPUT_START, 0, INPUT_START.length);
      const input = escapedAgain(node.bytes.subarray(from, to));
      this.answer.delta(block, input, 0, input.length);
    } else {
      if (kind === 'reasoning' && state.hasText && state.part !== part)
        this.answer.delta(block, PARAGRAPH, 0, PARAGRAPH.length);
      this.answer.delta(block, node.bytes, from, to);
    }
    state.part = part;
    state.hasText = true;
  }

  private close(state: ItemState, opaque: OpaqueReasoning | null): void {
    if (state.isClosed) return;
    state.isClosed = true;
    if (isCall(state) && state.block === null)
      throw new BrokenAnswer('the arguments of a tool call came without its name');
    // It stays without its text where the text is hidden.
    if (opaque !== null && state.kind === 'reasoning') state.block ??= this.answer.open(CHOICE, 'reasoning');
    if (state.block === null) return;
    if (state.kind === 'custom_tool_call') {
      if (!state.hasText) this.answer.delta(state.block, INPUT_START, 0, INPUT_START.length);
      this.answer.delta(state.block, INPUT_END, 0, INPUT_END.length);
    }
    if (opaque !== null && state.kind === 'reasoning') this.answer.close(state.block, opaque);
    else this.answer.close(state.block);
  }
}

/** Null: a type that is not known. */
export function deltaRule(type: string): DeltaRule | null {
  return Object.hasOwn(DELTAS, type) ? (DELTAS[type] ?? null) : null;
}

function kindOf(item: JsonNode): ItemKind {
  const type = item.text(item.find('type'));
  return KINDS.has(type) ? (type as ItemKind) : 'other';
}

function isCall({ kind }: ItemState): boolean {
  return kind === 'function_call' || kind === 'custom_tool_call';
}

function encryptedIn(item: JsonNode): OpaqueReasoning | null {
  const text = item.text(item.find('encrypted_content'));
  const id = item.text(item.find('id'));
  return text === '' ? null : { kind: 'encrypted', text, ...(id !== '' && { id }) };
}

/** The inside of a JSON string as a text in JSON that is a string itself. */
function escapedAgain(inside: Buffer): Buffer {
  return Buffer.from(JSON.stringify(inside.toString()).slice(1, -1));
}
