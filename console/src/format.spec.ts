import { describe, expect, it } from '@jest/globals';
import {
  abbreviate,
  formatAmount,
  formatCountOf,
  formatDuration,
  formatMoney,
  formatMoneyShort,
  formatPercent,
  formatPercentExact,
  formatRelative,
  formatUtc,
  formatUtcDay,
  formatUtcTick,
  roundUsd,
} from './format';

describe('formatMoney', () => {
  it.each([
    [0, '$0.00'],
    [5, '$5.00'],
    [0.1, '$0.10'],
    [1250.5, '$1,250.50'],
    [0.00001296, '$0.00001296'],
    [1.25e-7, '$0.000000125'],
    [1e-12, '$0.000000000001'],
    // The binary fraction of this number has more digits than the amount.
    [123_456.123456, '$123,456.123456'],
    [-2.5e-8, '-$0.000000025'],
  ])('shows %d exactly', (usd, text) => {
    expect(formatMoney(usd)).toBe(text);
  });
});

it.each([
  [0, '$0.00'],
  [0.1, '$0.10'],
  [0.0525, '$0.0525'],
  [0.000012961, '$0.000013'],
  [0.00001296, '$0.000013'],
  [0.9999, '$1.00'],
  [1.2345, '$1.23'],
  [1250.5, '$1,250.50'],
  [-0.0123456, '-$0.0123'],
])('shortens the amount %d for reading', (usd, text) => {
  expect(formatAmount(usd)).toBe(text);
});

it('counts in the singular and in the plural', () => {
  expect([0, 1, 1204].map((count) => formatCountOf(count, 'call'))).toEqual([
    '0 calls',
    '1 call',
    '1,204 calls',
  ]);
});

it('rounds sums to the decimals of an amount', () => {
  expect([0.1 + 0.2, 1e-12 + 2e-12, 5].map(roundUsd)).toEqual([0.3, 3e-12, 5]);
});

it('shortens amounts for axes only', () => {
  expect([0, 0.000123, 0.5, 1200].map(formatMoneyShort)).toEqual(['$0', '$0.0001', '$0.5', '$1.2K']);
});

it('rounds a measured share, but never one of some calls to none', () => {
  expect([0, 0.0004, 0.001, 0.125, 1].map(formatPercent)).toEqual(['0%', '<0.1%', '0.1%', '12.5%', '100%']);
});

it('shows a share that is set as it is', () => {
  const shares = [1, 0.9999, 0.125, 0.0025, 0.000_123_456, 0.1 + 0.2, 1e-9];
  expect(shares.map(formatPercentExact)).toEqual([
    '100%',
    '99.99%',
    '12.5%',
    '0.25%',
    '0.0123456%',
    '30%',
    '0.0000001%',
  ]);
});

it('shows durations with their unit', () => {
  expect([0.4, 840, 1240, 125_000, 3_600_000, 5_400_000, 93_600_000].map(formatDuration)).toEqual([
    '0 ms',
    '840 ms',
    '1.24 s',
    '2 min 5 s',
    '1 h',
    '1 h 30 min',
    '1 d 2 h',
  ]);
});

it('shows times in UTC, and days of the service as they are counted', () => {
  expect(formatUtc('2026-11-27T07:31:05.123Z')).toBe('2026-11-27 07:31:05 UTC');
  expect(formatUtcDay('2026-11-27')).toBe('27 Nov 2026');
  expect(formatUtcTick(Date.parse('2026-11-27T00:00:00Z'))).toBe('27 Nov');
});

it('shows the distance of a time in its largest unit', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  expect(formatRelative('2026-11-27T11:57:00Z', now)).toBe('3 minutes ago');
  expect(formatRelative('2026-11-29T13:00:00Z', now)).toBe('in 2 days');
  expect(formatRelative('2026-11-27T12:00:00.500Z', now)).toBe('now');
});

it('names no calendar day for a distance in whole days', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  // It is the day before yesterday, and the day after tomorrow.
  expect(formatRelative('2026-11-25T12:30:00Z', now)).toBe('1 day ago');
  expect(formatRelative('2026-11-29T11:30:00Z', now)).toBe('in 1 day');
});

it('abbreviates long ids alone', () => {
  expect(abbreviate('short')).toBe('short');
  expect(abbreviate('0123456789abcdef0123')).toBe('0123456789…0123');
});
