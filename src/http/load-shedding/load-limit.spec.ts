// The fall of the limit of calls in flight, and its recovery.
import { describe, expect, it } from '@jest/globals';
import { LoadLimit } from './load-limit.js';

const OPTIONS = { ceiling: 1_000, floor: 4, toleratedDelay: 50 };

function look(limit: LoadLimit, delays: readonly number[], inFlight: number): number {
  for (const delay of delays) limit.note(delay, inFlight);
  return limit.current;
}

describe('LoadLimit', () => {
  it('starts at the ceiling and stays there while the loop is on time', () => {
    expect(look(new LoadLimit(OPTIONS), [1, 49, 3, 50, 2], 900)).toBe(1_000);
  });

  it('falls below the calls in flight when the loop stays late', () => {
    expect(look(new LoadLimit(OPTIONS), [51, 60, 70, 80, 90], 500)).toBe(400);
  });

  it('does not fall for a long task alone', () => {
    expect(look(new LoadLimit(OPTIONS), [2_000, 60, 70, 0, 90], 500)).toBe(1_000);
  });

  it('never falls below its floor', () => {
    const limit = new LoadLimit(OPTIONS);
    for (let count = 0; count < 50; count++) look(limit, [99, 99, 99, 99, 99], limit.current);
    expect(limit.current).toBe(4);
  });

  it('recovers to the ceiling within five seconds of samples every 20 ms', () => {
    const limit = new LoadLimit(OPTIONS);
    look(limit, [99, 99, 99, 99, 99], 0);
    expect(limit.current).toBe(4);
    for (let count = 0; count < 5_000 / 20; count++) limit.note(0, 0);
    expect(limit.current).toBe(1_000);
  });

  it('ignores the loop without a tolerated delay', () => {
    const limit = new LoadLimit({ ...OPTIONS, toleratedDelay: 0 });
    expect(look(limit, [99, 99, 99, 99, 99], 10)).toBe(1_000);
  });
});
