// Pauses connections that send their bodies in very small pieces for as long as the pieces are worth, one after the
// other, so that all of them together have a small part of the processor.

// A piece costs about 4 microseconds: a twentieth of the processor.
const PIECES_PER_MILLISECOND = 12;

export interface PausedRead {
  /** Pieces that have been read since the last pause; 0: the connection is closed. */
  readonly pieces: () => number;
  readonly end: () => void;
}

export class ReadThrottle {
  private readonly paused: PausedRead[] = [];

  add(read: PausedRead): void {
    this.paused.push(read);
    if (this.paused.length === 1) this.begin();
  }

  private begin(): void {
    // The pieces of the present read are counted by then.
    setImmediate(() => {
      const pieces = this.paused[0]?.pieces() ?? 0;
      if (pieces === 0) this.endFirst();
      else setTimeout(() => this.endFirst(), pieces / PIECES_PER_MILLISECOND);
    });
  }

  private endFirst(): void {
    this.paused.shift()?.end();
    if (this.paused.length > 0) this.begin();
  }
}
