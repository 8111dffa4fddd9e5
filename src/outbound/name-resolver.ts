// From the name of a host to its IP addresses, as an injected part: tests have a DNS of their own.
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';

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
// Milliseconds that a name waits for a slot: nobody waits longer for an answer.
const TIMEOUT = 30_000;
const REMEMBERED = 10_000;

interface Waiting {
  readonly since: number;
  begin(): void;
  giveUp(): void;
}

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
  private readonly waiting = { quick: new Set<Waiting>(), slow: new Set<Waiting>() };
  private readonly running = { quick: 0, slow: 0 };

  constructor(
    private readonly slots: LookUpSlots,
    private readonly lookUp: LookUp = (host) => lookup(host, { all: true }),
    private readonly now: () => number = () => performance.now(),
  ) {
    super();
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
    if (failure && this.now() < failure.until) throw failure.error;
    const pace = failure ? 'slow' : 'quick';
    await this.takeSlot(pace, host);
    const begun = this.now();
    try {
      const addresses = await this.lookUp(host);
      this.failures.delete(host);
      return addresses;
    } catch (error) {
      const taken = this.now() - begun;
      if (taken < SLOW) this.failures.delete(host);
      else this.failures.set(host, { error, until: this.now() + taken * REST });
      throw error;
    } finally {
      this.running[pace]--;
      this.serveWaiting();
    }
  }

  private takeSlot(pace: 'quick' | 'slow', host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting[pace].add({
        since: this.now(),
        begin: () => {
          this.running[pace]++;
          resolve();
        },
        giveUp: () => reject(Object.assign(new Error(`no time to look up ${host}`), { code: 'ETIMEOUT' })),
      });
      this.serveWaiting();
    });
  }

  /** In the order in which they came, those that were slow last. */
  private serveWaiting(): void {
    for (const pace of ['quick', 'slow'] as const) {
      for (const waiting of this.waiting[pace]) {
        const isTooLate = this.now() - waiting.since > TIMEOUT;
        if (!isTooLate && !this.hasSlot(pace)) break;
        this.waiting[pace].delete(waiting);
        if (isTooLate) waiting.giveUp();
        else waiting.begin();
      }
    }
  }

  private hasSlot(pace: 'quick' | 'slow'): boolean {
    const { quick, slow } = this.running;
    return quick + slow < this.slots.all && (pace === 'quick' || slow < this.slots.slow);
  }
}
