// The places of an endpoint: how many calls may be under way there at once, and who waits for one to become free.
import type { CancelSignal } from '../outbound/cancellation.js';

/** Whoever has a place gives it back. */
export class EndpointPlaces {
  private taken = 0;
  /**
   * First come, first served. Bounded by the admission of calls, of which each has a few slices under way. Nobody waits
   * while a place is free: one that is given back counts as taken until it is handed on, so that no newcomer gets it.
   */
  private readonly waiting = new Set<() => void>();

  /** Whether there was one among `limit`. */
  tryTake(limit: number): boolean {
    if (this.taken >= limit) return false;
    this.taken++;
    return true;
  }

  /** After a `tryTake` in vain. False: `deadline` (performance.now()) came before a place, or the signal did. */
  wait(deadline: number, signal: CancelSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (hasPlace: boolean): void => {
        this.waiting.delete(take);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        resolve(hasPlace);
      };
      const take = (): void => end(true);
      const leave = (): void => end(false);
      const timer = setTimeout(leave, deadline - performance.now());
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.add(take);
    });
  }

  giveBack(): void {
    if (this.waiting.size === 0) this.taken--;
    // A turn later: a failure first ends what waits for the same call.
    else setImmediate(() => this.handOn());
  }

  private handOn(): void {
    const [next] = this.waiting;
    if (next) next();
    else this.taken--;
  }
}
