import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../domain/clock.js';
import type { BudgetSubjectsRepository } from '../../persistence/notifications/budget-subjects.repository.js';
import { BudgetScan } from './budget-scan.js';
import type { CrossingReporter } from './crossing-reporter.js';
import type { NotificationSender } from './notification-sender.js';

const INTERVAL = 5_000;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

it('begins every five seconds, after failures too, until the process stops', async () => {
  const beginScan = jest
    .fn<BudgetSubjectsRepository['beginScan']>()
    .mockRejectedValueOnce(new Error('reset'))
    .mockResolvedValue(null);
  const scan = new BudgetScan(
    { beginScan } as unknown as BudgetSubjectsRepository,
    {} as CrossingReporter,
    {} as NotificationSender,
    {} as Clock,
  );
  scan.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(INTERVAL - 1);
  expect(beginScan).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(beginScan).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(beginScan).toHaveBeenCalledTimes(2);
  await scan.beforeApplicationShutdown();
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(beginScan).toHaveBeenCalledTimes(2);
});
