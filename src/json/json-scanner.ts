// Walks a JSON document from the outside in, so that megabytes of vectors are passed on as slices. Long texts are not checked:
// their readers check them.
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  JsonCursor,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from './json-cursor.js';

const LAST_ASCII = 0x7f;
// Longer than the name of any known member: most strings of an answer with thousands of vectors are names.
const LONGEST_PLAIN_NAME = 32;
// Far above what is converted of an answer (its usage, an id, a vector with escapes): conversion is one piece of work.
const MAX_VALUE_BYTES = 1_048_576;

export class JsonScanner extends JsonCursor {
  constructor(bytes: Buffer, Malformed: new (message: string) => Error) {
    super(Malformed);
    // A byte order mark is no part of the document.
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.open(bytes, hasMark ? 3 : 0, bytes.length);
  }

  /** Reads an object; `read` receives the name of a member and must consume its value. */
  eachMember(read: (name: string) => void): void {
    this.expect(OPEN_OBJECT);
    if (this.accept(CLOSE_OBJECT)) return;
    do {
      const name = this.name();
      this.expect(COLON);
      read(name);
    } while (this.accept(COMMA));
    this.expect(CLOSE_OBJECT);
  }

  private name(): string {
    if (!this.isString()) throw this.malformed();
    const end = this.endOfPlainText(this.at + 1);
    if (end === -1) return this.value() as string;
    const name = this.bytes.toString('latin1', this.at + 1, end);
    this.at = end + 1;
    return name;
  }

  /** The end of the string that begins here; -1 for anything but a short one of letters, digits and the like. */
  private endOfPlainText(from: number): number {
    for (let at = from; at < from + LONGEST_PLAIN_NAME; at++) {
      const byte = this.bytes[at] ?? 0;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH || byte < SPACE || byte > LAST_ASCII) return -1;
    }
    return -1;
  }

  isObject(): boolean {
    return this.peek() === OPEN_OBJECT;
  }

  /** The bytes between the quotes of a string that has no escapes. */
  plainString(): Buffer {
    this.expect(QUOTE);
    const end = this.indexOf(QUOTE);
    const text = this.bytes.subarray(this.at, end);
    // JSON may write the slash of base64 as \/.
    if (text.includes(BACKSLASH)) {
      this.at--;
      const value = this.value();
      return Buffer.from(typeof value === 'string' ? value : '');
    }
    this.at = end + 1;
    return text;
  }

  /** The bytes of an array of numbers, brackets included. Its content is not checked. */
  flatArray(): Buffer {
    this.expect(OPEN_ARRAY);
    const start = this.at - 1;
    this.at = this.indexOf(CLOSE_ARRAY) + 1;
    return this.bytes.subarray(start, this.at);
  }

  /** The value at the cursor as a JavaScript value, for small parts of a document. */
  value(): unknown {
    this.skipSpace();
    const start = this.at;
    this.skipValue();
    if (this.at - start > MAX_VALUE_BYTES)
      throw this.malformed(`has a member with more than ${MAX_VALUE_BYTES} bytes to convert`);
    try {
      return JSON.parse(this.bytes.toString('utf8', start, this.at));
    } catch {
      throw this.malformed();
    }
  }

  /** The bytes of the value at the cursor, without the space around it. */
  rawValue(): Buffer {
    this.skipSpace();
    const start = this.at;
    this.skipValue();
    return this.bytes.subarray(start, this.at);
  }

  /** Nothing but space may follow. */
  end(): void {
    this.skipSpace();
    if (this.at !== this.to) throw this.malformed('is followed by something');
  }

  /** By a search for its end: a text may have megabytes. */
  protected override skipString(): void {
    for (this.expect(QUOTE); ; this.at++) {
      this.at = this.indexOf(QUOTE);
      let backslashes = 0;
      while (this.bytes[this.at - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) break;
    }
    this.at++;
  }

  private indexOf(byte: number): number {
    const found = this.bytes.indexOf(byte, this.at);
    if (found === -1) throw this.malformed('ended early');
    return found;
  }
}
