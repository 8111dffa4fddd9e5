import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Metrics } from '../config/metrics.js';
import type { CrossingReporter } from '../deliveries/notifications/crossing-reporter.js';
import { AppError } from '../domain/errors.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import type { RefusalsRepository } from '../persistence/refusals/refusals.repository.js';
import { TestClock } from '../../test/support/app/clock.js';
import { RefusalReporter } from './refusal-reporter.js';
import { RefusedLimits } from './refused-limits.js';

const INTERVAL = 2_000;

const record = jest.fn<RefusalsRepository['record']>();
const recordNewest = jest.fn<RefusalsRepository['recordNewest']>();
const reportRefusals = jest.fn<CrossingReporter['reportRefusals']>();
let reporter: RefusalReporter;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  for (const mock of [record, recordNewest, reportRefusals]) mock.mockReset().mockResolvedValue(undefined);
  reporter = new RefusalReporter(
    new RefusedLimits(),
    { record, recordNewest } as unknown as RefusalsRepository,
    { reportRefusals } as unknown as CrossingReporter,
    new TestClock(),
    new Metrics(),
  );
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** The budget of a workspace refuses a call. */
function refuseBy(id: string): void {
  const tightest = { window: 'daily', limit: 5n, includeByok: false } as const;
  const owner = { kind: 'workspace', id, workspaceId: id } as const;
  const shortfall = { owner, tightest, needed: 7n, unspent: -1n, resetsAt: null, affordableTokens: 12 };
  const error = new AppError('budget_exceeded', { detail: 'x'.repeat(400), shortfall });
  const key = { id: `key-of-${id}`, accountId: 'account', workspaceId: id, kind: 'inference' } as ApiKey;
  reporter.note({ key, method: 'POST', requestId: `request-of-${id}`, error });
}

const reportedIds = (): string[][] => reportRefusals.mock.calls.map(([limits]) => limits.map(({ id }) => id));
const recordedKeys = (): string[][] =>
  record.mock.calls.map(([counts]) => counts.map(({ apiKeyId }) => apiKeyId));

it('records refused calls and reports their limits every two seconds, and nothing without one', async () => {
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(INTERVAL - 1);
  expect(reportedIds()).toEqual([]);
  expect(recordedKeys()).toEqual([]);
  refuseBy('b');
  await jest.advanceTimersByTimeAsync(1);
  expect(reportedIds()).toEqual([['a', 'b']]);
  expect(recordedKeys()).toEqual([['key-of-a', 'key-of-b']]);
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(reportedIds()).toHaveLength(1);
  expect(recordedKeys()).toHaveLength(1);
});

it('reports again what it could not report, and records it once', async () => {
  reportRefusals.mockRejectedValueOnce(new Error('reset'));
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(2 * INTERVAL);
  expect(reportedIds()).toEqual([['a'], ['a']]);
  expect(recordedKeys()).toEqual([['key-of-a']]);
});

it('records again what it could not record, and reports it once', async () => {
  record.mockRejectedValueOnce(new Error('reset'));
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(INTERVAL);
  refuseBy('a');
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(record.mock.calls.map(([[count]]) => count?.refusals)).toEqual([1, 2]);
  expect(reportedIds()).toEqual([['a']]);
});

it('reports at the end of the process, and not later', async () => {
  reporter.onApplicationBootstrap();
  refuseBy('a');
  await reporter.beforeApplicationShutdown();
  expect(reportedIds()).toEqual([['a']]);
  expect(recordedKeys()).toEqual([['key-of-a']]);
  refuseBy('b');
  await jest.advanceTimersByTimeAsync(INTERVAL);
  expect(reportedIds()).toEqual([['a']]);
});

describe('the record of a refused call', () => {
  it('has its request id, the beginning of its message and the amounts of the limit', async () => {
    refuseBy('a');
    await reporter.flush();
    const refusals = recordNewest.mock.calls.flatMap(([recorded]) => recorded);
    expect(refusals).toMatchObject([
      {
        accountId: 'account',
        apiKeyId: 'key-of-a',
        reason: 'workspace_limit',
        requestId: 'request-of-a',
        limit: { window: 'daily', limit: 5n, needed: 7n, left: 0n, resetsAt: null, affordableTokens: 12 },
      },
    ]);
    expect(refusals[0]?.message).toMatch(/^Workspace budget exceeded: x+$/);
    expect(refusals[0]?.message).toHaveLength(300);
  });
});
