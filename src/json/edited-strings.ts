// Replaces parts of strings in the bytes of a JSON document; all other bytes stay.
import { JsonScanner } from './json-scanner.js';
import { BACKSLASH } from './json-cursor.js';

/** Part of a decoded string, in UTF-16 units. */
export interface StringEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edits of the string at a path, in order and without overlaps; null: it stays. */
type EditsAt = (path: readonly (string | number)[]) => readonly StringEdit[] | null;

class MalformedJson extends Error {}

/** `bytes` are known to be JSON. */
export function editStrings(bytes: Buffer, editsAt: EditsAt): Buffer {
  return new StringEditor(bytes, editsAt).edit();
}

/** Whether one of its objects has a name twice: readers disagree on its value. `bytes` are known to be JSON. */
export function hasRepeatedNames(bytes: Buffer): boolean {
  const editor = new StringEditor(bytes, () => null);
  editor.edit();
  return editor.repeatsNames;
}

class StringEditor extends JsonScanner {
  repeatsNames = false;
  private readonly pieces: Buffer[] = [];
  private copied = 0;
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly document: Buffer,
    private readonly editsAt: EditsAt,
  ) {
    super(document, MalformedJson);
  }

  edit(): Buffer {
    this.walk();
    this.pieces.push(this.document.subarray(this.copied));
    return Buffer.concat(this.pieces);
  }

  private walk(): void {
    if (this.isObject()) {
      const names = new Set<string>();
      this.eachMember((name) => {
        this.repeatsNames ||= names.has(name);
        names.add(name);
        this.within(name);
      });
    } else if (this.isArray()) {
      let index = 0;
      this.eachElement(() => this.within(index++));
    } else if (this.isString()) this.string();
    else this.skipValue();
  }

  private within(step: string | number): void {
    this.path.push(step);
    this.walk();
    this.path.pop();
  }

  private string(): void {
    const edits = this.editsAt(this.path);
    const raw = this.rawValue();
    if (edits === null) return;
    const begin = this.at - raw.length;
    const offsets = offsetsOf(raw, edits);
    for (const [index, { text }] of edits.entries()) {
      const [start = 0, end = 0] = offsets.slice(index * 2);
      this.pieces.push(
        this.document.subarray(this.copied, begin + start),
        Buffer.from(JSON.stringify(text).slice(1, -1)),
      );
      this.copied = begin + end;
    }
  }
}

/** The offsets in a string's JSON text of the beginnings and ends of edits. */
function offsetsOf(raw: Buffer, edits: readonly StringEdit[]): number[] {
  const wanted = edits.flatMap(({ start, end }) => [start, end]);
  const found: number[] = [];
  let units = 0;
  // Behind the quote.
  for (let at = 1; found.length < wanted.length;) {
    if (units >= (wanted[found.length] ?? 0)) {
      found.push(at);
      continue;
    }
    const byte = raw[at] ?? 0;
    if (byte === BACKSLASH) at += raw[at + 1] === 0x75 ? 6 : 2;
    else at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    units += byte >= 0xf0 ? 2 : 1;
    if (at > raw.length) throw new Error('an edit lies outside of its string');
  }
  return found;
}
