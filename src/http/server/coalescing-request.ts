// A request that merges small pieces of its body, and pauses the connection when there are many. A piece of one byte takes
// some hundred in Node's buffer, so that 64 KiB of them are 25 MB. The parser takes microseconds for each, and one socket
// may read 2 MiB in one iteration of the event loop.
import { IncomingMessage } from 'node:http';
import { ReadThrottle } from './read-throttle.js';

// Bytes. Shorter pieces are copied together; longer ones keep their own buffer.
const SHORT = 1_024;
const BLOCK = 16 * 1024;
// Short pieces of one body that are passed on as they come: more than a body has that is sent in writes of its own.
const USUAL_PIECES = 64;
// Short pieces after which the connection is paused. The parser still passes on those of the same read, of up to 64 KiB.
const PIECES_BEFORE_PAUSE = 1_024;

/** A separate class for each server: Express's prototype is inserted between it and Node's. */
export function createRequestClass(
  throttle: Pick<ReadThrottle, 'add'> = new ReadThrottle(),
): typeof IncomingMessage {
  class CoalescingRequest extends IncomingMessage {
    #block: Buffer | null = null;
    #used = 0;
    #willPushBlock = false;
    #shortPieces = 0;
    /** The value of #shortPieces at the end of the last pause. */
    #pausedPieces = 0;
    #isPaused = false;
    /** The read that was requested during a pause. */
    #awaitedSize: number | null = null;

    /**
     * Node's parser passes every piece of the body to this method, and null at its end. False: the connection is not
     * read until _read() is called.
     */
    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (piece === null || piece.length >= SHORT) return this.#pushAtOnce(piece, encoding);
      this.#shortPieces++;
      const isUsual = this.#shortPieces <= USUAL_PIECES;
      const isAwaited = this.readableFlowing === true || (this.#block === null && this.readableLength === 0);
      if (isUsual && isAwaited) return this.#pushAtOnce(piece, encoding);
      const hasRoom = this.#merge(piece);
      return !this.#hasToPause() && hasRoom;
    }

    /** A reader needs all pieces that have arrived. */
    override _read(size: number): void {
      this.#pushBlock();
      if (this.#isPaused) this.#awaitedSize = size;
      else super._read(size);
    }

    #pushAtOnce(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      this.#pushBlock();
      return super.push(piece, encoding);
    }

    #merge(piece: Buffer): boolean {
      if (this.#block !== null && this.#used + piece.length > BLOCK) this.#pushBlock();
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK);
      this.#used += piece.copy(this.#block, this.#used);
      if (this.readableFlowing === true && !this.#willPushBlock) {
        this.#willPushBlock = true;
        // After the other pieces of the same read.
        process.nextTick(() => {
          this.#willPushBlock = false;
          this.#pushBlock();
        });
      }
      return this.readableLength + this.#used < this.readableHighWaterMark;
    }

    #pushBlock(): void {
      const block = this.#block;
      const used = this.#used;
      this.#block = null;
      this.#used = 0;
      if (block !== null) super.push(block.subarray(0, used));
    }

    /** Whether the connection is paused after this piece. */
    #hasToPause(): boolean {
      if (this.#isPaused || this.#shortPieces - this.#pausedPieces < PIECES_BEFORE_PAUSE)
        return this.#isPaused;
      this.#isPaused = true;
      throttle.add({
        pieces: () => (this.destroyed ? 0 : this.#shortPieces - this.#pausedPieces),
        end: () => this.#endPause(),
      });
      return true;
    }

    #endPause(): void {
      this.#isPaused = false;
      this.#pausedPieces = this.#shortPieces;
      const size = this.#awaitedSize;
      this.#awaitedSize = null;
      if (size !== null) super._read(size);
    }
  }
  return CoalescingRequest;
}
