// What this process may still spend of one holder's money: a lease taken from the database, handed out in memory.
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../domain/errors.js';
import { formatUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { SpendRelease } from '../domain/spend/spend-limit.js';
import type { SpendLimitWindow } from '../domain/spend/spend-limit.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import type { LeaseGrant, SpendLedger } from '../persistence/spend/spend-ledger.js';

interface Waiter {
  readonly amount: PicoUsd;
  readonly deadline: number;
  readonly resolve: (isGranted: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** What is left is reserved by calls in flight, and nobody waits for them any longer. */
export class LimitReserved extends AppError {
  constructor() {
    super('unavailable', {
      detail: 'what is left of the limit is reserved by calls in flight',
      headers: { 'Retry-After': '1' },
    });
  }
}

// Milliseconds between looks at a counter whose rest is reserved by calls in flight, here or in other processes.
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 100;

export class LocalQuota {
  /** What of the lease is neither handed out nor spent. */
  private available: PicoUsd = 0n;
  /** What calls in flight hold. */
  private reserved: PicoUsd = 0n;
  private waiters: Waiter[] = [];
  private isGrowing = false;
  /** Ends the pause between two looks at the counter. */
  private wake: (() => void) | null = null;
  private wasUsed = true;
  /** The limits that the database held when it last granted or refused. */
  private grantedUnder: readonly SpendLimitWindow[] | null = null;

  constructor(
    readonly lease: SpendLease,
    private limits: readonly SpendLimitWindow[],
    private readonly ledger: SpendLedger,
  ) {}

  /** A lease was granted under certain caps: when they change, what is free of it is to be given back. */
  changeLimits(limits: readonly SpendLimitWindow[]): SpendRelease[] {
    const isSame = this.hasLimits(limits);
    this.limits = limits;
    return isSame ? [] : this.drainUnused();
  }

  private hasLimits(limits: readonly SpendLimitWindow[]): boolean {
    // Mostly they are the very same ones: to compare them member by member takes longer than all the rest here.
    return limits === this.limits || isDeepStrictEqual(limits, this.limits);
  }

  get isValid(): boolean {
    return this.lease.isValid(performance.now());
  }

  /** Whether anything of the lease is here, handed out or not. */
  get hasBudget(): boolean {
    return this.reserved > 0n || this.available > 0n;
  }

  get isIdle(): boolean {
    return this.reserved === 0n && this.waiters.length === 0 && !this.isGrowing;
  }

  /** Hands out `amount` where it is free, also past calls that wait for more than that; else false. */
  tryAcquire(amount: PicoUsd): boolean {
    this.wasUsed = true;
    if (this.available < amount) return false;
    this.grant(amount);
    return true;
  }

  /**
   * Hands out `amount`, from memory while the lease lasts. Throws `insufficient_credits` when the money is not there,
   * and LimitReserved when all that is left stays reserved by other calls until `deadline` (performance.now()); with
   * one that has passed already, as soon as that is known. False: nothing was handed out, since the lease cannot be
   * trusted any more; another may have it.
   */
  async acquire(amount: PicoUsd, deadline: number): Promise<boolean> {
    if (this.tryAcquire(amount)) return true;
    return new Promise<boolean>((resolve, reject) => {
      this.waiters.push({ amount, deadline, resolve, reject });
      if (!this.isGrowing) void this.grow();
      // It may fit where those do not that have waited before it.
      else this.wake?.();
    });
  }

  /** The call did not happen: what it held can serve another, or is to be given back where other caps hold meanwhile. */
  release(amount: PicoUsd, limits: readonly SpendLimitWindow[]): SpendRelease[] {
    this.reserved -= amount;
    if (!this.hasLimits(limits)) return [new SpendRelease(this.lease, amount)];
    this.available += amount;
    this.serveWaiting();
    return [];
  }

  /** The call was settled, and its part of the lease given back with it. */
  commit(amount: PicoUsd): void {
    this.reserved -= amount;
  }

  /** Takes what is free out of the allowance, to be given back to the database. */
  drainUnused(): SpendRelease[] {
    if (this.available === 0n) return [];
    const amount = this.available;
    this.available = 0n;
    return [new SpendRelease(this.lease, amount)];
  }

  /** Whether nothing was taken since the last time that this was asked. */
  wasIdleSince(): boolean {
    const wasIdle = !this.wasUsed;
    this.wasUsed = false;
    return wasIdle;
  }

  private grant(amount: PicoUsd): void {
    this.available -= amount;
    this.reserved += amount;
  }

  /** In the order in which they came; one that does not fit keeps those behind it from nothing. */
  private serveWaiting(): void {
    // grow() sends them away.
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

  /** One at a time asks the database for all that wait, first come first served. */
  private async grow(): Promise<void> {
    this.isGrowing = true;
    let pause = FIRST_PAUSE;
    try {
      for (let first = this.waiters[0]; first; first = this.waiters[0]) {
        if (!this.isValid) {
          for (const { resolve } of this.waiters.splice(0)) resolve(false);
          return;
        }
        const grant = await this.ask(this.waiters);
        if (!grant) continue;
        const { unspent, available } = grant;
        if (grant.granted > 0n || this.waiters[0] !== first || !this.isValid) {
          pause = FIRST_PAUSE;
        } else if (unspent < first.amount) {
          this.reject(
            ({ amount }) => amount > unspent,
            ({ amount }) => this.insufficient(unspent, amount),
          );
        } else {
          // The first has to wait for what others have reserved; those behind it may fit what is left.
          const fitting = this.fitting(available);
          if (fitting.length > 0) await this.ask(fitting);
          const now = performance.now();
          this.reject(
            ({ deadline }) => now >= deadline,
            () => new LimitReserved(),
          );
          if (this.waiters[0] !== first) continue;
          // Again and again: others may have taken more since than they came to need.
          if (pause === FIRST_PAUSE || pause === LONGEST_PAUSE) {
            await this.ledger.sweepExpired();
            await this.ledger.requestRelease(this.lease.owner);
          }
          await this.rest(pause);
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
   * Asks for enough to serve the first of some that wait, and all of them where there is so much, and serves who can be
   * served. Null: other limits came during the statement; what it granted was given back.
   */
  private async ask(waiting: readonly Waiter[]): Promise<LeaseGrant | null> {
    const { limits } = this;
    const [first] = waiting;
    const grant = await this.ledger.acquire(this.lease, {
      needed: (first?.amount ?? 0n) - this.available,
      wanted: waiting.reduce((sum, { amount }) => sum + amount, 0n) - this.available,
      hasBudget: this.hasBudget,
    });
    const { granted } = grant;
    if (!this.hasLimits(limits)) {
      // What it granted, and what it found unspent, may be of the old ones.
      if (granted > 0n) await this.ledger.release([new SpendRelease(this.lease, granted)]);
      return null;
    }
    // The database's own limits are others than at the last statement, and no notification has told this process so far:
    // what is free here was granted under the old ones.
    if (this.grantedUnder && !areSame(grant.limits, this.grantedUnder))
      await this.ledger.release(this.drainUnused());
    this.grantedUnder = grant.limits;
    this.available += granted;
    this.serveWaiting();
    return grant;
  }

  /** Those that what is free here and in the database suffices for, first come first served. */
  private fitting(available: PicoUsd): readonly Waiter[] {
    let room = this.available + available;
    return this.waiters.filter(({ amount }) => {
      if (amount > room) return false;
      room -= amount;
      return true;
    });
  }

  /** Until so many milliseconds have passed or another call comes. */
  private async rest(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
    this.wake = null;
  }

  private insufficient(unspent: PicoUsd, amount: PicoUsd): AppError {
    const left = formatUsd(unspent > 0n ? unspent : 0n);
    const need = `this call may cost ${formatUsd(amount)} USD and ${left} USD are left`;
    const limits = (this.grantedUnder ?? this.limits)
      .map(({ window, limit }) => `${window === 'total' ? '' : `${window} `}limit of ${formatUsd(limit)} USD`)
      .join(', ');
    switch (this.lease.owner.kind) {
      case 'key':
        return new AppError('insufficient_credits', { detail: `${need} of this key's ${limits}` });
      case 'account':
        return new AppError('insufficient_credits', { detail: `${need} of the account's credits` });
      case 'workspace':
        return new AppError('budget_exceeded', { detail: `${need} of this workspace's ${limits}` });
    }
  }
}

/** Whatever their order. */
function areSame(some: readonly SpendLimitWindow[], others: readonly SpendLimitWindow[]): boolean {
  return (
    some.length === others.length &&
    some.every((limit) => others.some((other) => isDeepStrictEqual(limit, other)))
  );
}
