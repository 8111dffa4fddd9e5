// Collects a body in a few large blocks, whatever the size of its pieces. A piece of one byte is a buffer object of
// some hundred bytes, and keeps the whole read of the connection alive.

// Bytes. The first block is small: most bodies that arrive in pieces are.
const FIRST_BLOCK = 1024;
const LARGEST_BLOCK = 64 * 1024;
// From this size on, copying costs more than the overhead of a piece.
const KEPT_PIECE = LARGEST_BLOCK / 2;

export class BodyBlocks {
  private readonly full: Buffer[] = [];
  private block: Buffer | null = null;
  private used = 0;
  private nextSize = FIRST_BLOCK;

  /** Collected bytes. */
  length = 0;

  /** Returns the number of bytes by which the memory of the body grew. */
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

  /** The whole body. Nothing may be added afterwards. */
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
