// A spend lease held by this process: budget reserved in the database and granted to requests from memory.
import { isDeepStrictEqual } from 'node:util';
import type { CancelSignal } from '../concurrency/cancellation.js';
import { WakeSignal } from '../concurrency/wake-signal.js';
import { AppError } from '../domain/errors.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { SpendRelease } from '../domain/spend/spend-limit.js';
import type { SpendLimitWindow } from '../domain/spend/spend-limit.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import type { LeaseGrant, SpendLedger } from '../persistence/spend/spend-ledger.js';
import { limitReached } from './reached-limits.js';
import type { ReachedLimits } from './reached-limits.js';

interface Waiter {
  readonly amount: PicoUsd;
  readonly deadline: number;
  readonly resolve: (isGranted: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** The remaining limit is reserved by in-flight calls, and the call has waited its time. */
export class LimitReserved extends AppError {
  constructor() {
    super('unavailable', {
      detail: 'the remaining limit is reserved by in-flight requests; retry shortly',
      headers: { 'Retry-After': '1' },
    });
  }
}

// Milliseconds between polls of a counter whose remainder in-flight calls have reserved, in this or in other
// processes.
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 100;

export class LocalQuota {
  /** The part of the lease that is neither reserved nor spent. */
  private available: PicoUsd = 0n;
  /** The part that in-flight calls hold. */
  private reserved: PicoUsd = 0n;
  private waiters: Waiter[] = [];
  private isGrowing = false;
  /** Ends the pause between two polls of the counter. */
  private readonly pause = new WakeSignal();
  private wasUsed = true;
  /** The limits that the database held at its last grant or rejection. */
  private grantedUnder: readonly SpendLimitWindow[] | null = null;

  constructor(
    readonly lease: SpendLease,
    private limits: readonly SpendLimitWindow[],
    private readonly ledger: SpendLedger,
    private readonly reachedLimits: Pick<ReachedLimits, 'find'>,
  ) {}

  /** A lease belongs to the limits under which it was granted: when they change, its available part goes back. */
  changeLimits(limits: readonly SpendLimitWindow[]): SpendRelease[] {
    const isSame = this.hasLimits(limits);
    this.limits = limits;
    return isSame ? [] : this.drainUnused();
  }

  private hasLimits(limits: readonly SpendLimitWindow[]): boolean {
    // Mostly the same object: a comparison member by member takes longer than all else here.
    return limits === this.limits || isDeepStrictEqual(limits, this.limits);
  }

  get isValid(): boolean {
    return this.lease.isValid(performance.now());
  }

  /** Whether this process holds any of the lease, available or reserved. */
  get hasBudget(): boolean {
    return this.reserved > 0n || this.available > 0n;
  }

  get isIdle(): boolean {
    return this.reserved === 0n && this.waiters.length === 0 && !this.isGrowing;
  }

  /** Reserves `amount` if it is available, also past calls that wait for more; else false. */
  tryAcquire(amount: PicoUsd): boolean {
    this.wasUsed = true;
    if (this.available < amount) return false;
    this.grant(amount);
    return true;
  }

  /**
   * Reserves `amount`, from memory while the lease lasts. Throws an error with its `shortfall` when the limit does not allow
   * it.
   * Throws LimitReserved when the remainder stays reserved by other calls until `deadline` (performance.now()), or at
   * once when the deadline has passed.
   * Returns false when the lease became invalid: nothing was reserved, and the caller acquires from another lease.
   * `signal` ends the wait with its reason.
   */
  async acquire(amount: PicoUsd, deadline: number, signal: CancelSignal | null = null): Promise<boolean> {
    if (this.tryAcquire(amount)) return true;
    signal?.throwIfAborted();
    return new Promise<boolean>((resolve, reject) => {
      const waiter = { amount, deadline, resolve, reject };
      this.waiters.push(waiter);
      signal?.addEventListener('abort', () => this.leave(waiter, signal.reason), { once: true });
      if (!this.isGrowing) void this.grow();
      // It may fit where calls that wait longer do not.
      else this.pause.interrupt();
    });
  }

  /** Its caller waits no longer. */
  private leave(waiter: Waiter, reason: unknown): void {
    const others = this.waiters.filter((other) => other !== waiter);
    if (others.length === this.waiters.length) return;
    this.waiters = others;
    waiter.reject(reason);
    // The next one may wait for less.
    this.pause.interrupt();
  }

  /**
   * The call did not happen: its amount becomes available, or goes back to the database when the limits have changed.
   */
  release(amount: PicoUsd, limits: readonly SpendLimitWindow[]): SpendRelease[] {
    this.reserved -= amount;
    if (!this.hasLimits(limits)) return [new SpendRelease(this.lease, amount)];
    this.available += amount;
    this.serveWaiting();
    return [];
  }

  /** The call was settled, and the settlement returned its part of the lease. */
  commit(amount: PicoUsd): void {
    this.reserved -= amount;
  }

  /** Takes the available part out of the lease, for return to the database. */
  drainUnused(): SpendRelease[] {
    if (this.available === 0n) return [];
    const amount = this.available;
    this.available = 0n;
    return [new SpendRelease(this.lease, amount)];
  }

  /** Whether nothing was reserved since the last call of this method. */
  wasIdleSince(): boolean {
    const wasIdle = !this.wasUsed;
    this.wasUsed = false;
    return wasIdle;
  }

  private grant(amount: PicoUsd): void {
    this.available -= amount;
    this.reserved += amount;
  }

  /** First come, first served; a call that does not fit holds up no later one. */
  private serveWaiting(): void {
    // grow() rejects them.
    if (this.waiters.length === 0 || !this.isValid) return;
    this.waiters = this.waiters.filter(({ amount, resolve }) => {
      if (this.available < amount) return true;
      this.grant(amount);
      resolve(true);
      return false;
    });
  }

  private reject(isRejected: (waiting: Waiter) => boolean, reasonOf: (waiting: Waiter) => AppError): void {
    const all = this.waiters;
    this.waiters = all.filter((waiting) => !isRejected(waiting));
    for (const waiting of all) if (isRejected(waiting)) waiting.reject(reasonOf(waiting));
  }

  /** One loop at a time queries the database for all waiting calls, first come, first served. */
  private async grow(): Promise<void> {
    this.isGrowing = true;
    let pause = FIRST_PAUSE;
    try {
      for (let first = this.waiters[0]; first; first = this.waiters[0]) {
        if (!this.isValid) {
          for (const { resolve } of this.waiters.splice(0)) resolve(false);
          return;
        }
        const grant = await this.requestGrant(this.waiters);
        if (!grant) continue;
        const { unspent, available } = grant;
        if (grant.granted > 0n || this.waiters[0] !== first || !this.isValid) {
          pause = FIRST_PAUSE;
        } else if (unspent < first.amount) {
          const limits = this.grantedUnder ?? this.limits;
          const reached = await this.reachedLimits.find(this.lease.owner, limits, unspent);
          this.reject(
            ({ amount }) => amount > unspent,
            ({ amount }) => limitReached(reached, amount),
          );
        } else {
          // The first must wait for reservations of others; those behind it may fit the remainder.
          const fitting = this.fitting(available);
          if (fitting.length > 0) await this.requestGrant(fitting);
          const now = performance.now();
          this.reject(
            ({ deadline }) => now >= deadline,
            () => new LimitReserved(),
          );
          if (this.waiters[0] !== first) continue;
          // Repeated: other processes may have reserved more since than they turn out to need.
          if (pause === FIRST_PAUSE || pause === LONGEST_PAUSE) {
            await this.ledger.sweepExpired();
            await this.ledger.requestRelease(this.lease.owner);
          }
          await this.pause.sleep(pause);
          pause = Math.min(pause * 2, LONGEST_PAUSE);
        }
      }
    } catch (error) {
      for (const { reject } of this.waiters.splice(0)) reject(error);
    } finally {
      this.isGrowing = false;
    }
  }

  /**
   * Requests enough for the first waiting call, and for all of them if there is so much, then serves those that fit.
   * Null: the limits changed during the statement, and its grant was returned.
   */
  private async requestGrant(waiting: readonly Waiter[]): Promise<LeaseGrant | null> {
    const { limits } = this;
    const [first] = waiting;
    const grant = await this.ledger.acquire(this.lease, {
      needed: (first?.amount ?? 0n) - this.available,
      wanted: waiting.reduce((sum, { amount }) => sum + amount, 0n) - this.available,
      hasBudget: this.hasBudget,
    });
    const { granted } = grant;
    if (!this.hasLimits(limits)) {
      // The grant and the unspent amount may belong to the old limits.
      if (granted > 0n) await this.ledger.release([new SpendRelease(this.lease, granted)]);
      return null;
    }
    // The database holds other limits than at the last statement, and no notification has arrived yet: the available
    // part was granted under the old ones.
    if (this.grantedUnder && !areSame(grant.limits, this.grantedUnder))
      await this.ledger.release(this.drainUnused());
    this.grantedUnder = grant.limits;
    this.available += granted;
    this.serveWaiting();
    return grant;
  }

  /** Waiting calls that the available part here and in the database suffices for, first come, first served. */
  private fitting(available: PicoUsd): readonly Waiter[] {
    let room = this.available + available;
    return this.waiters.filter(({ amount }) => {
      if (amount > room) return false;
      room -= amount;
      return true;
    });
  }
}

/** In any order. */
function areSame(some: readonly SpendLimitWindow[], others: readonly SpendLimitWindow[]): boolean {
  return (
    some.length === others.length &&
    some.every((limit) => others.some((other) => isDeepStrictEqual(limit, other)))
  );
}
