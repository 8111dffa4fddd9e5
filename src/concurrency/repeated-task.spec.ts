import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { RepeatedTask } from './repeated-task.js';

beforeEach(() => {
  // Timers alone are counted: the rest of the process schedules ticks as well.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

it('runs after the delay, and again after the delay that the run returns', async () => {
  const delays = [20, 50, 20];
  const run = jest.fn(() => Promise.resolve(delays.shift() ?? 0));
  new RepeatedTask(run).start(10);
  await jest.advanceTimersByTimeAsync(9);
  expect(run).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(20);
  expect(run).toHaveBeenCalledTimes(2);
  await jest.advanceTimersByTimeAsync(49);
  expect(run).toHaveBeenCalledTimes(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(3);
});

it('stops before the next run', async () => {
  const run = jest.fn(() => Promise.resolve(10));
  const task = new RepeatedTask(run);
  task.start(10);
  await jest.advanceTimersByTimeAsync(10);
  await task.stop();
  await jest.advanceTimersByTimeAsync(100);
  expect(run).toHaveBeenCalledTimes(1);
  expect(jest.getTimerCount()).toBe(0);
});

it('waits for the run in progress, which sees that it should end, and starts no other', async () => {
  let end = (_delay: number): void => undefined;
  const run = jest.fn(() => new Promise<number>((resolve) => (end = resolve)));
  const task = new RepeatedTask(run);
  task.start(0);
  await jest.advanceTimersByTimeAsync(0);
  expect(task.isStopping).toBe(false);
  const onStopped = jest.fn();
  const stopped = task.stop().then(onStopped);
  await jest.advanceTimersByTimeAsync(100);
  expect(task.isStopping).toBe(true);
  expect(onStopped).not.toHaveBeenCalled();
  end(10);
  await stopped;
  await jest.advanceTimersByTimeAsync(100);
  expect(run).toHaveBeenCalledTimes(1);
});

it('waits for the run in progress no longer than its limit', async () => {
  let end = (_delay: number): void => undefined;
  const task = new RepeatedTask(() => new Promise<number>((resolve) => (end = resolve)));
  task.start(0);
  await jest.advanceTimersByTimeAsync(0);
  const onStopped = jest.fn();
  void task.stop(50).then(onStopped);
  await jest.advanceTimersByTimeAsync(49);
  expect(onStopped).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(onStopped).toHaveBeenCalledTimes(1);

  const stopped = task.stop(50);
  end(10);
  await stopped;
  expect(jest.getTimerCount()).toBe(0);
});

it('repeats work after the same interval, also when it fails', async () => {
  const failure = new Error('once');
  const work = jest.fn(() => Promise.resolve());
  work.mockRejectedValueOnce(failure);
  const onFailure = jest.fn();
  RepeatedTask.every(50, work, onFailure).start(0);
  await jest.advanceTimersByTimeAsync(0);
  expect(onFailure).toHaveBeenCalledWith(failure);
  await jest.advanceTimersByTimeAsync(49);
  expect(work).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(2);
  expect(onFailure).toHaveBeenCalledTimes(1);
});

it('starts periodic work after the same time, and at once when a run takes longer', async () => {
  const durations = [30, 80, 0];
  const work = jest.fn(
    () => new Promise<void>((resolve) => setTimeout(resolve, durations[work.mock.calls.length - 1] ?? 0)),
  );
  RepeatedTask.periodic(50, work).start(0);
  await jest.advanceTimersByTimeAsync(49);
  expect(work).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(2);
  // Never two at once.
  await jest.advanceTimersByTimeAsync(79);
  expect(work).toHaveBeenCalledTimes(2);
  await jest.advanceTimersByTimeAsync(2);
  expect(work).toHaveBeenCalledTimes(3);
});

it('repeats periodic work that fails', async () => {
  const failure = new Error('once');
  const work = jest.fn(() => Promise.resolve());
  work.mockRejectedValueOnce(failure);
  const onFailure = jest.fn();
  RepeatedTask.periodic(50, work, onFailure).start(0);
  await jest.advanceTimersByTimeAsync(50);
  expect(onFailure).toHaveBeenCalledWith(failure);
  expect(work).toHaveBeenCalledTimes(2);
});
