// Checks a long JSON document piece by piece, also while it arrives, and notes where its large values end: a reader passes
// over them then.
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  JsonCursor,
  MAX_DEPTH,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from './json-cursor.js';

// Bytes of a value that is noted, and the levels in which a reader looks at values.
const LARGE = 1_024;
const NOTED_DEPTH = 7;

export class LargeValues extends JsonCursor {
  /** By the place where a large value begins. */
  readonly ends = new Map<number, number>();
  /** Where the objects and lists around the next value begin. */
  private readonly starts: number[] = [];
  private textFrom = -1;
  private hasEnded = false;

  /** `from`: where the document begins. */
  constructor(from: number, Malformed: new (message: string) => Error) {
    super(Malformed);
    this.at = from;
  }

  /**
   * Reads on, about as far as `until`. `length`: the bytes that have come, of which names, numbers and spaces behind `until`
   * must be whole. True: the value of the document has ended.
   */
  run(bytes: Buffer, length: number, until = length): boolean {
    this.open(bytes, this.at, length);
    while (!this.hasEnded && this.at < until) {
      const isOver = this.textFrom === -1 ? this.beginValue() : this.readText(until);
      this.hasEnded = isOver && this.endContainers();
    }
    this.close();
    return this.hasEnded;
  }

  /** False: the value goes on. */
  private beginValue(): boolean {
    const byte = this.peek();
    if (byte === QUOTE) {
      this.textFrom = this.at++;
      return false;
    }
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) {
      this.skipScalar(byte);
      return true;
    }
    const start = this.at++;
    if (this.accept(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)) return true;
    if (this.starts.length === MAX_DEPTH) throw this.tooDeep();
    this.starts.push(start);
    if (byte === OPEN_OBJECT) this.skipName();
    return false;
  }

  private readText(until: number): boolean {
    const { bytes } = this;
    const end = Math.min(until, this.to);
    let { at } = this;
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.at = at + 1;
        this.note(this.textFrom);
        this.textFrom = -1;
        return true;
      }
      if (byte === BACKSLASH) at = this.endOfEscape(at + 1);
      else if (byte < SPACE) throw this.malformed();
    }
    this.at = at;
    if (at >= this.to) throw this.malformed();
    return false;
  }

  /** Behind a value. True: nothing is around it. */
  private endContainers(): boolean {
    for (;;) {
      const start = this.starts.at(-1);
      if (start === undefined) return true;
      const isObject = this.bytes[start] === OPEN_OBJECT;
      if (this.accept(COMMA)) {
        if (isObject) this.skipName();
        return false;
      }
      this.expect(isObject ? CLOSE_OBJECT : CLOSE_ARRAY);
      this.starts.pop();
      this.note(start);
    }
  }

  private note(from: number): void {
    if (this.at - from >= LARGE && this.starts.length <= NOTED_DEPTH) this.ends.set(from, this.at);
  }
}
