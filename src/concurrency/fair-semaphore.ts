// A semaphore whose permits are shared fairly between keys (accounts): one key that wants all of them delays the others by
// the release of one permit, not by its whole queue.

/** Held until it is released. The second release of a permit has no effect. */
export interface Permit {
  release(): void;
}

/** The part of an AbortSignal that waiting needs. */
interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

interface Waiter {
  readonly grant: (permit: Permit) => void;
}

/** Exists while the key holds permits or waits for one. */
interface KeyState {
  readonly key: string;
  held: number;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
}

export class FairSemaphore {
  private inUse = 0;
  private waiterCount = 0;
  private readonly keys = new Map<string, KeyState>();
  /** Keys that wait. A key moves to the end when it gets a permit: among keys that hold as much, turns go round. */
  private readonly waitingKeys = new Set<KeyState>();

  /** `reserved`: permits that only keys that hold none get, so that a new key seldom waits for the release of another's. */
  constructor(
    readonly permits: number,
    private readonly reserved = 0,
  ) {
    if (permits < 1 || reserved < 0 || reserved >= permits) {
      throw new RangeError('a semaphore needs at least one permit that is not reserved');
    }
  }

  get available(): number {
    return this.permits - this.inUse;
  }

  /** Number of acquisitions that wait. */
  get waiting(): number {
    return this.waiterCount;
  }

  /** Number of keys that hold or wait. */
  get keyCount(): number {
    return this.keys.size;
  }

  heldBy(key: string): number {
    return this.keys.get(key)?.held ?? 0;
  }

  /** Null: the key would have to wait. */
  tryAcquire(key: string): Permit | null {
    const state = this.keys.get(key);
    if (!this.isOpenTo(state?.held ?? 0)) return null;
    return this.grant(state ?? this.open(key));
  }

  /**
   * A freed permit goes to the waiting key that holds the fewest; among equals to the one that was served longest ago.
   * Rejects with the reason of `signal`, and takes no permit then.
   */
  acquire(key: string, signal?: AbortSource): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const permit = this.tryAcquire(key);
      if (permit) {
        resolve(permit);
        return;
      }
      const state = this.keys.get(key) ?? this.open(key);
      const giveUp = (): void => {
        this.removeWaiter(state, waiter);
        this.close(state);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        grant: (granted) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(granted);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      state.waiters.add(waiter);
      this.waiterCount++;
      this.waitingKeys.add(state);
    });
  }

  /** False for every key that waits, so that no newcomer overtakes a waiter that could be served. */
  private isOpenTo(held: number): boolean {
    return this.available > (held === 0 ? 0 : this.reserved);
  }

  private open(key: string): KeyState {
    const state: KeyState = { key, held: 0, waiters: new Set() };
    this.keys.set(key, state);
    return state;
  }

  private close(state: KeyState): void {
    if (state.held === 0 && state.waiters.size === 0) this.keys.delete(state.key);
  }

  private grant(state: KeyState): Permit {
    state.held++;
    this.inUse++;
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        state.held--;
        this.inUse--;
        this.serve();
        this.close(state);
      },
    };
  }

  /** One release can serve two keys: the one that released can now take a reserved permit. */
  private serve(): void {
    for (let state = this.next(); state && this.isOpenTo(state.held); state = this.next()) {
      const [waiter] = state.waiters;
      if (!waiter) return;
      this.removeWaiter(state, waiter);
      if (this.waitingKeys.delete(state)) this.waitingKeys.add(state);
      waiter.grant(this.grant(state));
    }
  }

  /** Takes a step for each waiting key, fewer as soon as one holds nothing. */
  private next(): KeyState | null {
    let next: KeyState | null = null;
    for (const state of this.waitingKeys) {
      if (next === null || state.held < next.held) next = state;
      if (next.held === 0) break;
    }
    return next;
  }

  private removeWaiter(state: KeyState, waiter: Waiter): void {
    if (!state.waiters.delete(waiter)) return;
    this.waiterCount--;
    if (state.waiters.size === 0) this.waitingKeys.delete(state);
  }
}
