// A bound on bytes that are in memory at once: who needs more than is left waits, and nobody takes what the others need.

/** Bytes that somebody holds. */
export interface Permit {
  /** Gives back what is above this. */
  shrinkTo(bytes: number): void;
  release(): void;
}

interface Request {
  readonly bytes: number;
  readonly grant: (permit: Permit) => void;
}

// The part that only owners get who hold nothing: who comes last finds room as well.
const RESERVE = 1 / 4;

export class WeightedSemaphore {
  private used = 0;
  private readonly held = new Map<string, number>();
  /** By owner, each in order. */
  private readonly waiting = new Map<string, Request[]>();

  constructor(private readonly most: number) {}

  /**
   * The share itself when it can be had at once. More than the whole budget counts as the whole. An owner that holds
   * something never gets more than it leaves to the others; of those who wait, one that holds less comes first.
   */
  acquire(owner: string, bytes: number): Permit | Promise<Permit> {
    const size = Math.min(bytes, this.most);
    // Who needs nothing waits for nobody.
    const isFree = size === 0 || (!this.isOneBefore(owner) && this.hasRoom(owner, size));
    if (isFree) return this.hold(owner, size);
    return new Promise((grant) => {
      const requests = this.waiting.get(owner) ?? [];
      requests.push({ bytes: size, grant });
      this.waiting.set(owner, requests);
    });
  }

  /** In strict order, so that many small requests never keep a large one waiting for good. */
  private serve(): void {
    for (let owner = this.next(); owner !== undefined; owner = this.next()) {
      const requests = this.waiting.get(owner) ?? [];
      const [request] = requests;
      if (!request || !this.hasRoom(owner, request.bytes)) return;
      requests.shift();
      // Behind those who hold as much.
      this.waiting.delete(owner);
      if (requests.length > 0) this.waiting.set(owner, requests);
      request.grant(this.hold(owner, request.bytes));
    }
  }

  /** Whether somebody waits who comes before a new request of this owner. */
  private isOneBefore(owner: string): boolean {
    const held = this.heldBy(owner);
    for (const other of this.waiting.keys()) if (this.heldBy(other) <= held) return true;
    return false;
  }

  private next(): string | undefined {
    let next: string | undefined;
    let least = Infinity;
    for (const owner of this.waiting.keys()) {
      const held = this.heldBy(owner);
      if (held >= least) continue;
      next = owner;
      least = held;
    }
    return next;
  }

  private hasRoom(owner: string, bytes: number): boolean {
    const left = this.most - this.used - bytes;
    const held = this.heldBy(owner);
    return held === 0 ? left >= 0 : left - RESERVE * this.most >= held + bytes;
  }

  private heldBy(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  private hold(owner: string, bytes: number): Permit {
    let size = 0;
    const resize = (to: number): void => {
      this.used += to - size;
      const held = this.heldBy(owner) + to - size;
      if (held === 0) this.held.delete(owner);
      else this.held.set(owner, held);
      size = to;
    };
    resize(bytes);
    const shrinkTo = (to: number): void => {
      if (to >= size) return;
      resize(to);
      this.serve();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }
}
