// Several reservations of one call, settled together.
import { describe, expect, it } from '@jest/globals';
import { boundOf, keyWithLimit } from '../../test/support/routing/spend-limiter.js';
import { AppError } from '../domain/errors.js';
import { SpendRelease } from '../domain/spend/spend-limit.js';
import type { SpendBound } from '../domain/spend/spend-limit.js';
import { SpendLease } from '../domain/spend/spend-lease.js';
import { CallSpend } from './call-spend.js';
import type { Reservation, SpendBounds } from './spend-limiter.js';

const KEY = keyWithLimit(100n);
const lease = new SpendLease({ kind: 'key', id: KEY.id, workspaceId: KEY.workspaceId });
const bounds = (cost: bigint): SpendBounds => ({
  quick: () => boundOf(cost),
  exact: () => Promise.resolve(boundOf(cost)),
});

interface TestReservation extends Reservation {
  isClosed: boolean;
}

function reservation(bound: SpendBound | null): TestReservation {
  const releases = bound === null ? [] : [new SpendRelease(lease, bound.cost)];
  return {
    bound,
    releases,
    isClosed: false,
    close() {
      this.isClosed = true;
    },
  };
}

/** Each reservation of the call has the next of these outcomes. */
function spendWith(...outcomes: readonly (TestReservation | Error)[]) {
  const left = [...outcomes];
  const waits: (number | undefined)[] = [];
  const spend = new CallSpend(
    {
      reserve: (_caller, _bounds, maxWait) => {
        waits.push(maxWait);
        const outcome = left.shift();
        return outcome instanceof Error || !outcome ? Promise.reject(outcome) : Promise.resolve(outcome);
      },
    },
    { key: KEY, guardrails: null },
  );
  return { spend, waits };
}

describe('CallSpend', () => {
  it('sums the bounds and collects the releases of its reservations', async () => {
    const { spend } = spendWith(
      reservation({ cost: 3n, costWithByok: 5n }),
      reservation({ cost: 4n, costWithByok: 4n }),
    );
    await spend.reserve(bounds(3n));
    await spend.reserve(bounds(4n));
    expect(spend.bound).toEqual({ cost: 7n, costWithByok: 9n });
    expect(spend.releases.map(({ amount }) => amount)).toEqual([3n, 4n]);
  });

  it('has a bound of 0 before it reserves, and none where no limit applies', async () => {
    const { spend } = spendWith(reservation(null));
    expect(spend.bound).toEqual({ cost: 0n, costWithByok: 0n });
    await spend.reserve(bounds(3n));
    expect(spend.bound).toBeNull();
    expect(spend.releases).toEqual([]);
  });

  it('waits for reserved money in reserve() only', async () => {
    const { spend, waits } = spendWith(reservation(boundOf(1n)), reservation(boundOf(1n)));
    await spend.tryReserve(bounds(1n));
    await spend.reserve(bounds(1n));
    expect(waits).toEqual([0, undefined]);
  });

  it.each(['key_limit_exceeded', 'insufficient_credits', 'budget_exceeded'] as const)(
    'tryReserve() returns false for %s, and keeps nothing',
    async (code) => {
      const { spend } = spendWith(new AppError(code));
      await expect(spend.tryReserve(bounds(1n))).resolves.toBe(false);
      expect(spend.releases).toEqual([]);
    },
  );

  it('throws every other failure of a reservation', async () => {
    const away = new Error('the database is unreachable');
    const exhausted = new AppError('insufficient_credits');
    const { spend } = spendWith(away, exhausted);
    await expect(spend.tryReserve(bounds(1n))).rejects.toBe(away);
    await expect(spend.reserve(bounds(1n))).rejects.toBe(exhausted);
  });

  it('closes every reservation', async () => {
    const all = [reservation(boundOf(1n)), reservation(boundOf(2n))];
    const { spend } = spendWith(...all);
    await spend.reserve(bounds(1n));
    await spend.tryReserve(bounds(2n));
    spend.close();
    expect(all.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });
});
