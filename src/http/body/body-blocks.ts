// Gathers a body in a few large blocks, whatever pieces it comes in: a piece of one byte is a buffer object of some
// hundred bytes, and keeps the whole read of the connection that it was cut from.

// Bytes. The first block is small: most of what comes in pieces is.
const FIRST_BLOCK = 1024;
const LARGEST_BLOCK = 64 * 1024;
// From here on copying costs more than what a piece keeps beside itself.
const KEPT_PIECE = LARGEST_BLOCK / 2;

export class BodyBlocks {
  private readonly full: Buffer[] = [];
  private block: Buffer | null = null;
  private used = 0;
  private nextSize = FIRST_BLOCK;

  /** Bytes that were gathered. */
  length = 0;

  /** Returns how many bytes of memory the body takes more than before. */
  add(piece: Buffer): number {
    this.length += piece.length;
    if (piece.length >= KEPT_PIECE) {
      this.closeBlock();
      this.full.push(piece);
      return piece.length;
    }
    let allocated = 0;
    for (let from = 0; from < piece.length;) {
      if (this.block === null) {
        this.block = Buffer.allocUnsafeSlow(this.nextSize);
        this.nextSize = Math.min(2 * this.nextSize, LARGEST_BLOCK);
        allocated += this.block.length;
      }
      const copied = piece.copy(this.block, this.used, from);
      this.used += copied;
      from += copied;
      if (this.used === this.block.length) this.closeBlock();
    }
    return allocated;
  }

  /** All of it. Nothing may be added afterwards. */
  join(): Buffer {
    this.closeBlock();
    const [first] = this.full;
    return first && this.full.length === 1 ? first : Buffer.concat(this.full, this.length);
  }

  private closeBlock(): void {
    if (this.block !== null) this.full.push(this.block.subarray(0, this.used));
    this.block = null;
    this.used = 0;
  }
}
