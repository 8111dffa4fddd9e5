// The threshold that a limit has reached, and the window that it belongs to.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { NO_SPEND } from '../spend/spend.js';
import type { WindowedSpend } from '../spend/spend.js';
import { findCrossings } from './budget-crossing.js';
import type { BudgetSubject } from './budget-crossing.js';
import type { NotificationSelection } from './notification-rule.js';

const NOW = new Date('2026-11-18T12:00:00Z');
const RULE: NotificationSelection = {
  accountId: 'account',
  id: 'rule',
  workspaceId: null,
  covers: ['keys', 'workspace_budgets', 'credits'],
  thresholds: [50, 80, 100],
  version: 1,
};

function subject(spent: bigint, overrides: Partial<BudgetSubject> = {}): BudgetSubject {
  const usage: WindowedSpend = { total: spent, daily: spent, weekly: spent, monthly: spent };
  return {
    cover: 'keys',
    accountId: 'account',
    workspaceId: 'workspace',
    id: 'key',
    names: {},
    window: 'daily',
    limit: 1_000n,
    includeByok: false,
    spend: { usage, byok: NO_SPEND.usage },
    lastDay: new Date('2026-11-18'),
    ...overrides,
  };
}

const reached = (
  one: BudgetSubject,
  { now = NOW, isRefused = false, rule = {} }: { now?: Date; isRefused?: boolean; rule?: object } = {},
): readonly (number | undefined)[] =>
  findCrossings(one, [{ ...RULE, ...rule }], { now, isRefused }).map(({ threshold }) => threshold);

describe('a threshold', () => {
  it.each([
    [499n, []],
    [500n, [50]],
    [799n, [50]],
    [800n, [80]],
    [999n, [80]],
    [1_000n, [100]],
    [1_200n, [100]],
  ])('is the highest one that a spend of %s of 1000 has reached', (spent, expected) => {
    expect(reached(subject(spent))).toEqual(expected);
  });

  it('is never reached below its share, and always at it', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 24n });
    const thresholds = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(amount, amount, thresholds, (spent, limit, percentages) => {
        const [found] = reached(subject(spent, { limit }), { rule: { thresholds: percentages } });
        const expected = percentages.filter((one) => limit > 0n && spent * 100n >= limit * BigInt(one));
        expect(found).toBe(expected.length === 0 ? undefined : Math.max(...expected));
      }),
    );
  });

  it('counts the spend through own provider keys where the limit does', () => {
    const spend = { usage: NO_SPEND.usage, byok: subject(600n).spend.usage };
    expect(reached(subject(0n, { spend }))).toEqual([]);
    expect(reached(subject(0n, { spend, includeByok: true }))).toEqual([50]);
  });
});

describe('a limit that refuses a call', () => {
  it('counts as 100 % once 80 % are spent', () => {
    expect(reached(subject(800n), { isRefused: true })).toEqual([100]);
    expect(reached(subject(799n), { isRefused: true })).toEqual([50]);
    expect(reached(subject(499n), { isRefused: true })).toEqual([]);
  });

  it('of 0 reports nothing: its refusals are free, and would store an event for every key', () => {
    expect(reached(subject(0n, { limit: 0n }))).toEqual([]);
    expect(reached(subject(0n, { limit: 0n }), { isRefused: true })).toEqual([]);
  });

  it('does not count the spend of a window that is over', () => {
    const now = new Date('2026-11-19T00:00:01Z');
    expect(reached(subject(1_000n), { isRefused: true, now })).toEqual([]);
  });
});

describe('a window', () => {
  it.each([
    ['daily', '2026-11-18T00:00:00.000Z', '2026-11-19T00:00:00.000Z'],
    ['weekly', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['monthly', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ] as const)('of a %s limit has both ends', (window, start, end) => {
    const [crossing] = findCrossings(subject(500n, { window }), [RULE], { now: NOW, isRefused: false });
    expect(crossing?.windowStart?.toISOString()).toBe(start);
    expect(crossing?.windowEnd?.toISOString()).toBe(end);
  });

  it('of a lifetime has none', () => {
    const [crossing] = findCrossings(subject(500n, { window: 'total' }), [RULE], {
      now: NOW,
      isRefused: false,
    });
    expect(crossing).toMatchObject({ windowStart: null, windowEnd: null });
  });

  it('is reported for ten minutes after its end, as the window that was', () => {
    const options = { now: new Date('2026-11-19T00:09:59Z'), isRefused: false };
    const [crossing] = findCrossings(subject(500n), [RULE], options);
    expect(crossing?.windowStart?.toISOString()).toBe('2026-11-18T00:00:00.000Z');
    expect(reached(subject(500n), { now: new Date('2026-11-19T00:10:00Z') })).toEqual([]);
  });
});

describe('a rule', () => {
  it.each([
    ['of another account', { accountId: 'other' }, []],
    ['of another workspace', { workspaceId: 'other' }, []],
    ['of the workspace', { workspaceId: 'workspace' }, [50]],
    ['that watches no keys', { covers: ['credits'] }, []],
  ])('%s watches what it covers', (_title, rule, expected) => {
    expect(reached(subject(500n), { rule })).toEqual(expected);
  });
});
