import { expect, it } from '@jest/globals';
import { windowAt } from './own-window';

it.each([
  ['daily', '2026-11-30T23:59:59Z', '2026-11-30T00:00:00Z', '2026-12-01T00:00:00.000Z'],
  ['weekly', '2026-12-06T12:00:00Z', '2026-11-30T00:00:00Z', '2026-12-07T00:00:00.000Z'],
  ['monthly', '2027-01-31T12:00:00Z', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00.000Z'],
  ['monthly', '2026-12-01T00:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
] as const)('the %s window of %s begins at %s', (interval, now, start, end) => {
  expect(windowAt(interval, Date.parse(now))).toEqual({ start, end });
});
