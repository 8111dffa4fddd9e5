// A cursor over the bytes of a JSON document that checks its syntax and builds no values. Throws the caller's class of error
// where the document is not JSON.

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const SPACE = 0x20;
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
// Deeper than any answer, and than a chat request may be.
export const MAX_DEPTH = 160;

export class JsonCursor {
  protected bytes: Buffer = NOTHING;
  protected at = 0;
  protected to = 0;
  /** Whether each of the arrays and objects around the skipped value is an object. */
  private readonly nesting = new Uint8Array(MAX_DEPTH);

  constructor(private readonly Malformed: new (message: string) => Error) {}

  protected open(bytes: Buffer, from: number, to: number): void {
    this.bytes = bytes;
    this.at = from;
    this.to = to;
  }

  protected close(): void {
    this.bytes = NOTHING;
  }

  protected skipSpace(): void {
    const { bytes, to } = this;
    let at = this.at;
    while (at < to) {
      const byte = bytes[at];
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) break;
      at++;
    }
    this.at = at;
  }

  /** The next byte that is no space; -1 at the end. */
  protected peek(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined || byte <= SPACE || this.at >= this.to) {
      this.skipSpace();
      return this.at < this.to ? (this.bytes[this.at] ?? -1) : -1;
    }
    return byte;
  }

  protected accept(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  protected expect(byte: number): void {
    if (!this.accept(byte)) throw this.malformed();
  }

  isString(): boolean {
    return this.peek() === QUOTE;
  }

  isArray(): boolean {
    return this.peek() === OPEN_ARRAY;
  }

  protected isNull(): boolean {
    return this.peek() === 0x6e;
  }

  /** Calls `read` for each element; it must consume the element. */
  eachElement(read: () => void): void {
    this.expect(OPEN_ARRAY);
    if (this.accept(CLOSE_ARRAY)) return;
    do read();
    while (this.accept(COMMA));
    this.expect(CLOSE_ARRAY);
  }

  protected skipString(): void {
    const { bytes, to } = this;
    let at = this.at;
    if (at >= to || bytes[at] !== QUOTE) throw this.malformed();
    for (at++; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      if (byte === BACKSLASH) at = this.endOfEscape(at + 1);
      else if (byte < SPACE) break;
    }
    throw this.malformed();
  }

  /** Consumes one value of any kind. */
  skipValue(): void {
    let depth = 0;
    for (;;) {
      const byte = this.peek();
      if (byte === QUOTE) this.skipString();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.at++;
        const isObject = byte === OPEN_OBJECT;
        if (!this.accept(isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          if (depth === MAX_DEPTH) throw this.tooDeep();
          this.nesting[depth++] = isObject ? 1 : 0;
          if (isObject) this.skipName();
          continue;
        }
      } else this.skipScalar(byte);
      for (;;) {
        if (depth === 0) return;
        const isObject = this.nesting[depth - 1] === 1;
        if (this.accept(COMMA)) {
          if (isObject) this.skipName();
          break;
        }
        this.expect(isObject ? CLOSE_OBJECT : CLOSE_ARRAY);
        depth--;
      }
    }
  }

  protected skipName(): void {
    this.peek();
    this.skipString();
    this.expect(COLON);
  }

  protected skipScalar(byte: number): void {
    if (byte === MINUS || isDigit(byte)) {
      this.skipNumber();
      return;
    }
    const literal = byte === 0x6e ? LITERALS.n : byte === 0x74 ? LITERALS.t : LITERALS.f;
    const end = this.at + literal.length;
    if (end > this.to) throw this.malformed();
    for (let index = 0; index < literal.length; index++) {
      if (this.bytes[this.at + index] !== literal[index]) throw this.malformed();
    }
    this.at = end;
  }

  private skipNumber(): void {
    if (this.bytes[this.at] === MINUS) this.at++;
    if (this.at < this.to && this.bytes[this.at] === ZERO) this.at++;
    else this.skipDigits();
    if (this.at < this.to && this.bytes[this.at] === POINT) {
      this.at++;
      this.skipDigits();
    }
    // e, E
    if (this.at < this.to && ((this.bytes[this.at] ?? 0) | SPACE) === 0x65) {
      this.at++;
      const sign = this.bytes[this.at];
      if (this.at < this.to && (sign === PLUS || sign === MINUS)) this.at++;
      this.skipDigits();
    }
  }

  private skipDigits(): void {
    const from = this.at;
    while (this.at < this.to && isDigit(this.bytes[this.at] ?? 0)) this.at++;
    if (this.at === from) throw this.malformed();
  }

  /** The last byte of the escape whose second byte is at `at`. */
  protected endOfEscape(at: number): number {
    const byte = this.bytes[at] ?? 0;
    if (at < this.to && ESCAPES.has(byte)) return at;
    if (at + 4 < this.to && byte === LETTER_U) {
      for (let index = at + 1; index <= at + 4; index++) {
        if (!isHexadecimal(this.bytes[index] ?? 0)) throw this.malformed();
      }
      return at + 4;
    }
    throw this.malformed();
  }

  protected tooDeep(): Error {
    return this.malformed(`is nested deeper than ${MAX_DEPTH} levels`);
  }

  protected malformed(fault = 'is not valid JSON'): Error {
    return new this.Malformed(`the answer ${fault}`);
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
