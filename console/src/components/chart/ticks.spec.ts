import { describe, expect, it } from '@jest/globals';
import { ticksUpTo } from './ticks';

describe('the ticks of a value axis', () => {
  it.each([
    [24, true, [0, 5, 10, 15, 20, 25]],
    [1, true, [0, 1]],
    [3, true, [0, 1, 2, 3]],
    [0, true, [0, 1]],
    [0.3, false, [0, 0.1, 0.2, 0.3]],
    [939, false, [0, 200, 400, 600, 800, 1000]],
    [0.0000072, false, [0, 0.000002, 0.000004, 0.000006, 0.000008]],
  ])('reach %s in round steps', (high, isWhole, ticks) => {
    expect(ticksUpTo(high, isWhole)).toEqual(ticks);
  });

  it('end at their own last tick, and never fall below the highest value', () => {
    for (const high of [1e-9, 0.07, 0.7, 6.4, 99, 101, 12_345, 9e12]) {
      const ticks = ticksUpTo(high, false);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(high);
      expect(ticksUpTo(ticks.at(-1) ?? 0, false)).toEqual(ticks);
    }
  });
});
