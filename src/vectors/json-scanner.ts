// Walks the bytes of a JSON document without building values, so that megabytes of vectors are passed on as slices. Throws
// the caller's class of error where the document is not JSON of the expected shape.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const LAST_ASCII = 0x7f;
// Longer than the name of any known member: most strings of an answer with thousands of vectors are names.
const LONGEST_PLAIN_NAME = 32;
// Deeper than any known answer, and than a chat request may be.
const MAX_DEPTH = 160;

export class JsonScanner {
  private at = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly Malformed: new (message: string) => Error,
  ) {
    // A byte order mark is no part of the document.
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3;
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
    if (!this.isString()) throw new this.Malformed('a member has no name');
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

  /** Reads an array; `read` must consume one element. */
  eachElement(read: () => void): void {
    this.expect(OPEN_ARRAY);
    if (this.accept(CLOSE_ARRAY)) return;
    do read();
    while (this.accept(COMMA));
    this.expect(CLOSE_ARRAY);
  }

  isString(): boolean {
    return this.isNext(QUOTE);
  }

  isObject(): boolean {
    return this.isNext(OPEN_OBJECT);
  }

  isArray(): boolean {
    return this.isNext(OPEN_ARRAY);
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
    try {
      return JSON.parse(this.bytes.toString('utf8', start, this.at));
    } catch {
      throw new this.Malformed('the answer is not JSON');
    }
  }

  /** The bytes of the value at the cursor, without the space around it. */
  rawValue(): Buffer {
    this.skipSpace();
    const start = this.at;
    this.skipValue();
    return this.bytes.subarray(start, this.at);
  }

  skipValue(depth = 0): void {
    if (depth > MAX_DEPTH) throw new this.Malformed('the answer is nested too deeply');
    this.skipSpace();
    switch (this.bytes[this.at]) {
      case QUOTE:
        this.skipString();
        return;
      case OPEN_OBJECT:
        this.at++;
        this.skipUntil(CLOSE_OBJECT, depth);
        return;
      case OPEN_ARRAY:
        this.at++;
        this.skipUntil(CLOSE_ARRAY, depth);
        return;
      default:
        this.skipLiteral();
    }
  }

  /** Nothing but space may follow. */
  end(): void {
    this.skipSpace();
    if (this.at !== this.bytes.length) throw new this.Malformed('something follows the answer');
  }

  private skipUntil(close: number, depth: number): void {
    if (this.accept(close)) return;
    do {
      this.skipValue(depth + 1);
      if (close === CLOSE_OBJECT) {
        this.expect(COLON);
        this.skipValue(depth + 1);
      }
    } while (this.accept(COMMA));
    this.expect(close);
  }

  private skipString(): void {
    for (this.at++; ; this.at++) {
      this.at = this.indexOf(QUOTE);
      let backslashes = 0;
      while (this.bytes[this.at - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) break;
    }
    this.at++;
  }

  private skipLiteral(): void {
    const start = this.at;
    while (this.at < this.bytes.length && isLiteral(this.bytes[this.at] ?? 0)) this.at++;
    if (this.at === start) throw new this.Malformed('the answer is not JSON');
  }

  private indexOf(byte: number): number {
    const found = this.bytes.indexOf(byte, this.at);
    if (found === -1) throw new this.Malformed('the answer ended early');
    return found;
  }

  private isNext(byte: number): boolean {
    this.skipSpace();
    return this.bytes[this.at] === byte;
  }

  private accept(byte: number): boolean {
    if (!this.isNext(byte)) return false;
    this.at++;
    return true;
  }

  private expect(byte: number): void {
    if (!this.accept(byte)) throw new this.Malformed('the answer is not JSON of the expected shape');
  }

  private skipSpace(): void {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at++;
    }
  }
}

/** Letters, digits, sign, point: the characters of numbers, true, false and null. */
function isLiteral(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x45
  );
}
