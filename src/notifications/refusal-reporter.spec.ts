import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { CrossingReporter } from '../deliveries/notifications/crossing-reporter.js';
import { RefusedLimits } from '../spend/refused-limits.js';
import { RefusalReporter } from './refusal-reporter.js';

const INTERVAL = 2_000;

const reportRefusals = jest.fn<CrossingReporter['reportRefusals']>();
let refused: RefusedLimits;
let reporter: RefusalReporter;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  reportRefusals.mockReset().mockResolvedValue(undefined);
  refused = new RefusedLimits();
  reporter = new RefusalReporter(refused, { reportRefusals } as unknown as CrossingReporter);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function refuseBy(id: string): void {
  const tightest = { window: 'daily', limit: 1n, includeByok: false } as const;
  const owner = { kind: 'workspace', id, workspaceId: id } as const;
  refused.note({ owner, limits: [tightest], tightest, unspent: 0n, resetsAt: null });
}

const reportedIds = (): string[][] => reportRefusals.mock.calls.map(([limits]) => limits.map(({ id }) => id));

it('reports the limits that have refused calls every two seconds, and nothing without one', async () => {
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(INTERVAL - 1);
  expect(reportedIds()).toEqual([]);
  refuseBy('b');
  await jest.advanceTimersByTimeAsync(1);
  expect(reportedIds()).toEqual([['a', 'b']]);
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(reportedIds()).toHaveLength(1);
});

it('reports again what it could not report', async () => {
  reportRefusals.mockRejectedValueOnce(new Error('reset'));
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(2 * INTERVAL);
  expect(reportedIds()).toEqual([['a'], ['a']]);
});

it('reports at the end of the process, and not later', async () => {
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await reporter.beforeApplicationShutdown();
  expect(reportedIds()).toEqual([['a']]);
  refuseBy('b');
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(reportedIds()).toEqual([['a']]);
});
