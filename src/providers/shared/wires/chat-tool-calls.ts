// The tool calls of one choice in Chat's wire. Clients join fragments by their index, and want the id, the type and the name
// with the first fragment of each call: fragments of providers that differ are edited.
import { randomBytes } from 'node:crypto';
import { JsonShape } from '../../../json/json-shape.js';
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents } from './answer-events.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LETTERS = 24;
// Bytes of arguments that may come before the name of their function, in one answer, and those that such a call counts as.
const MAX_WITHOUT_NAME = 65_536;
const BYTES_OF_CALL = 64;
const FUNCTION_TYPE = Buffer.from('"function"');
const EMPTY_TEXT = Buffer.from('""');
const EMPTY_ARGUMENTS = Buffer.from('"{}"');
const QUOTE = Buffer.from('"');
const NOTHING = Buffer.alloc(0);

export const TOOL_CALL = new JsonShape(['index', 'id', 'type', 'function'], {
  function: new JsonShape(['name', 'arguments']),
});

interface ToolCall {
  /** As the provider wrote it; empty: it wrote none. */
  readonly providerId: string;
  /** Null: no fragment has named its function yet, and clients know nothing of it. */
  opened: OpenedCall | null;
  name: string;
  /** Arguments that came before the name. */
  readonly early: Buffer[];
}

interface OpenedCall {
  /** By which clients know it. */
  readonly index: number;
  readonly id: string;
  readonly block: AnswerBlock;
}

/** The inside of a JSON string. */
interface Spelled {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** The provider wrote no string. */
  readonly isPrinted: boolean;
}

/** Shared by the calls of all choices of an answer. */
export class CallIds {
  private readonly used = new Set<string>();
  private withoutName = 0;

  /** `mapId`: null is as the provider wrote it. */
  constructor(private readonly mapId: ((id: string) => string) | null) {}

  uniqueId(providerId: string): string {
    let id = providerId !== '' && this.mapId ? this.mapId(providerId) : providerId;
    while (id === '' || this.used.has(id)) {
      const made = `call_${randomLetters()}`;
      id = this.mapId?.(made) ?? made;
    }
    this.used.add(id);
    return id;
  }

  holdBack(bytes: number): void {
    this.withoutName += bytes;
    if (this.withoutName > MAX_WITHOUT_NAME)
      throw new BrokenAnswer('the arguments of a tool call came without the name of its function');
  }
}

export class ToolCalls {
  /** Of calls that clients know. */
  count = 0;
  private readonly calls: ToolCall[] = [];
  /** By the provider's index: the last call that it named so. */
  private readonly byIndex = new Map<number, ToolCall>();
  private readonly byId = new Map<string, ToolCall>();

  constructor(
    private readonly choice: number,
    private readonly ids: CallIds,
    private readonly answer: AnswerEvents,
  ) {}

  /** Edits the fragments of a chunk. Returns the ids of their calls; null: the fragment is not for clients. */
  readFragments(fragments: JsonNode): (string | null)[] {
    const begun = fragments.count > 1 ? new Set<number | null>() : null;
    const ids: (string | null)[] = [];
    for (let at = 0; at < fragments.count; at++) {
      const fragment = memberOf(fragments, at);
      const index = integerAt(fragment, fragment.find('index'));
      const id = fragment.text(fragment.find('id'));
      const name = nameOf(fragment);
      const call = this.find(index, id, name, begun?.has(index) === true) ?? this.add(index, id, name);
      begun?.add(index);
      this.readFragment(call, name, fragment);
      if (call.opened === null) fragments.removeAt(at);
      ids.push(call.opened?.id ?? null);
    }
    return ids;
  }

  /** The same for the calls of a whole answer. */
  readCalls(calls: JsonNode): (string | null)[] {
    const ids: string[] = [];
    for (let at = 0; at < calls.count; at++) {
      const call = memberOf(calls, at);
      const name = nameOf(call);
      const text = argumentsOf(call);
      const isEmpty = text === null || text.from === text.to;
      const added = this.add(null, call.text(call.find('id')), name);
      const printed = isEmpty ? EMPTY_ARGUMENTS : text.isPrinted ? quoted(text) : null;
      const { id, block } = this.open(added, name, call, printed);
      if (!isEmpty) this.answer.delta(block, text.bytes, text.from, text.to);
      ids.push(id);
    }
    return ids;
  }

  /** Closes the blocks of all calls. Returns whether a call has had no name. */
  close(): boolean {
    let isUnnamed = false;
    for (const { opened } of this.calls)
      if (opened === null) isUnnamed = true;
      else this.answer.close(opened.block);
    return isUnnamed;
  }

  private readFragment(call: ToolCall, name: string, fragment: JsonNode): void {
    const text = argumentsOf(fragment);
    if (call.opened !== null) continueCall(call.opened, fragment, text, this.answer);
    else if (name === '') this.holdBack(call, text);
    else {
      const early = Buffer.concat(call.early.splice(0));
      const isComplete = early.length === 0 && text?.isPrinted === false;
      const own = text === null ? early : Buffer.concat([early, text.bytes.subarray(text.from, text.to)]);
      const spelled = { bytes: own, from: 0, to: own.length };
      const opened = this.open(call, name, fragment, isComplete ? null : quoted(spelled));
      setText(fragment, 'index', indexText(opened.index));
      if (own.length > 0) this.answer.delta(opened.block, own, 0, own.length);
    }
  }

