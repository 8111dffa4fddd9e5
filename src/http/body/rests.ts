// Connections that send their bodies in very small pieces rest for as long as the pieces are worth, one after the other, so
// that all of them together have a small part of the processor.

// A piece costs about 4 microseconds: a twentieth of the processor.
const PIECES_PER_MILLISECOND = 12;

export interface Rest {
  /** Pieces that have been read since the last rest; 0: the connection is closed. */
  readonly pieces: () => number;
  readonly end: () => void;
}

export class Rests {
  private readonly resting: Rest[] = [];

  add(rest: Rest): void {
    this.resting.push(rest);
    if (this.resting.length === 1) this.begin();
  }

  private begin(): void {
    // The pieces of the present read are counted by then.
    setImmediate(() => {
      const pieces = this.resting[0]?.pieces() ?? 0;
      if (pieces === 0) this.endFirst();
      else setTimeout(() => this.endFirst(), pieces / PIECES_PER_MILLISECOND);
    });
  }

  private endFirst(): void {
    this.resting.shift()?.end();
    if (this.resting.length > 0) this.begin();
  }
}
