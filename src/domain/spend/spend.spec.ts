import { describe, expect, it } from '@jest/globals';
import { remainingOfLimit, spendAt, utcDay, utcMonth, utcWeek } from './spend.js';
import type { KeySpend } from './spend.js';

const stored = { total: 100n, daily: 10n, weekly: 20n, monthly: 30n };
const at = (text: string) => new Date(text);

describe('windows', () => {
  it('begin at 00:00 UTC, on Monday, and on the first of the month', () => {
    expect(utcDay(at('2026-11-21T23:59:59.999Z'))).toBe('2026-11-21');
    expect(utcWeek(at('2026-11-22T23:59:59.999Z'))).toBe('2026-11-16');
    expect(utcWeek(at('2026-11-23T00:00:00.000Z'))).toBe('2026-11-23');
    expect(utcMonth(at('2026-12-01T00:00:00.000Z'))).toBe('2026-12');
  });

  it.each([
    ['the same day', '2026-11-21T10:00:00Z', stored],
    ['the next day of the same week', '2026-11-22T00:00:00Z', { ...stored, daily: 0n }],
    ['the next week of the same month', '2026-11-23T00:00:00Z', { ...stored, daily: 0n, weekly: 0n }],
    // The clock of the recorder is ahead; the statement that grants leases counts the day as well.
    ['the day before', '2026-11-20T10:00:00Z', stored],
    ['the next month', '2026-12-01T00:00:00Z', { ...stored, daily: 0n, weekly: 0n, monthly: 0n }],
    ['the same day a year later', '2027-11-21T10:00:00Z', { ...stored, daily: 0n, weekly: 0n, monthly: 0n }],
  ])('%s', (_name, now, expected) => {
    expect(spendAt(stored, at('2026-11-21T00:00:00Z'), at(now))).toEqual(expected);
  });

  it('keeps the week when a month begins within it', () => {
    expect(spendAt(stored, at('2026-09-30T00:00:00Z'), at('2026-10-01T00:00:00Z'))).toEqual({
      ...stored,
      daily: 0n,
      monthly: 0n,
    });
  });
});

describe('the remaining limit', () => {
  const spend: KeySpend = { usage: stored, byok: { total: 7n, daily: 1n, weekly: 2n, monthly: 3n } };

  it.each([
    [{ limit: null, limitReset: null, includeByokInLimit: false }, null],
    [{ limit: 150n, limitReset: null, includeByokInLimit: false }, 50n],
    [{ limit: 150n, limitReset: null, includeByokInLimit: true }, 43n],
    [{ limit: 25n, limitReset: 'weekly' as const, includeByokInLimit: true }, 3n],
    [{ limit: 5n, limitReset: 'daily' as const, includeByokInLimit: false }, 0n],
  ])('%j leaves %s', (limit, expected) => {
    expect(remainingOfLimit(spend, limit)).toBe(expected);
  });
});
