// What becomes of the money that calls have reserved, whatever becomes of the calls.
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiKey } from '../domain/api-key.js';
import type { SpendRelease } from '../domain/spend-cap.js';
import type { SpendLease } from '../domain/spend-lease.js';
import type { Notifications } from '../persistence/notifications.js';
import type { SpendLedger } from '../persistence/spend-ledger.js';
import { SpendGate } from './spend-gate.js';
import type { Reservation } from './spend-gate.js';
import type { SpendTermsCache } from './spend-terms-cache.js';

const KEY = {
  id: 'key-1',
  workspaceId: 'workspace-1',
  accountId: 'account-1',
  limit: 100n,
  limitReset: null,
  includeByokInLimit: false,
} as Partial<ApiKey> as ApiKey;
const COST = 7n;

/** Grants whatever is needed, and keeps what it was asked. */
class FakeLedger {
  readonly acquired: SpendLease[] = [];
  readonly givenBack: SpendRelease[] = [];
  renewed: readonly SpendLease[] = [];

  acquire(lease: SpendLease, _caps: unknown, { needed }: { readonly needed: bigint }) {
    this.acquired.push(lease);
    return Promise.resolve({ granted: needed, unspent: 100n });
  }

  giveBack(releases: readonly SpendRelease[]) {
    this.givenBack.push(...releases);
    return Promise.resolve();
  }

  renew(leases: readonly SpendLease[]) {
    this.renewed = leases;
    return Promise.resolve();
  }

  sweepExpired() {
    return Promise.resolve();
  }
}

let ledger: FakeLedger;
let gate: SpendGate;
beforeEach(() => {
  ledger = new FakeLedger();
  const terms = { find: () => ({ budgets: [], credits: null }) } as Partial<SpendTermsCache>;
  const notifications = { subscribe: () => undefined } as Partial<Notifications>;
  gate = new SpendGate(
    ledger as Partial<SpendLedger> as SpendLedger,
    terms as SpendTermsCache,
    notifications as Notifications,
  );
});

async function reserve(): Promise<Reservation & { readonly lease: SpendLease }> {
  const bound = { cost: COST, costWithByok: COST };
  const reservation = await gate.reserve(KEY, { quick: () => bound, exact: () => Promise.resolve(bound) });
  const [release] = reservation.releases;
  if (!release) throw new Error('nothing is reserved');
  expect(release.amount).toBe(COST);
  return { ...reservation, lease: release.lease };
}

describe('what a call held', () => {
  it('can serve another when the call never came to its settlement', async () => {
    (await reserve()).settled();
    const second = await reserve();
    expect(ledger.acquired).toHaveLength(1);
    second.settled();
    await gate.beat();
    await gate.beat();
    expect(ledger.givenBack.map(({ amount }) => amount)).toEqual([COST]);
  });

  it('is gone when its settlement was sent', async () => {
    const first = await reserve();
    for (const release of first.releases) release.handOver();
    first.settled();
    await reserve();
    expect(ledger.acquired).toHaveLength(2);
    expect(new Set(ledger.acquired).size).toBe(1);
  });
});

describe('a lease in doubt', () => {
  it('serves no other call, and is renewed only while calls hold parts of it', async () => {
    const [first, second] = [await reserve(), await reserve()];
    expect(first.lease).toBe(second.lease);
    for (const release of first.releases) release.handOver();
    first.lease.doubt();
    first.settled();

    const third = await reserve();
    expect(third.lease).not.toBe(first.lease);
    await gate.beat();
    expect(new Set(ledger.renewed)).toEqual(new Set([first.lease, third.lease]));

    second.settled();
    await reserve();
    await gate.beat();
    expect(ledger.renewed).toEqual([third.lease]);
    // The second call never came to its settlement: what it held is known to be there.
    expect(ledger.givenBack).toEqual([expect.objectContaining({ lease: first.lease, amount: COST })]);
  });

  it('is found by the beat as well', async () => {
    const first = await reserve();
    first.lease.doubt();
    await gate.beat();
    expect(ledger.renewed).toEqual([first.lease]);
    first.settled();
    await gate.beat();
    expect(ledger.renewed).toEqual([]);
  });
});
