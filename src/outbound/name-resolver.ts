// From the name of a host to its IP addresses, as an injected part: tests have a DNS of their own.
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { Semaphore } from '../concurrency/semaphore.js';
import type { Permit } from '../concurrency/semaphore.js';

export abstract class NameResolver {
  /** Every address of the host. Rejects when there is none. */
  abstract resolve(host: string): Promise<readonly LookupAddress[]>;
}

type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

/** How many names may be looked up at once: `all`, and of those that failed slowly before only so many `slow` ones. */
export interface LookUpSlots {
  readonly all: number;
  readonly slow: number;
}

/**
 * Of the threads that Node looks names up with, half at most do so at once, and the calls' own connections need them too:
 * a quarter of those stays free. Names whose servers do not answer get half of the rest.
 */
export function slotsOf(threadPoolSize: number): LookUpSlots {
  const threads = Math.floor((threadPoolSize + 1) / 2);
  const all = Math.max(1, Math.floor((threads * 3) / 4));
  return { all, slow: Math.max(1, Math.floor(all / 2)) };
}

// Milliseconds. A look-up that fails later than this was not answered; after it, the name waits for so many times longer.
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
 * As every program of the machine resolves names: the hosts file and search domains count. A look-up holds one of few
 * threads, for ten seconds and more where a name server does not answer, and nothing ends it sooner. So one for each name
 * is enough, and such names wait for each other, not those that answer for them.
 */
export class SystemNameResolver extends NameResolver {
  private readonly inFlight = new Map<string, Promise<readonly LookupAddress[]>>();
  private readonly failures = new LRUCache<string, SlowFailure>({ max: REMEMBERED });
  /** Quick names first. */
  private readonly all: Semaphore;
  private readonly slow: Semaphore;

  constructor(
    { all, slow }: LookUpSlots,
    private readonly lookUp: LookUp = (host) => lookup(host, { all: true }),
  ) {
    super();
    this.all = new Semaphore({ permits: all, rankOf: (pace) => (pace === 'slow' ? 1 : 0) });
    this.slow = new Semaphore({ permits: slow });
  }

  override resolve(host: string): Promise<readonly LookupAddress[]> {
    const joined = this.inFlight.get(host);
    if (joined) return joined;
    const started = this.resolveQueued(host).finally(() => this.inFlight.delete(host));
    this.inFlight.set(host, started);
    return started;
  }

  private async resolveQueued(host: string): Promise<readonly LookupAddress[]> {
    const failure = this.failures.get(host);
    if (failure && performance.now() < failure.until) throw failure.error;
    const pace = failure ? 'slow' : 'quick';
    const slot = await this.acquireSlot(pace, host);
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
    } finally {
      slot.release();
    }
  }

  /** A slow name holds one of the slow slots first, so that it waits for other slow names only. */
  private async acquireSlot(pace: Pace, host: string): Promise<Permit> {
    const deadline = performance.now() + TIMEOUT;
    let slow: Permit | null = null;
    try {
      if (pace === 'slow') slow = this.slow.tryAcquire(pace) ?? (await this.slow.acquire(pace, { deadline }));
      const slot = await this.all.acquire(pace, { deadline });
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
