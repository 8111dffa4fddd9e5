// A request that merges small pieces of its body until it is read. They wait in Node's buffer, which counts their
// bytes only: a piece of one byte takes some hundred, so that 64 KiB of them are 25 MB.
import { IncomingMessage } from 'node:http';

// Bytes. Shorter pieces are copied together; longer ones keep their own buffer.
const SHORT = 1_024;
const BLOCK = 16 * 1024;

/** A separate class for each server: Express's prototype is inserted between it and Node's. */
export function createRequestClass(): typeof IncomingMessage {
  class CoalescingRequest extends IncomingMessage {
    #block: Buffer | null = null;
    #used = 0;

    /** Node's parser passes every piece of the body to this method, and null at its end. */
    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.#block === null && (piece === null || piece.length >= SHORT || this.readableLength === 0))
        return super.push(piece, encoding);
      if (piece === null || piece.length >= SHORT || this.readableFlowing === true) {
        this.#pushBlock();
        return super.push(piece, encoding);
      }
      if (this.#block !== null && this.#used + piece.length > BLOCK) this.#pushBlock();
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK);
      this.#used += piece.copy(this.#block, this.#used);
      return this.readableLength + this.#used < this.readableHighWaterMark;
    }

    /** A reader needs all pieces that have arrived. */
    override _read(size: number): void {
      this.#pushBlock();
      super._read(size);
    }

    #pushBlock(): void {
      const block = this.#block;
      const used = this.#used;
      this.#block = null;
      this.#used = 0;
      if (block !== null) super.push(block.subarray(0, used));
    }
  }
  return CoalescingRequest;
}
