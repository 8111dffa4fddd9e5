// An object or a list of a document: values that no reader looks at stay their bytes, with the digits of their numbers, unknown
// and repeated members, and the order of all.
import { QUOTE } from './json-cursor.js';
import { isEqual } from './json-shape.js';

// Members of a node that are kept for the next document.
const KEPT_MEMBERS = 64;
const COMMA_TEXT = Buffer.from(',');
const BRACKETS = {
  object: [Buffer.from('{'), Buffer.from('}')],
  list: [Buffer.from('['), Buffer.from(']')],
} as const;

export interface JsonOutput {
  append(bytes: Buffer, from: number, to: number): void;
}

/** Collects slices of the document, and what is written between them. */
export function pieceOutput(pieces: Buffer[]): JsonOutput {
  return { append: (piece, start, end) => void pieces.push(piece.subarray(start, end)) };
}

/** A member of an object, or an element of a list. */
class Member {
  name: string | null = null;
  /** Where it begins, and its value. */
  start = 0;
  from = 0;
  to = 0;
  child: JsonNode | null = null;
  /** Undefined: unchanged. Null: removed. */
  text: Buffer | null | undefined = undefined;
}

/** Members and elements are known by their position. */
export class JsonNode {
  isList = false;
  from = 0;
  to = 0;
  count = 0;
  private hasEdits = false;
  private hasChildren = false;
  private readonly members: Member[] = [];
  /** Names and values, in turns. */
  private added: Buffer[] | null = null;

  constructor(
    private readonly document: { readonly bytes: Buffer; convert(from: number, to: number): string },
  ) {}

  /** Those of the whole document. */
  get bytes(): Buffer {
    return this.document.bytes;
  }

  reset(isList: boolean, from: number): void {
    this.isList = isList;
    this.from = from;
    this.count = 0;
    this.hasEdits = false;
    this.hasChildren = false;
    this.added = null;
    if (this.members.length > KEPT_MEMBERS) this.members.length = KEPT_MEMBERS;
  }

  push(name: string | null, start: number, from: number, to: number, child: JsonNode | null): void {
    const member = this.members[this.count] ?? new Member();
    this.members[this.count++] = member;
    member.name = name;
    member.start = start;
    member.from = from;
    member.to = to;
    member.child = child;
    member.text = undefined;
    if (child !== null) this.hasChildren = true;
  }

  /** Of a repeated member the last: parsers take that one. -1: absent. */
  find(name: string): number {
    for (let at = this.count - 1; at >= 0; at--) if (this.members[at]?.name === name) return at;
    return -1;
  }

  /** Null: a member that the shape does not know. */
  nameAt(at: number): string | null {
    return this.memberAt(at)?.name ?? null;
  }

  /** Where the value begins and ends. */
  fromOf(at: number): number {
    return this.memberAt(at)?.from ?? -1;
  }

  toOf(at: number): number {
    return this.memberAt(at)?.to ?? -1;
  }

  /** The node of an opened value; null: closed, or absent. */
  child(at: number): JsonNode | null {
    return this.memberAt(at)?.child ?? null;
  }

  isString(at: number): boolean {
    return this.firstByte(at) === QUOTE;
  }

  /** A string with at least one character. */
  hasText(at: number): boolean {
    return this.isString(at) && this.toOf(at) - this.fromOf(at) > 2;
  }

  isNull(at: number): boolean {
    return this.firstByte(at) === 0x6e;
  }

  /** Absent or null. */
  isNothing(at: number): boolean {
    return at === -1 || this.isNull(at);
  }

  firstByte(at: number): number {
    return at === -1 ? -1 : (this.document.bytes[this.fromOf(at)] ?? -1);
  }

  /** Whether the text of the value is exactly this one. */
  equals(at: number, text: Buffer): boolean {
    const from = this.fromOf(at);
    return at !== -1 && this.toOf(at) - from === text.length && isEqual(this.document.bytes, from, text);
  }

  /** The value as a JavaScript value, for small parts of a document; undefined: absent or longer than `maxBytes`. */
  value(at: number, maxBytes = Infinity): unknown {
    const from = this.fromOf(at);
    if (from === -1 || this.toOf(at) - from > maxBytes) return undefined;
    return JSON.parse(this.converted(at));
  }

  /** The text of a string; empty for anything else. */
  text(at: number): string {
    return this.hasText(at) ? (this.value(at) as string) : '';
  }

