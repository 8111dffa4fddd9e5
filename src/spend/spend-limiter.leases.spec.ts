// What a process holds of a counter: who may be served from it, and when what nobody needs goes back.
import { setImmediate as asFarAsItGoes } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CountingLedger } from '../../test/support/counting-ledger.js';
import { boundOf, createSpendLimiter, keyWithLimit } from '../../test/support/spend-limiter.js';
import type { LimiterSetup } from '../../test/support/spend-limiter.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import { RELEASE_REQUEST_CHANNEL } from '../persistence/spend/spend-ledger.js';
import type { Reservation } from './spend-limiter.js';

const COST = 10n;
const LIMIT = 100_000n;
/** What the ledger grants at first. */
const SHARE = LIMIT / 50n;
const KEY = keyWithLimit(LIMIT);

let ledger: CountingLedger;
let setup: LimiterSetup;
beforeEach(() => {
  ledger = new CountingLedger();
  setup = createSpendLimiter(ledger);
});

const reserve = (cost = COST, timeout?: number): Promise<Reservation> =>
  setup.limiter.reserve(
    KEY,
    { quick: () => boundOf(cost), exact: () => Promise.resolve(boundOf(cost)) },
    timeout,
  );

const leaseOf = ({ releases: [release] }: Reservation): SpendLease => release!.lease;

describe('what own provider keys cost', () => {
  const own = { cost: 0n, costWithByok: COST };
  const reserved = async (key = keyWithLimit(null)): Promise<bigint[]> => {
    const { releases } = await setup.limiter.reserve(key, {
      quick: () => own,
      exact: () => Promise.resolve(own),
    });
    return releases.map(({ amount }) => amount);
  };
  const budgets = (includeByok: boolean) => [{ window: 'daily', limit: LIMIT, includeByok }] as const;

  it('takes nothing of credits, even of credits that are used up', async () => {
    setup.setPolicy({ budgets: [], credits: 0n });
    expect(await reserved()).toEqual([]);
    expect(ledger.asked).toBe(0);
  });

  it('is reserved of budgets that count it, and of no others', async () => {
    setup.setPolicy({ budgets: budgets(true), credits: LIMIT });
    expect(await reserved()).toEqual([COST]);
    setup.setPolicy({ budgets: budgets(false), credits: LIMIT });
    expect(await reserved()).toEqual([]);
  });

  it('is reserved of a limit that counts it, and of no other', async () => {
    expect(await reserved({ ...KEY, includeByokInLimit: true })).toEqual([COST]);
    expect(await reserved({ ...KEY, includeByokInLimit: false })).toEqual([]);
  });
});

describe('a lease that cannot be trusted any more', () => {
  it('serves nobody who waits, when a call puts back what it held', async () => {
    const before = await reserve(LIMIT);
    const waiting = reserve(LIMIT);
    await asFarAsItGoes();
    leaseOf(before).invalidate();
    before.close();
    // The database has swept it.
    ledger.reserved = 0n;
    expect(leaseOf(await waiting)).not.toBe(leaseOf(before));
  });

  it('sends nobody away whom another lease can serve, however little patience there is', async () => {
    const before = await reserve(LIMIT / 2n);
    jest.spyOn(ledger, 'acquire').mockImplementationOnce((lease) => {
      lease.invalidate();
      return Promise.resolve({ granted: 0n, available: LIMIT, unspent: LIMIT, limits: [] });
    });
    const exact = jest.fn(() => Promise.resolve(boundOf(COST)));
    const after = await setup.limiter.reserve(KEY, { quick: () => boundOf(LIMIT / 2n), exact });
    expect(leaseOf(after)).not.toBe(leaseOf(before));
    expect(exact).not.toHaveBeenCalled();
  });

  it('gives back at the next beat what no call holds, even of one that was used just now', async () => {
    leaseOf(await reserve()).invalidate();
    expect(ledger.reserved).toBe(SHARE);
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(COST);
  });
});

