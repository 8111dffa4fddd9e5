// Leases of a process: the calls that they serve, and the return of unused parts.
import { setImmediate as asFarAsItGoes } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CountingLedger } from '../../test/support/routing/counting-ledger.js';
import { boundOf, createSpendLimiter, keyWithLimit } from '../../test/support/routing/spend-limiter.js';
import type { LimiterSetup } from '../../test/support/routing/spend-limiter.js';
import type { SpendLease } from '../domain/spend/spend-lease.js';
import { RELEASE_REQUEST_CHANNEL } from '../persistence/spend/spend-ledger.js';
import type { Reservation } from './spend-limiter.js';

const COST = 10n;
const LIMIT = 100_000n;
/** The ledger's first grant. */
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
    { key: KEY, guardrails: null },
    { quick: () => boundOf(cost), exact: () => Promise.resolve(boundOf(cost)) },
    timeout,
  );

const leaseOf = ({ releases: [release] }: Reservation): SpendLease => release!.lease;

describe('the cost of a call with an own provider key', () => {
  const own = { cost: 0n, costWithByok: COST };
  const reserved = async (key = keyWithLimit(null)): Promise<bigint[]> => {
    const { releases } = await setup.limiter.reserve(
      { key, guardrails: null },
      {
        quick: () => own,
        exact: () => Promise.resolve(own),
      },
    );
    return releases.map(({ amount }) => amount);
  };
  const budgets = (includeByok: boolean) => [{ window: 'daily', limit: LIMIT, includeByok }] as const;

  it('takes no credits, even when the credits are used up', async () => {
    setup.setPolicy({ budgets: [], credits: 0n });
    expect(await reserved()).toEqual([]);
    expect(ledger.statements).toBe(0);
  });

  it('is reserved from budgets that count it, and from no others', async () => {
    setup.setPolicy({ budgets: budgets(true), credits: LIMIT });
    expect(await reserved()).toEqual([COST]);
    setup.setPolicy({ budgets: budgets(false), credits: LIMIT });
    expect(await reserved()).toEqual([]);
  });

  it('is reserved from a limit that counts it, and from no other', async () => {
    expect(await reserved({ ...KEY, includeByokInLimit: true })).toEqual([COST]);
    expect(await reserved({ ...KEY, includeByokInLimit: false })).toEqual([]);
  });
});

describe('an invalid lease', () => {
  it('serves no waiting call when another one releases its amount', async () => {
    const before = await reserve(LIMIT);
    const waiting = reserve(LIMIT);
    await asFarAsItGoes();
    leaseOf(before).invalidate();
    before.close();
    // The database has swept it.
    ledger.reserved = 0n;
    expect(leaseOf(await waiting)).not.toBe(leaseOf(before));
  });

  it('rejects no call that another lease can serve, even without a wait', async () => {
    const before = await reserve(LIMIT / 2n);
    jest.spyOn(ledger, 'acquire').mockImplementationOnce((lease) => {
      lease.invalidate();
      return Promise.resolve({ granted: 0n, available: LIMIT, unspent: LIMIT, limits: [] });
    });
    const exact = jest.fn(() => Promise.resolve(boundOf(COST)));
    const after = await setup.limiter.reserve(
      { key: KEY, guardrails: null },
      { quick: () => boundOf(LIMIT / 2n), exact },
    );
    expect(leaseOf(after)).not.toBe(leaseOf(before));
    expect(exact).not.toHaveBeenCalled();
  });

  it('returns its unused part at the next heartbeat, even right after use', async () => {
    leaseOf(await reserve()).invalidate();
    expect(ledger.reserved).toBe(SHARE);
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(COST);
  });
});

