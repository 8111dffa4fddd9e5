// A cursor over the bytes of a JSON document that checks its syntax and builds no values.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_U = 0x75;
const NOTHING = Buffer.alloc(0);
const LITERALS = { t: Buffer.from('true'), f: Buffer.from('false'), n: Buffer.from('null') };
// `"`, `\`, `/`, b, f, n, r, t
const ESCAPES: ReadonlySet<number> = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]);
// Deeper than any answer; deeper ones are rejected instead of being tracked.
const MAX_DEPTH = 128;

/** A chunk or an answer without the form that the wire promises. */
export class BrokenChunk extends Error {}

export class JsonBytes {
  protected bytes: Buffer = NOTHING;
  protected at = 0;
  protected end = 0;
  /** Of the arrays and objects around the value that is skipped: whether each is an object. */
  private readonly isObject = new Uint8Array(MAX_DEPTH);

  protected open(bytes: Buffer, from: number, to: number): void {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  protected close(): void {
    this.bytes = NOTHING;
  }

  protected skipSpace(): void {
    const { bytes, end } = this;
    let at = this.at;
    while (at < end) {
      const byte = bytes[at];
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) break;
      at++;
    }
    this.at = at;
  }

  /** The next byte that is no space; -1 at the end. */
  protected peek(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined || byte <= SPACE || this.at >= this.end) {
      this.skipSpace();
      return this.at < this.end ? (this.bytes[this.at] ?? -1) : -1;
    }
    return byte;
  }

  protected accept(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  protected expect(byte: number): void {
    if (!this.accept(byte)) throw new BrokenChunk('the answer is not valid JSON');
  }

  protected isString(): boolean {
    return this.peek() === QUOTE;
  }

  protected isArray(): boolean {
    return this.peek() === OPEN_ARRAY;
  }

  protected isNull(): boolean {
    return this.peek() === 0x6e;
  }

  /** Calls `read` for each element; it must consume the element. */
  protected eachElement(read: () => void): void {
    this.expect(OPEN_ARRAY);
    if (this.accept(CLOSE_ARRAY)) return;
    do read();
    while (this.accept(COMMA));
    this.expect(CLOSE_ARRAY);
  }

  protected skipString(): void {
    const { bytes, end } = this;
    let at = this.at;
    if (at >= end || bytes[at] !== QUOTE) throw new BrokenChunk('the answer is not valid JSON');
    for (at++; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      if (byte === BACKSLASH) at = this.endOfEscape(at + 1);
      else if (byte < SPACE) break;
    }
    throw new BrokenChunk('the answer is not valid JSON');
  }

  /** Consumes one value of any kind. */
  protected skipValue(): void {
    let depth = 0;
    for (;;) {
      const byte = this.peek();
      if (byte === QUOTE) this.skipString();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.at++;
        const isObject = byte === OPEN_OBJECT;
        if (!this.accept(isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          if (depth === MAX_DEPTH)
            throw new BrokenChunk(`the answer is nested deeper than ${MAX_DEPTH} levels`);
          this.isObject[depth++] = isObject ? 1 : 0;
          if (isObject) this.skipName();
          continue;
        }
      } else this.skipScalar(byte);
      for (;;) {
        if (depth === 0) return;
        const isObject = this.isObject[depth - 1] === 1;
        if (this.accept(COMMA)) {
          if (isObject) this.skipName();
          break;
        }
        this.expect(isObject ? CLOSE_OBJECT : CLOSE_ARRAY);
        depth--;
      }
    }
  }

  private skipName(): void {
    this.peek();
    this.skipString();
    this.expect(COLON);
  }

  private skipScalar(byte: number): void {
    if (byte === MINUS || isDigit(byte)) {
      this.skipNumber();
      return;
    }
    const literal = byte === 0x6e ? LITERALS.n : byte === 0x74 ? LITERALS.t : LITERALS.f;
    const end = this.at + literal.length;
    if (end > this.end) throw new BrokenChunk('the answer is not valid JSON');
    for (let index = 0; index < literal.length; index++) {
      if (this.bytes[this.at + index] !== literal[index])
        throw new BrokenChunk('the answer is not valid JSON');
    }
    this.at = end;
  }

  private skipNumber(): void {
    if (this.bytes[this.at] === MINUS) this.at++;
    if (this.at < this.end && this.bytes[this.at] === ZERO) this.at++;
    else this.skipDigits();
    if (this.at < this.end && this.bytes[this.at] === POINT) {
      this.at++;
      this.skipDigits();
    }
    // e, E
    if (this.at < this.end && ((this.bytes[this.at] ?? 0) | SPACE) === 0x65) {
      this.at++;
      const sign = this.bytes[this.at];
      if (this.at < this.end && (sign === PLUS || sign === MINUS)) this.at++;
      this.skipDigits();
    }
  }

  private skipDigits(): void {
    const from = this.at;
    while (this.at < this.end && isDigit(this.bytes[this.at] ?? 0)) this.at++;
    if (this.at === from) throw new BrokenChunk('the answer is not valid JSON');
  }

  /** The last byte of the escape whose second byte is at `at`. */
  private endOfEscape(at: number): number {
    const byte = this.bytes[at] ?? 0;
    if (at < this.end && ESCAPES.has(byte)) return at;
    if (at + 4 < this.end && byte === LETTER_U) {
      for (let index = at + 1; index <= at + 4; index++) {
        if (!isHexadecimal(this.bytes[index] ?? 0)) throw new BrokenChunk('the answer is not valid JSON');
      }
      return at + 4;
    }
    throw new BrokenChunk('the answer is not valid JSON');
  }

  /** The value of the bytes, which must have been skipped before. */
  protected parse(from: number, to: number): unknown {
    return JSON.parse(this.bytes.toString('utf8', from, to));
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isHexadecimal(byte: number): boolean {
  const lower = byte | SPACE;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
