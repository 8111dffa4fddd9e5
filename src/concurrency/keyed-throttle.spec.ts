// Requests that arrive during an act and its pause become one.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { KeyedThrottle } from './keyed-throttle.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('acts at once, and once more after the pause for all requests since then, key by key', async () => {
  const acts: string[] = [];
  const throttle = new KeyedThrottle(500, (key) => {
    acts.push(key);
    return Promise.resolve();
  });
  for (const key of ['a', 'a', 'b', 'a']) throttle.request(key);
  expect(acts).toEqual(['a', 'b']);
  await jest.advanceTimersByTimeAsync(499);
  expect(acts).toEqual(['a', 'b']);
  await jest.advanceTimersByTimeAsync(1);
  expect(acts).toEqual(['a', 'b', 'a']);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(acts).toEqual(['a', 'b', 'a']);
});
