// Reserved money after calls end, however they end.
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { boundOf, createSpendLimiter, keyWithLimit } from '../../test/support/routing/spend-limiter.js';
import { AppError } from '../domain/errors.js';
import type { SpendRelease } from '../domain/spend/spend-limit.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import type { Reservation, SpendLimiter } from './spend-limiter.js';

const KEY = keyWithLimit(100n);
const COST = 7n;

/** Grants any amount that is not reserved elsewhere, and records its requests. */
class FakeLedger {
  readonly acquired: SpendLease[] = [];
  readonly releaseRequested: unknown[] = [];
  /** Reserved by other processes, until it was requested back this often. */
  reservedByOthers = 0n;
  releaseRequestsNeeded = 1;
  failure: Error | null = null;
  readonly released: SpendRelease[] = [];
  renewed: readonly SpendLease[] = [];

  acquire(lease: SpendLease, { needed }: { readonly needed: bigint }) {
    if (this.failure) return Promise.reject(this.failure);
    this.acquired.push(lease);
    const granted = needed > 100n - this.reservedByOthers ? 0n : needed;
    const available = 100n - this.reservedByOthers;
    return Promise.resolve({ granted, available, unspent: 100n, limits: [] });
  }

  release(releases: readonly SpendRelease[]) {
    this.released.push(...releases);
    return Promise.resolve();
  }

  renew(leases: readonly SpendLease[]) {
    this.renewed = leases;
    return Promise.resolve();
  }

  sweepExpired() {
    return Promise.resolve();
  }

  sweepPredecessors() {
    return Promise.resolve();
  }

  requestRelease(owner: unknown) {
    this.releaseRequested.push(owner);
    if (this.releaseRequested.length >= this.releaseRequestsNeeded) this.reservedByOthers = 0n;
    return Promise.resolve();
  }
}

let ledger: FakeLedger;
let limiter: SpendLimiter;
beforeEach(() => {
  ledger = new FakeLedger();
  ({ limiter } = createSpendLimiter(ledger));
});

async function reserve(): Promise<Reservation & { readonly lease: SpendLease }> {
  const bound = boundOf(COST);
  const reservation = await limiter.reserve(
    { key: KEY, guardrails: null },
    { quick: () => bound, exact: () => Promise.resolve(bound) },
  );
  const [release] = reservation.releases;
  if (!release) throw new Error('nothing is reserved');
  expect(release.amount).toBe(COST);
  return { ...reservation, lease: release.lease };
}

describe('a reserved amount', () => {
  it('serves another call when its own was never settled', async () => {
    (await reserve()).close();
    const second = await reserve();
    expect(ledger.acquired).toHaveLength(1);
    second.close();
    await limiter.heartbeat();
    await limiter.heartbeat();
    expect(ledger.released.map(({ amount }) => amount)).toEqual([COST]);
  });

  it('is gone when its settlement was sent', async () => {
    const first = await reserve();
    for (const release of first.releases) release.handOver();
    first.close();
    await reserve();
    expect(ledger.acquired).toHaveLength(2);
    expect(new Set(ledger.acquired).size).toBe(1);
  });
});

describe('an invalidated lease', () => {
  it('serves no other call, and is renewed only while calls hold parts of it', async () => {
    const [first, second] = [await reserve(), await reserve()];
    expect(first.lease).toBe(second.lease);
    for (const release of first.releases) release.handOver();
    first.lease.invalidate();
    first.close();

    const third = await reserve();
    expect(third.lease).not.toBe(first.lease);
    await limiter.heartbeat();
    expect(new Set(ledger.renewed)).toEqual(new Set([first.lease, third.lease]));

    second.close();
    await reserve();
    await limiter.heartbeat();
    expect(ledger.renewed).toEqual([third.lease]);
    // The second call was never settled: its amount is known to be unspent.
    expect(ledger.released).toEqual([expect.objectContaining({ lease: first.lease, amount: COST })]);
  });

  it('is found by the heartbeat as well', async () => {
    const first = await reserve();
    first.lease.invalidate();
    await limiter.heartbeat();
    expect(ledger.renewed).toEqual([first.lease]);
    first.close();
    await limiter.heartbeat();
    expect(ledger.renewed).toEqual([]);
  });
});

describe('a quick bound that does not fit', () => {
  /** The reserved amount of a key, and how often tokens were counted for it. */
  async function amountOf(quick: bigint, exact: bigint): Promise<{ amount: bigint; counts: number }> {
    let counts = 0;
    const { releases } = await limiter.reserve(
      { key: KEY, guardrails: null },
      {
        quick: () => boundOf(quick),
        exact: () => {
          counts++;
          return Promise.resolve(boundOf(exact));
        },
      },
    );
    return { amount: releases.reduce((sum, release) => sum + release.amount, 0n), counts };
  }

  it('is counted at once when the remainder is reserved by processes that need not be waited for', async () => {
    ledger.reservedByOthers = 90n;
    expect(await amountOf(50n, 10n)).toEqual({ amount: 10n, counts: 1 });
    expect(ledger.releaseRequested).toEqual([]);
  });

  it('waits with its exact bound, together with calls that arrive later', async () => {
    ledger.reservedByOthers = 90n;
    const amounts = await Promise.all([amountOf(50n, 40n), amountOf(50n, 30n), amountOf(50n, 10n)]);
    expect(amounts.map(({ amount }) => amount)).toEqual([40n, 30n, 10n]);
    expect(ledger.releaseRequested).toHaveLength(1);
  });

  it('requests a release again, since other processes may have reserved more', async () => {
    ledger.reservedByOthers = 90n;
    ledger.releaseRequestsNeeded = 2;
    expect(await amountOf(50n, 40n)).toEqual({ amount: 40n, counts: 1 });
  });

  it('is not counted when it fits, nor when the database is unreachable', async () => {
    expect(await amountOf(50n, 10n)).toEqual({ amount: 50n, counts: 0 });
    ledger.failure = new AppError('unavailable');
    const exact = jest.fn(() => Promise.resolve(boundOf(1n)));
    const reservation = limiter.reserve({ key: KEY, guardrails: null }, { quick: () => boundOf(60n), exact });
    await expect(reservation).rejects.toBe(ledger.failure);
    expect(exact).not.toHaveBeenCalled();
  });
});
