// Which transfers are too slow, with a clock that the test controls.
import { expect, it } from '@jest/globals';
import { GRACE, LEAST_RATE, TransferPace } from './transfer-pace.js';

const isEnded = (bytesPerSecond: (second: number) => number, seconds = 600): boolean => {
  const pace = new TransferPace(0);
  let moved = 0;
  for (let second = 1; second <= seconds; second++) {
    moved += bytesPerSecond(second);
    if (pace.isTooSlow(moved, second * 1_000)) return true;
  }
  return false;
};
const RATE = LEAST_RATE * 1_000;

it.each([
  [true, 'nothing moves', () => 0],
  [true, 'one byte a second', () => 1],
  [true, 'a little below the least rate', () => RATE * 0.9],
  [true, 'much at first and nothing then', (second: number) => (second < 5 ? 1e9 : 0)],
  [false, 'the least rate', () => RATE],
  [false, 'ten seconds of nothing, again and again', (second: number) => (second % 10 === 0 ? RATE * 10 : 0)],
] as const)('%s: %s', (expected, _name, rate) => {
  expect(isEnded(rate)).toBe(expected);
});

it('ends nothing within the grace', () => {
  expect(isEnded(() => 0, GRACE / 1_000)).toBe(false);
});