describe('a call that fits what is left', () => {
  it('is served behind one that does not, which alone is refused', async () => {
    // Who knows a key already is not overtaken by those who come after.
    await reserve(0n);
    const dear = reserve(LIMIT + 1n);
    const exact = jest.fn(() => Promise.resolve(boundOf(COST)));
    const fitting = setup.limiter.reserve(KEY, { quick: () => boundOf(LIMIT), exact });
    await expect(dear).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect((await fitting).releases).toMatchObject([{ amount: LIMIT }]);
    expect(exact).not.toHaveBeenCalled();
  });

  it('to the last bit waits for what others have reserved', async () => {
    ledger.reserved = 1n;
    await expect(reserve(LIMIT, 0)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a small call', () => {
  it('is served while a large one of the same key waits for what others have reserved', async () => {
    ledger.reserved = 1n;
    const large = reserve(LIMIT);
    await asFarAsItGoes();
    // From what is left in the database, and then from what an earlier call has put back.
    const small = await reserve(COST);
    small.close();
    (await reserve(COST)).close();
    await setup.limiter.onApplicationShutdown();
    ledger.reserved = 0n;
    expect((await large).releases).toMatchObject([{ amount: LIMIT }]);
  });

  it('that comes together with a large one is served first where only it fits', async () => {
    ledger.reserved = LIMIT - COST;
    const [large, small] = [reserve(LIMIT, 0), reserve(COST)];
    await expect(large).rejects.toMatchObject({ code: 'unavailable' });
    expect((await small).releases).toMatchObject([{ amount: COST }]);
  });

  it('leaves a large one what it waits for, once that is there, before calls that come later', async () => {
    ledger.reserved = LIMIT;
    const large = reserve(LIMIT);
    await asFarAsItGoes();
    ledger.reserved = 0n;
    const small = reserve(COST, 0);
    expect((await large).releases).toMatchObject([{ amount: LIMIT }]);
    await expect(small).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is served while a large one of the same key waits for the credits of the account', async () => {
    const credits = new CountingLedger();
    credits.reserved = LIMIT - COST;
    const of = ({ owner: holder }: SpendLease) => (holder.kind === 'account' ? credits : ledger);
    const limiter = createSpendLimiter({
      acquire: (lease, options) => of(lease).acquire(lease, options),
      release: async (releases) => {
        for (const release of releases) await of(release.lease).release([release]);
      },
      renew: () => Promise.resolve(),
      sweepExpired: () => Promise.resolve(),
      requestRelease: () => Promise.resolve(),
    });
    limiter.setPolicy({ budgets: [], credits: LIMIT });
    const call = (cost: bigint) =>
      limiter.limiter.reserve(KEY, {
        quick: () => boundOf(cost),
        exact: () => Promise.resolve(boundOf(cost)),
      });
    const large = call(LIMIT);
    await asFarAsItGoes();
    const small = await call(COST);
    expect(small.releases.map(({ amount }) => amount)).toEqual([COST, COST]);
    small.close();
    credits.reserved -= LIMIT - COST;
    expect((await large).releases.map(({ amount }) => amount)).toEqual([LIMIT, LIMIT]);
  });
});

describe('a call that one owner rejects', () => {
  it('leaves nothing reserved of another', async () => {
    ledger.limit = 0n;
    setup.setPolicy({ budgets: [], credits: 0n });
    await expect(reserve(LIMIT)).rejects.toMatchObject({ code: 'insufficient_credits' });
    await setup.limiter.onApplicationShutdown();
    expect(ledger.reserved).toBe(0n);
  });
});

describe('what is free of a lease', () => {
  it('is renewed while calls come, though none holds anything', async () => {
    const reservation = await reserve();
    reservation.close();
    await setup.limiter.heartbeat();
    expect(ledger.renewed).toEqual([leaseOf(reservation)]);
  });

  it('is held when more is asked for: a lease that the database has swept must not be made anew', async () => {
    (await reserve()).close();
    const acquire = jest.spyOn(ledger, 'acquire');
    await reserve(LIMIT);
    expect(acquire.mock.lastCall?.[1]).toMatchObject({ hasBudget: true, needed: LIMIT - SHARE });
  });

  it('goes back when others ask for it, and what a call holds does not', async () => {
    await reserve();
    setup.notify(RELEASE_REQUEST_CHANNEL, 'another-key');
    expect(ledger.reserved).toBe(SHARE);
    setup.notify(RELEASE_REQUEST_CHANNEL, KEY.id);
    expect(ledger.reserved).toBe(COST);
  });

  it('goes back when the process ends', async () => {
    await reserve();
    await setup.limiter.onApplicationShutdown();
    expect(ledger.reserved).toBe(COST);
  });

  it('goes back as soon as the terms are others, and is not spent under them', async () => {
    const key = keyWithLimit(null);
    const call = () =>
      setup.limiter.reserve(key, { quick: () => boundOf(COST), exact: () => Promise.resolve(boundOf(COST)) });
    setup.setPolicy({ budgets: [], credits: LIMIT });
    (await call()).close();
    // Nobody has told the gate.
    setup.setPolicy({ budgets: [], credits: 0n });
    ledger.limit = 0n;
    await expect(call()).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(ledger.reserved).toBe(0n);
  });

  it('goes back after a beat without calls, and the lease is forgotten with it', async () => {
    const before = await reserve();
    before.close();
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(SHARE);
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(0n);
    expect(leaseOf(await reserve())).not.toBe(leaseOf(before));
  });
});
