// Resolves host names to IP addresses. Injected, so that tests have their own DNS.
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { Semaphore } from '../../concurrency/semaphore.js';
import type { Permit } from '../../concurrency/semaphore.js';
import { fairLimits } from './fair-limits.js';

export abstract class NameResolver {
  /** Every address of the host. Rejects when there is none. Accounts share the look-ups fairly. */
  abstract resolve(host: string, account: string): Promise<readonly LookupAddress[]>;
}

type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

/** Concurrent look-ups: `all`, of which at most `slow` for names that failed slowly before. */
export interface LookUpSlots {
  readonly all: number;
  readonly slow: number;
}

/**
 * Node uses at most half of its threads for look-ups, and providers' connections need them too: a quarter of those
 * stays free. Names without an answering server get half of the rest.
 */
export function slotsOf(threadPoolSize: number): LookUpSlots {
  const threads = Math.floor((threadPoolSize + 1) / 2);
  const all = Math.max(1, Math.floor((threads * 3) / 4));
  return { all, slow: Math.max(1, Math.floor(all / 2)) };
}

// Milliseconds: a look-up that fails later than this had no answer. The factor is the pause after it, relative to its
// duration.
const SLOW = 1_000;
const REST = 3;
// Milliseconds that a name waits for a slot: no caller waits longer for an answer.
const TIMEOUT = 30_000;
const REMEMBERED = 10_000;

type Pace = 'quick' | 'slow';

interface SlowFailure {
  readonly error: unknown;
  readonly until: number;
}

/**
 * Resolves like any program of the machine, with the hosts file and search domains. A look-up occupies one of few
 * threads, ten seconds and more without an answer, and cannot be cancelled. So each name has at most one, slow names
 * together hold a part of the threads, and accounts take turns.
 */
export class SystemNameResolver extends NameResolver {
  /** By host. */
  private readonly inFlight = new Map<string, Promise<readonly LookupAddress[]>>();
  /** By account and host: a name that waits behind the others of an account must not hold up another account. */
  private readonly queued = new Map<string, Promise<readonly LookupAddress[]>>();
  private readonly failures = new LRUCache<string, SlowFailure>({ max: REMEMBERED });
  private readonly all: Semaphore;
  private readonly slow: Semaphore;

  constructor(
    { all, slow }: LookUpSlots,
    private readonly lookUp: LookUp = (host) => lookup(host, { all: true }),
  ) {
    super();
    this.all = new Semaphore(fairLimits(all));
    this.slow = new Semaphore(fairLimits(slow));
  }

  override resolve(host: string, account: string): Promise<readonly LookupAddress[]> {
    const key = `${account} ${host}`;
    const joined = this.inFlight.get(host) ?? this.queued.get(key);
    if (joined) return joined;
    const started = this.resolveQueued(host, account).finally(() => this.queued.delete(key));
    this.queued.set(key, started);
    return started;
  }

  private async resolveQueued(host: string, account: string): Promise<readonly LookupAddress[]> {
    const failure = this.throwRecent(host);
    const slot = await this.acquireSlot(failure ? 'slow' : 'quick', host, account);
    try {
      const joined = this.inFlight.get(host);
      if (joined) {
        // The look-up of another account has a slot of its own.
        slot.release();
        return await joined;
      }
      this.throwRecent(host);
      const started = this.lookUpOnce(host).finally(() => this.inFlight.delete(host));
      this.inFlight.set(host, started);
      return await started;
    } finally {
      slot.release();
    }
  }

  /** Throws the last slow failure of a host until it is asked again; returns an older one. */
  private throwRecent(host: string): SlowFailure | undefined {
    const failure = this.failures.get(host);
    if (failure && performance.now() < failure.until) throw failure.error;
    return failure;
  }

  private async lookUpOnce(host: string): Promise<readonly LookupAddress[]> {
    const begun = performance.now();
    try {
      const addresses = await this.lookUp(host);
      this.failures.delete(host);
      return addresses;
    } catch (error) {
      const taken = performance.now() - begun;
      if (taken < SLOW) this.failures.delete(host);
      else this.failures.set(host, { error, until: performance.now() + taken * REST });
      throw error;
    }
  }

  /** A slow name holds one of the slow slots first, so that slow names leave threads to the others. */
  private async acquireSlot(pace: Pace, host: string, account: string): Promise<Permit> {
    const deadline = performance.now() + TIMEOUT;
    let slow: Permit | null = null;
    try {
      if (pace === 'slow')
        slow = this.slow.tryAcquire(account) ?? (await this.slow.acquire(account, { deadline }));
      const slot = await this.all.acquire(`${pace} ${account}`, { deadline });
      return {
        release: () => {
          slow?.release();
          slot.release();
        },
      };
    } catch (error) {
      slow?.release();
      throw Object.assign(new Error(`no time to look up ${host}`, { cause: error }), { code: 'ETIMEOUT' });
    }
  }
}
