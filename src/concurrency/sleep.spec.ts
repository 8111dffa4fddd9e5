import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Cancellation } from './cancellation.js';
import { sleep } from './sleep.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('resolves after the time, and keeps no listener', async () => {
  const cancellation = new Cancellation();
  const remove = jest.spyOn(cancellation, 'removeEventListener');
  const onEnd = jest.fn();
  const pause = sleep(50, cancellation).then(onEnd);
  await jest.advanceTimersByTimeAsync(49);
  expect(onEnd).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  await pause;
  expect(remove).toHaveBeenCalledTimes(1);
});

it('rejects with the reason of the signal, and keeps no timer', async () => {
  const cancellation = new Cancellation();
  const pause = sleep(50, cancellation);
  cancellation.abort();
  await expect(pause).rejects.toBe(cancellation.reason);
  expect(jest.getTimerCount()).toBe(0);
});

it('does not begin after the signal', async () => {
  const cancellation = new Cancellation();
  cancellation.abort();
  await expect(sleep(50, cancellation)).rejects.toBe(cancellation.reason);
  expect(jest.getTimerCount()).toBe(0);
});
