// The places of an endpoint: how many calls may be under way there at once, shared fairly between accounts, and within an
// account between its calls.
import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import type { Permit } from '../../concurrency/fair-semaphore.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';

/** One call; its slices want places under its name. */
export interface PermitOwner {
  readonly accountId: string;
}

/** Held until it is given back, once. */
export interface EndpointPermit {
  release(): void;
}

// One place in so many is kept for accounts that have none, which then need not wait for a provider that is slow.
const RESERVED_SHARE = 16;

/** Exists while a call has places or waits for one. */
interface CallState {
  readonly owner: PermitOwner;
  held: number;
  /** In order of arrival. */
  readonly waiting: Set<(permit: EndpointPermit) => void>;
}

/** Exists while a call of the account waits. */
interface AccountQueue {
  /** Those that wait. A call moves to the end when it gets a place. */
  readonly calls: Set<CallState>;
  /** One request at the semaphore for each slice that waits; whichever is granted, the account decides whom it serves. */
  readonly requests: Set<Cancellation>;
}

export class EndpointPermits {
  private semaphore: FairSemaphore | null = null;
  private readonly calls = new Map<PermitOwner, CallState>();
  private readonly queues = new Map<string, AccountQueue>();

  /** Null: there was none among `limit`, which is always the same. */
  tryAcquire(limit: number, owner: PermitOwner): EndpointPermit | null {
    this.semaphore ??= new FairSemaphore(limit, Math.floor(limit / RESERVED_SHARE));
    const permit = this.semaphore.tryAcquire(owner.accountId);
    return permit === null ? null : this.permitOf(this.stateOf(owner), permit);
  }

  /** After a `tryAcquire` in vain. Null: `deadline` (performance.now()) came before a place, or the signal did. */
  wait(owner: PermitOwner, deadline: number, signal: CancelSignal): Promise<EndpointPermit | null> {
    const { semaphore } = this;
    if (signal.aborted || !semaphore) return Promise.resolve(null);
    return new Promise((resolve) => {
      const state = this.stateOf(owner);
      const end = (permit: EndpointPermit | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        resolve(permit);
      };
      const leave = (): void => {
        this.removeWaiting(state, end);
        this.dropRequest(owner);
        this.close(state);
        end(null);
      };
      const timer = setTimeout(leave, deadline - performance.now());
      signal.addEventListener('abort', leave, { once: true });
      state.waiting.add(end);
      this.request(semaphore, state);
    });
  }

  private request(semaphore: FairSemaphore, state: CallState): void {
    const { accountId } = state.owner;
    let queue = this.queues.get(accountId);
    if (!queue) this.queues.set(accountId, (queue = { calls: new Set(), requests: new Set() }));
    queue.calls.add(state);
    const request = new Cancellation();
    queue.requests.add(request);
    void this.serveNext(semaphore.acquire(accountId, request), queue, request);
  }

  private async serveNext(
    granted: Promise<Permit>,
    queue: AccountQueue,
    request: Cancellation,
  ): Promise<void> {
    const permit = await granted.catch(() => null);
    if (!permit) return;
    queue.requests.delete(request);
    this.serve(queue, permit);
  }

  /** The call that has the fewest places; among equals the one that was served longest ago. */
  private serve(queue: AccountQueue, permit: Permit): void {
    let next: CallState | null = null;
    for (const state of queue.calls) {
      if (next === null || state.held < next.held) next = state;
      if (next.held === 0) break;
    }
    const [take] = next?.waiting ?? [];
    if (!next || !take) {
      // The one that it was for has left since.
      permit.release();
      return;
    }
    this.removeWaiting(next, take);
    if (queue.calls.delete(next)) queue.calls.add(next);
    take(this.permitOf(next, permit));
  }

  private removeWaiting(state: CallState, take: (permit: EndpointPermit) => void): void {
    state.waiting.delete(take);
    const queue = this.queues.get(state.owner.accountId);
    if (state.waiting.size > 0 || !queue) return;
    queue.calls.delete(state);
    if (queue.calls.size === 0 && queue.requests.size === 0) this.queues.delete(state.owner.accountId);
  }

  /** Of all of the account any one: they are alike. */
  private dropRequest({ accountId }: PermitOwner): void {
    const queue = this.queues.get(accountId);
    const [request] = queue?.requests ?? [];
    if (!queue || !request) return;
    queue.requests.delete(request);
    request.abort();
    if (queue.calls.size === 0 && queue.requests.size === 0) this.queues.delete(accountId);
  }

  private stateOf(owner: PermitOwner): CallState {
    const known = this.calls.get(owner);
    if (known) return known;
    const state: CallState = { owner, held: 0, waiting: new Set() };
    this.calls.set(owner, state);
    return state;
  }

  private close(state: CallState): void {
    if (state.held === 0 && state.waiting.size === 0) this.calls.delete(state.owner);
  }

  private permitOf(state: CallState, permit: Permit): EndpointPermit {
    state.held++;
    return {
      release: () => {
        state.held--;
        this.close(state);
        if (this.semaphore?.waiting === 0) permit.release();
        // A turn later: a failure first ends what waits for the same call.
        else setImmediate(() => permit.release());
      },
    };
  }
}