  /** The JSON text of the value. */
  converted(at: number): string {
    return this.document.convert(this.fromOf(at), this.toOf(at));
  }

  /** The JSON text of the value as bytes of the document. */
  raw(at: number): Buffer {
    return this.document.bytes.subarray(this.fromOf(at), this.toOf(at));
  }

  removeAt(at: number): void {
    this.edit(at, null);
  }

  remove(name: string): void {
    for (let at = 0; at < this.count; at++) if (this.nameAt(at) === name) this.edit(at, null);
  }

  /** `text`: JSON. Replaces the last member of that name; without one it is added at the end. */
  set(name: string, text: Buffer): void {
    const at = this.find(name);
    if (at !== -1) {
      this.edit(at, text);
      return;
    }
    this.hasEdits = true;
    (this.added ??= []).push(nameText(name), text);
  }

  private edit(at: number, text: Buffer | null): void {
    const member = this.memberAt(at);
    if (member === undefined) return;
    member.text = text;
    this.hasEdits = true;
  }

  /** Undefined: absent. Members behind the last one are those of an earlier document. */
  private memberAt(at: number): Member | undefined {
    // An array looks up a negative index by its name, which makes all look-ups here slow.
    return at >= 0 && at < this.count ? this.members[at] : undefined;
  }

  get isChanged(): boolean {
    if (this.hasEdits) return true;
    if (this.hasChildren)
      for (let at = 0; at < this.count; at++) if (this.members[at]?.child?.isChanged === true) return true;
    return false;
  }

  write(output: JsonOutput): void {
    const { bytes } = this.document;
    if (!this.isChanged) {
      output.append(bytes, this.from, this.to);
      return;
    }
    const [open, close] = this.isList ? BRACKETS.list : BRACKETS.object;
    output.append(open, 0, 1);
    this.writeInside(output);
    output.append(close, 0, 1);
  }

  /** The JSON text in pieces, which are valid while the document is. */
  pieces(): Buffer[] {
    const pieces: Buffer[] = [];
    this.write(pieceOutput(pieces));
    return pieces;
  }

  /** Without the brackets around it. Returns whether anything was written. */
  writeInside(output: JsonOutput): boolean {
    const { bytes } = this.document;
    let hasWritten = false;
    // Unchanged neighbours are copied together, with what stands between them.
    let runFrom = -1;
    let runTo = -1;
    for (let at = 0; at < this.count; at++) {
      const member = this.members[at];
      if (member === undefined) break;
      const { text, child, start } = member;
      const isKept = text === undefined && child?.isChanged !== true;
      if (isKept && runFrom !== -1) {
        runTo = member.to;
        continue;
      }
      if (runFrom !== -1) output.append(bytes, runFrom, runTo);
      runFrom = -1;
      if (text === null) continue;
      if (hasWritten) output.append(COMMA_TEXT, 0, 1);
      hasWritten = true;
      if (isKept) {
        runFrom = start;
        runTo = member.to;
        continue;
      }
      if (!this.isList) output.append(bytes, start, member.from);
      if (text !== undefined) output.append(text, 0, text.length);
      else child?.write(output);
    }
    if (runFrom !== -1) output.append(bytes, runFrom, runTo);
    return this.writeAdded(output, hasWritten);
  }

  private writeAdded(output: JsonOutput, hasWritten: boolean): boolean {
    const { added } = this;
    if (added === null) return hasWritten;
    for (const [at, text] of added.entries()) {
      if (at % 2 === 0 && (hasWritten || at > 0)) output.append(COMMA_TEXT, 0, 1);
      output.append(text, 0, text.length);
    }
    return true;
  }
}

/** A safe integer; null: the value is none. */
export function integerAt(node: JsonNode, at: number): number | null {
  const digit = node.firstByte(at) - 0x30;
  if (node.toOf(at) - node.fromOf(at) === 1 && digit >= 0 && digit <= 9) return digit;
  const value = node.value(at, 32);
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** Of names that this service writes, which are few. */
const NAME_TEXTS = new Map<string, Buffer>();

function nameText(name: string): Buffer {
  const known = NAME_TEXTS.get(name);
  if (known !== undefined) return known;
  const text = Buffer.from(`${JSON.stringify(name)}:`);
  NAME_TEXTS.set(name, text);
  return text;
}
