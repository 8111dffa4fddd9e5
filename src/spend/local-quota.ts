// What this process may still spend of one holder's money: a lease taken from the database, handed out in memory.
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../domain/errors.js';
import { formatUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { SpendRelease } from '../domain/spend/spend-cap.js';
import type { SpendCap } from '../domain/spend/spend-cap.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import type { LeaseGrant, SpendLedger } from '../persistence/spend/spend-ledger.js';

interface Waiting {
  readonly amount: PicoUsd;
  readonly deadline: number;
  readonly resolve: (isTaken: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** What is left is reserved by calls in flight, and nobody waits for them any longer. */
export class ReservedElsewhere extends AppError {
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

export class Allowance {
  /** What of the lease is neither handed out nor spent. */
  private free: PicoUsd = 0n;
  /** What calls in flight hold. */
  private held: PicoUsd = 0n;
  private waiting: Waiting[] = [];
  private isGrowing = false;
  /** Ends the pause between two looks at the counter. */
  private wake: (() => void) | null = null;
  private wasUsed = true;
  /** The limits that the database held when it last granted or refused. */
  private grantedUnder: readonly SpendCap[] | null = null;

  constructor(
    readonly lease: SpendLease,
    private caps: readonly SpendCap[],
    private readonly ledger: SpendLedger,
  ) {}

  /** A lease was granted under certain caps: when they change, what is free of it is to be given back. */
  changeCaps(caps: readonly SpendCap[]): SpendRelease[] {
    const isSame = this.isUnder(caps);
    this.caps = caps;
    return isSame ? [] : this.takeUnused();
  }

  private isUnder(caps: readonly SpendCap[]): boolean {
    // Mostly they are the very same ones: to compare them member by member takes longer than all the rest here.
    return caps === this.caps || isDeepStrictEqual(caps, this.caps);
  }

  get isUsable(): boolean {
    return this.lease.isUsable(performance.now());
  }

  /** Whether anything of the lease is here, handed out or not. */
  get isHeld(): boolean {
    return this.held > 0n || this.free > 0n;
  }

  get isIdle(): boolean {
    return this.held === 0n && this.waiting.length === 0 && !this.isGrowing;
  }

  /** Hands out `amount` where it is free, also past calls that wait for more than that; else false. */
  takeAtOnce(amount: PicoUsd): boolean {
    this.wasUsed = true;
    if (this.free < amount) return false;
    this.hand(amount);
    return true;
  }

  /**
   * Hands out `amount`, from memory while the lease lasts. Throws `insufficient_credits` when the money is not there,
   * and ReservedElsewhere when all that is left stays reserved by other calls until `deadline` (performance.now()); with
   * one that has passed already, as soon as that is known. False: nothing was handed out, since the lease cannot be
   * trusted any more; another may have it.
   */
  async take(amount: PicoUsd, deadline: number): Promise<boolean> {
    if (this.takeAtOnce(amount)) return true;
    return new Promise<boolean>((resolve, reject) => {
      this.waiting.push({ amount, deadline, resolve, reject });
      if (!this.isGrowing) void this.grow();
      // It may fit where those do not that have waited before it.
      else this.wake?.();
    });
  }

  /** The call did not happen: what it held can serve another, or is to be given back where other caps hold meanwhile. */
  putBack(amount: PicoUsd, caps: readonly SpendCap[]): SpendRelease[] {
    this.held -= amount;
    if (!this.isUnder(caps)) return [new SpendRelease(this.lease, amount)];
    this.free += amount;
    this.serveWaiting();
    return [];
  }

  /** The call was settled, and its part of the lease given back with it. */
  settled(amount: PicoUsd): void {
    this.held -= amount;
  }

  /** Takes what is free out of the allowance, to be given back to the database. */
  takeUnused(): SpendRelease[] {
    if (this.free === 0n) return [];
    const amount = this.free;
    this.free = 0n;
    return [new SpendRelease(this.lease, amount)];
  }

  /** Whether nothing was taken since the last time that this was asked. */
  wasIdleSince(): boolean {
    const wasIdle = !this.wasUsed;
    this.wasUsed = false;
    return wasIdle;
  }

  private hand(amount: PicoUsd): void {
    this.free -= amount;
    this.held += amount;
  }

  /** In the order in which they came; one that does not fit keeps those behind it from nothing. */
  private serveWaiting(): void {
    // grow() sends them away.
    if (this.waiting.length === 0 || !this.isUsable) return;
    this.waiting = this.waiting.filter(({ amount, resolve }) => {
      if (this.free < amount) return true;
      this.hand(amount);
      resolve(true);
      return false;
    });
  }

  private refuse(isRefused: (waiting: Waiting) => boolean, reasonOf: (waiting: Waiting) => AppError): void {
    const all = this.waiting;
    this.waiting = all.filter((waiting) => !isRefused(waiting));
    for (const waiting of all) if (isRefused(waiting)) waiting.reject(reasonOf(waiting));
  }

  /** One at a time asks the database for all that wait, first come first served. */
  private async grow(): Promise<void> {
    this.isGrowing = true;
    let pause = FIRST_PAUSE;
    try {
      for (let first = this.waiting[0]; first; first = this.waiting[0]) {
        if (!this.isUsable) {
          for (const { resolve } of this.waiting.splice(0)) resolve(false);
          return;
        }
        const grant = await this.ask(this.waiting);
        if (!grant) continue;
        const { unspent, available } = grant;
        if (grant.granted > 0n || this.waiting[0] !== first || !this.isUsable) {
          pause = FIRST_PAUSE;
        } else if (unspent < first.amount) {
          this.refuse(
            ({ amount }) => amount > unspent,
            ({ amount }) => this.insufficient(unspent, amount),
          );
        } else {
          // The first has to wait for what others have reserved; those behind it may fit what is left.
          const fitting = this.fitting(available);
          if (fitting.length > 0) await this.ask(fitting);
          const now = performance.now();
          this.refuse(
            ({ deadline }) => now >= deadline,
            () => new ReservedElsewhere(),
          );
          if (this.waiting[0] !== first) continue;
          // Again and again: others may have taken more since than they came to need.
          if (pause === FIRST_PAUSE || pause === LONGEST_PAUSE) {
            await this.ledger.sweepExpired();
            await this.ledger.recall(this.lease.holder);
          }
          await this.rest(pause);
          pause = Math.min(pause * 2, LONGEST_PAUSE);
        }
      }
    } catch (error) {
      for (const { reject } of this.waiting.splice(0)) reject(error);
    } finally {
      this.isGrowing = false;
    }
  }

  /**
   * Asks for enough to serve the first of some that wait, and all of them where there is so much, and serves who can be
   * served. Null: other limits came during the statement; what it granted was given back.
   */
  private async ask(waiting: readonly Waiting[]): Promise<LeaseGrant | null> {
    const { caps } = this;
    const [first] = waiting;
    const grant = await this.ledger.acquire(this.lease, {
      needed: (first?.amount ?? 0n) - this.free,
      wanted: waiting.reduce((sum, { amount }) => sum + amount, 0n) - this.free,
      isHeld: this.isHeld,
    });
    const { granted } = grant;
    if (!this.isUnder(caps)) {
      // What it granted, and what it found unspent, may be of the old ones.
      if (granted > 0n) await this.ledger.giveBack([new SpendRelease(this.lease, granted)]);
      return null;
    }
    // The database's own limits are others than at the last statement, and no notification has told this process so far:
    // what is free here was granted under the old ones.
    if (this.grantedUnder && !areSame(grant.caps, this.grantedUnder))
      await this.ledger.giveBack(this.takeUnused());
    this.grantedUnder = grant.caps;
    this.free += granted;
    this.serveWaiting();
    return grant;
  }

  /** Those that what is free here and in the database suffices for, first come first served. */
  private fitting(available: PicoUsd): readonly Waiting[] {
    let room = this.free + available;
    return this.waiting.filter(({ amount }) => {
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
    const limits = (this.grantedUnder ?? this.caps)
      .map(({ window, limit }) => `${window === 'total' ? '' : `${window} `}limit of ${formatUsd(limit)} USD`)
      .join(', ');
    switch (this.lease.holder.kind) {
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
function areSame(some: readonly SpendCap[], others: readonly SpendCap[]): boolean {
  return (
    some.length === others.length &&
    some.every((cap) => others.some((other) => isDeepStrictEqual(cap, other)))
  );
}