describe('a call that fits the remainder', () => {
  it('is served behind one that does not fit, which alone is rejected', async () => {
    // Calls that know the key already are not overtaken by later ones.
    await reserve(0n);
    const dear = reserve(LIMIT + 1n);
    const exact = jest.fn(() => Promise.resolve(boundOf(COST)));
    const fitting = setup.limiter.reserve(
      { key: KEY, guardrails: null },
      { quick: () => boundOf(LIMIT), exact },
    );
    await expect(dear).rejects.toMatchObject({ code: 'key_limit_exceeded' });
    expect((await fitting).releases).toMatchObject([{ amount: LIMIT }]);
    expect(exact).not.toHaveBeenCalled();
  });

  it('waits for reservations of others when it needs the last bit', async () => {
    ledger.reserved = 1n;
    await expect(reserve(LIMIT, 0)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a small call', () => {
  it('is served while a large one of the same key waits for what others have reserved', async () => {
    ledger.reserved = 1n;
    const large = reserve(LIMIT);
    await asFarAsItGoes();
    // From the remainder in the database, and then from the amount that an earlier call released.
    const small = await reserve(COST);
    small.close();
    (await reserve(COST)).close();
    await setup.limiter.onApplicationShutdown();
    ledger.reserved = 0n;
    expect((await large).releases).toMatchObject([{ amount: LIMIT }]);
  });

  it('is served before a simultaneous large one when only it fits', async () => {
    ledger.reserved = LIMIT - COST;
    const [large, small] = [reserve(LIMIT, 0), reserve(COST)];
    await expect(large).rejects.toMatchObject({ code: 'unavailable' });
    expect((await small).releases).toMatchObject([{ amount: COST }]);
  });

  it('does not take the amount that an earlier large call waits for', async () => {
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
    const of = ({ owner }: SpendLease) => (owner.kind === 'account' ? credits : ledger);
    const limiter = createSpendLimiter({
      acquire: (lease, options) => of(lease).acquire(lease, options),
      release: async (releases) => {
        for (const release of releases) await of(release.lease).release([release]);
      },
      renew: () => Promise.resolve(),
      sweepExpired: () => Promise.resolve(),
      sweepPredecessors: () => Promise.resolve(),
      requestRelease: () => Promise.resolve(),
    });
    limiter.setPolicy({ budgets: [], credits: LIMIT });
    const call = (cost: bigint) =>
      limiter.limiter.reserve(
        { key: KEY, guardrails: null },
        {
          quick: () => boundOf(cost),
          exact: () => Promise.resolve(boundOf(cost)),
        },
      );
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
    await expect(reserve(LIMIT)).rejects.toMatchObject({ code: 'key_limit_exceeded' });
    await setup.limiter.onApplicationShutdown();
    expect(ledger.reserved).toBe(0n);
  });
});

describe('the available part of a lease', () => {
  it('is renewed while calls arrive, though none holds anything', async () => {
    const reservation = await reserve();
    reservation.close();
    await setup.limiter.heartbeat();
    expect(ledger.renewed).toEqual([leaseOf(reservation)]);
  });

  it('counts as held when more is requested: a lease that the database has swept must not be created again', async () => {
    (await reserve()).close();
    const acquire = jest.spyOn(ledger, 'acquire');
    await reserve(LIMIT);
    expect(acquire.mock.lastCall?.[1]).toMatchObject({ hasBudget: true, needed: LIMIT - SHARE });
  });

  it('is returned when another process requests it, without reserved parts', async () => {
    await reserve();
    setup.notify(RELEASE_REQUEST_CHANNEL, 'another-key');
    expect(ledger.reserved).toBe(SHARE);
    setup.notify(RELEASE_REQUEST_CHANNEL, KEY.id);
    expect(ledger.reserved).toBe(COST);
  });

  it('is returned when the process ends', async () => {
    await reserve();
    await setup.limiter.onApplicationShutdown();
    expect(ledger.reserved).toBe(COST);
  });

  it('is returned as soon as the policy changes, and is not spent under the new one', async () => {
    const key = keyWithLimit(null);
    const call = () =>
      setup.limiter.reserve(
        { key, guardrails: null },
        { quick: () => boundOf(COST), exact: () => Promise.resolve(boundOf(COST)) },
      );
    setup.setPolicy({ budgets: [], credits: LIMIT });
    (await call()).close();
    // No notification has arrived.
    setup.setPolicy({ budgets: [], credits: 0n });
    ledger.limit = 0n;
    await expect(call()).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(ledger.reserved).toBe(0n);
  });

  it('is returned after a heartbeat interval without calls, and the lease is dropped', async () => {
    const before = await reserve();
    before.close();
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(SHARE);
    await setup.limiter.heartbeat();
    expect(ledger.reserved).toBe(0n);
    expect(leaseOf(await reserve())).not.toBe(leaseOf(before));
  });
});
