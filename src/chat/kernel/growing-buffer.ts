// Bytes that are appended in pieces. It holds no memory while it is empty.

const EMPTY = Buffer.alloc(0);
const FIRST_BYTES = 512;
const SHORT = 24;

export class GrowingBuffer {
  bytes: Buffer = EMPTY;
  length = 0;

  /** Bytes of the allocated memory. */
  get size(): number {
    return this.bytes.length;
  }

  append(source: Buffer, from: number, to: number): void {
    this.reserve(to - from);
    // A few bytes take less than the call of the native copy.
    if (to - from < SHORT) for (let at = from; at < to; at++) this.bytes[this.length++] = source[at] ?? 0;
    else {
      source.copy(this.bytes, this.length, from, to);
      this.length += to - from;
    }
  }

  appendByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /** Takes over a memory, of which `length` bytes are in use. */
  adopt(bytes: Buffer, length: number): void {
    this.bytes = bytes;
    this.length = length;
  }

  /** Keeps the memory for the next bytes, unless it is larger than `keptBytes`. */
  clear(keptBytes = 0): void {
    this.length = 0;
    if (this.bytes.length > keptBytes) this.bytes = EMPTY;
  }

  /** A copy of the bytes, which are cleared; null: there are none. */
  take(keptBytes: number): Buffer | null {
    if (this.length === 0) return null;
    const taken = Buffer.allocUnsafe(this.length);
    this.bytes.copy(taken, 0, 0, this.length);
    this.clear(keptBytes);
    return taken;
  }

  /** Makes room for further bytes. Doubling keeps the copies of any number of appends linear. */
  private reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