  private holdBack(call: ToolCall, text: Spelled | null): void {
    if (text === null || text.from === text.to) return;
    this.ids.holdBack(text.to - text.from);
    call.early.push(Buffer.from(text.bytes.subarray(text.from, text.to)));
  }

  /** Makes `fragment` the first one of the call. `text`: its arguments as JSON; null: they are what it has. */
  private open(call: ToolCall, name: string, fragment: JsonNode, text: Buffer | null): OpenedCall {
    const id = this.ids.uniqueId(call.providerId);
    const block = this.answer.open(this.choice, 'call', { id, name });
    const opened = { index: this.count++, id, block };
    call.opened = opened;
    call.name = name;
    if (id !== call.providerId) fragment.set('id', Buffer.from(JSON.stringify(id)));
    setText(fragment, 'type', FUNCTION_TYPE);
    const called = fragment.child(fragment.find('function'));
    if (called === null) fragment.set('function', noFunction(text ?? EMPTY_TEXT));
    else {
      if (name === '') called.set('name', EMPTY_TEXT);
      if (text !== null) called.set('arguments', text);
    }
    return opened;
  }

  /** The call that a fragment continues; null: it begins one. Beside another call it needs a name for that. */
  private find(index: number | null, id: string, name: string, isRepeated: boolean): ToolCall | null {
    const known = id === '' ? undefined : this.byId.get(id);
    if (index === null) return known ?? (id === '' || name === '' ? this.lastUnless(name) : null);
    const call = this.byIndex.get(index);
    if (!call) return null;
    // Several calls under one index: each has an id of its own. Some servers give every fragment another one.
    const isOther = id !== '' && call.providerId !== '' && id !== call.providerId;
    if (isOther) return known ?? (name === '' ? call : null);
    return id === '' && beginsAnother(call, name, isRepeated) ? null : call;
  }

  private lastUnless(name: string): ToolCall | null {
    return name === '' ? (this.calls.at(-1) ?? null) : null;
  }

  private add(index: number | null, providerId: string, name: string): ToolCall {
    const call = { providerId, opened: null, name: '', early: [] };
    if (name === '') this.ids.holdBack(BYTES_OF_CALL);
    this.calls.push(call);
    this.byIndex.set(index ?? this.calls.length - 1, call);
    if (providerId !== '') this.byId.set(providerId, call);
    return call;
  }
}

function continueCall(
  { index, block }: OpenedCall,
  fragment: JsonNode,
  text: Spelled | null,
  answer: AnswerEvents,
): void {
  setText(fragment, 'index', indexText(index));
  fragment.remove('id');
  fragment.remove('type');
  const called = fragment.child(fragment.find('function'));
  if (called === null) fragment.remove('function');
  else {
    called.remove('name');
    if (text?.isPrinted === true) called.set('arguments', quoted(text));
  }
  if (text !== null && text.to > text.from) answer.delta(block, text.bytes, text.from, text.to);
}

/**
 * Some servers send every call under one index, without ids, one fragment each. Others repeat the name with every fragment
 * of a call, but a chunk has one fragment of a call at most.
 */
function beginsAnother({ name: known }: ToolCall, name: string, isRepeated: boolean): boolean {
  return name !== '' && known !== '' && (isRepeated || known !== name);
}

function memberOf(list: JsonNode, at: number): JsonNode {
  const member = list.child(at);
  if (member === null || member.isList) throw new BrokenAnswer('a tool call is not an object');
  return member;
}

function nameOf(call: JsonNode): string {
  const at = call.find('function');
  const called = call.child(at);
  if ((called === null && !call.isNothing(at)) || called?.isList === true)
    throw new BrokenAnswer('the function of a tool call is not an object');
  return called === null ? '' : called.text(called.find('name'));
}

/** Null: the fragment has none. Some servers send an object, which is printed with its own digits. */
function argumentsOf(call: JsonNode): Spelled | null {
  const called = call.child(call.find('function'));
  const at = called?.find('arguments') ?? -1;
  if (called === null || at === -1) return null;
  if (called.isNull(at)) return { bytes: NOTHING, from: 0, to: 0, isPrinted: true };
  const { bytes } = called;
  if (called.isString(at))
    return { bytes, from: called.fromOf(at) + 1, to: called.toOf(at) - 1, isPrinted: false };
  const printed = Buffer.from(JSON.stringify(called.converted(at)));
  return { bytes: printed, from: 1, to: printed.length - 1, isPrinted: true };
}

function quoted({ bytes, from, to }: Pick<Spelled, 'bytes' | 'from' | 'to'>): Buffer {
  return Buffer.concat([QUOTE, bytes.subarray(from, to), QUOTE]);
}

function noFunction(text: Buffer): Buffer {
  return Buffer.concat([Buffer.from('{"name":"","arguments":'), text, Buffer.from('}')]);
}

function setText(node: JsonNode, name: string, text: Buffer): void {
  if (!node.equals(node.find(name), text)) node.set(name, text);
}

const INDEXES = Array.from({ length: 16 }, (_, index) => Buffer.from(String(index)));

function indexText(index: number): Buffer {
  return INDEXES[index] ?? Buffer.from(String(index));
}

function randomLetters(): string {
  let text = '';
  for (const byte of randomBytes(ID_LETTERS)) text += LETTERS[byte % LETTERS.length];
  return text;
}
