// Bounds the calls of an endpoint that are in flight, shared fairly between accounts, and within an account between its
// calls.
import { Semaphore } from '../../concurrency/semaphore.js';
import type { Permit } from '../../concurrency/semaphore.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';

/** One call; its slices request permits under its name. */
export interface PermitOwner {
  readonly accountId: string;
}

// One permit in so many is for accounts that hold few, which then need not wait for a slow provider.
const RESERVED_SHARE = 16;

export class EndpointPermits {
  private semaphore: Semaphore | null = null;

  /** Null when none of the `limit` permits, which is always the same number, is available. */
  tryAcquire(limit: number, owner: PermitOwner): Permit | null {
    this.semaphore ??= new Semaphore({ permits: limit, reserved: Math.floor(limit / RESERVED_SHARE) });
    const permit = this.semaphore.tryAcquire(owner.accountId, { member: owner });
    return permit && this.deferRelease(permit);
  }

  /** After a `tryAcquire` in vain. Null when `deadline` (performance.now()) or the signal comes before a permit. */
  async wait(owner: PermitOwner, deadline: number, signal: CancelSignal): Promise<Permit | null> {
    try {
      const permit = await this.semaphore?.acquire(owner.accountId, { member: owner, deadline, signal });
      return permit ? this.deferRelease(permit) : null;
    } catch {
      return null;
    }
  }

  /** A failure first ends what waits for the same call, and only then its permit passes to a waiter. */
  private deferRelease(permit: Permit): Permit {
    return {
      release: () => {
        if (this.semaphore?.waiting === 0) permit.release();
        else setImmediate(() => permit.release());
      },
    };
  }
}
