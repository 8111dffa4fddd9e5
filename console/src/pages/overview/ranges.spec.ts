import { describe, expect, it } from '@jest/globals';
import { timeRangeOf } from './ranges';

const NOW = Date.parse('2026-03-15T12:34:56Z');

describe('the range of the overview', () => {
  it.each([
    ['hour', '2026-03-15T11:35:00Z', '2026-03-15T12:35:00Z'],
    ['day', '2026-03-14T13:00:00Z', '2026-03-15T13:00:00Z'],
    ['week', '2026-03-08T13:00:00Z', '2026-03-15T13:00:00Z'],
    ['month', '2026-02-14T00:00:00Z', '2026-03-16T00:00:00Z'],
    ['quarter', '2025-12-16T00:00:00Z', '2026-03-16T00:00:00Z'],
  ] as const)('%s has whole periods, which the service answers from its sums', (range, start, end) => {
    expect(timeRangeOf(range, NOW)).toEqual({ start, end });
  });
});
