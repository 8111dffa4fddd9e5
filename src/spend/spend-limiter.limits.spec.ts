// Limits, budgets and credits that change while calls reserve: amounts granted under old limits are never spent.
import { setImmediate as asFarAsItGoes } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { CountingLedger } from '../../test/support/routing/counting-ledger.js';
import { boundOf, createSpendLimiter, keyWithLimit } from '../../test/support/routing/spend-limiter.js';
import type { LimiterSetup } from '../../test/support/routing/spend-limiter.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import type { Reservation } from './spend-limiter.js';
import { SPEND_POLICY_CHANNEL } from './spend-policy-cache.js';

const COST = 10n;
const LIMIT = 100_000n;

let ledger: CountingLedger;
let setup: LimiterSetup;
beforeEach(() => {
  ledger = new CountingLedger();
  setup = createSpendLimiter(ledger);
});

const reserve = (key: ApiKey, cost = COST, timeout?: number): Promise<Reservation> =>
  setup.limiter.reserve(
    { key, guardrails: null },
    { quick: () => boundOf(cost), exact: () => Promise.resolve(boundOf(cost)) },
    timeout,
  );

/** The log has recorded the call. */
function settle(reservation: Reservation): void {
  for (const release of reservation.releases) {
    release.handOver();
    ledger.reserved -= release.amount;
    ledger.total += release.amount;
  }
  reservation.close();
}

const call = async (key: ApiKey, cost = COST): Promise<void> => settle(await reserve(key, cost));

const refusedByKey = { code: 'key_limit_exceeded' };
const refusedByAccount = { code: 'insufficient_credits' };

describe('a lowered limit', () => {
  it('leaves nothing of the old one to spend while a lease is being acquired', async () => {
    let unlock = (): void => undefined;
    ledger.lock = new Promise((resolve) => {
      unlock = resolve;
    });
    const before = reserve(keyWithLimit(LIMIT));
    await asFarAsItGoes();
    expect(ledger.statements).toBe(1);
    ledger.limit = 0n;
    const lowered = keyWithLimit(0n);
    const after = reserve(lowered);
    const ends = Promise.allSettled([before, after]);
    await asFarAsItGoes();
    unlock();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(reserve(lowered)).rejects.toMatchObject(refusedByKey);
    expect(ledger.reserved).toBe(0n);
  });

  it('leaves nothing to spend of an amount that was reserved before and is released', async () => {
    const before = await reserve(keyWithLimit(LIMIT));
    ledger.limit = 0n;
    const lowered = keyWithLimit(0n);
    await expect(reserve(lowered)).rejects.toMatchObject(refusedByKey);
    before.close();
    await expect(reserve(lowered)).rejects.toMatchObject(refusedByKey);
    expect(ledger.reserved).toBe(0n);
  });
});

describe('a limit that is removed and restored', () => {
  it.each([
    ['by the process that held a lease', async () => call(keyWithLimit(null))],
    ['by others', async () => {}],
  ])('is not spent again, even after spending in between %s', async (_who, spend) => {
    await call(keyWithLimit(LIMIT));
    await spend();
    ledger.total = LIMIT;
    await expect(reserve(keyWithLimit(LIMIT))).rejects.toMatchObject(refusedByKey);
    expect(ledger.reserved).toBe(0n);
  });

  it('acquires no new lease while the key is the same', async () => {
    const key = keyWithLimit(LIMIT);
    for (let count = 0; count < 5; count++) await call(key);
    expect(ledger.statements).toBe(1);
  });
});

describe('credits that are removed and restored', () => {
  const key = keyWithLimit(null);
  const credits = { budgets: [], credits: LIMIT };
  beforeEach(async () => {
    setup.setPolicy(credits);
    await call(key);
    ledger.total = LIMIT;
  });

  it('are not spent again', async () => {
    setup.notify(SPEND_POLICY_CHANNEL, 'another-account');
    await call(key);
    setup.notify(SPEND_POLICY_CHANNEL, 'account-1');
    setup.setPolicy({ ...credits });
    await expect(reserve(key)).rejects.toMatchObject(refusedByAccount);
    expect(ledger.reserved).toBe(0n);
  });

  it('are not spent again even without a notification', async () => {
    setup.reconnect();
    setup.setPolicy({ ...credits });
    await expect(reserve(key)).rejects.toMatchObject(refusedByAccount);
  });
});

describe('a call that costs nothing', () => {
  it('does not wait behind one that waits for money', async () => {
    const key = keyWithLimit(LIMIT);
    ledger.reserved = LIMIT - COST;
    const waiting = reserve(key, COST * 2n);
    await expect(call(key, 0n)).resolves.toBeUndefined();
    ledger.reserved = 0n;
    settle(await waiting);
  });

  it('is served under a limit below the spend, beside a call that is rejected', async () => {
    ledger.total = LIMIT;
    ledger.limit = COST;
    const key = keyWithLimit(COST);
    const paid = reserve(key);
    const free = call(key, 0n);
    await expect(paid).rejects.toMatchObject(refusedByKey);
    await expect(free).resolves.toBeUndefined();
  });
});

describe('a call that must not wait', () => {
  it('is rejected at once when the remainder is reserved, without a request for release', async () => {
    ledger.reserved = LIMIT;
    await expect(reserve(keyWithLimit(LIMIT), COST, 0)).rejects.toMatchObject({ code: 'unavailable' });
    expect(ledger.releaseRequests).toBe(0);
  });
});
