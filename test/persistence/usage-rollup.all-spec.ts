// Analytics from the sums by hour and day: at any progress of the rollup the results equal those of the whole log.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { namesOf, METRICS } from '../../src/domain/generations/analytics.js';
import type {
  AnalyticsQuery,
  AnalyticsRow,
  DimensionName,
  MetricName,
} from '../../src/domain/generations/analytics.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { usdToNumber } from '../../src/domain/spend/money.js';
import {
  UsageRollupRepository,
  UserRollupRepository,
} from '../../src/persistence/activity/activity-rollup.repository.js';
import type { RollupRepository } from '../../src/persistence/rollups/rollup.repository.js';
import { AnalyticsRepository } from '../../src/persistence/activity/analytics.repository.js';
import { Database } from '../../src/persistence/database/database.js';
import { USAGE_TABLES, USER_TABLES } from '../../src/persistence/activity/usage-statements.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createChatFacts } from '../support/generations/chat-generation.js';
import { eventually } from '../support/eventually.js';
import { createGeneration } from '../support/generations/generation.js';
import { passOver, sumUp } from '../support/database/rollup-pass.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const MAX_ERROR = 0.091;
const SMALL_STEPS = { workspaces: 500, rows: 3 };
// Refused calls have sums of their own.
const METRIC_NAMES = namesOf(METRICS).filter((name) => name !== 'refused_count');
const durationOf = ({ durationMs }: Generation): number => durationMs;
const firstTokenOf = ({ chat }: Generation): number | null => chat?.timeToFirstTokenMs ?? null;
const PERCENTILES = {
  latency_p50: [durationOf, 0.5],
  latency_p90: [durationOf, 0.9],
  latency_p95: [durationOf, 0.95],
  latency_p99: [durationOf, 0.99],
  time_to_first_token_p50: [firstTokenOf, 0.5],
  time_to_first_token_p95: [firstTokenOf, 0.95],
} as const;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const rollups = (): readonly RollupRepository[] => [
  app.application.get(UsageRollupRepository),
  app.application.get(UserRollupRepository),
];

/** Two keys of one workspace, and one of another account. */
async function createKeys(): Promise<readonly ApiKey[]> {
  const { accountId, workspaceId, key } = await app.createAccount();
  const { record } = await app.createKey({ accountId, workspaceId });
  return [key, record, (await app.createAccount()).key];
}

const numberOf = (amount: bigint): number => usdToNumber(amount);
const sumOf = (rows: readonly Generation[], read: (row: Generation) => number): number =>
  rows.reduce((sum, row) => sum + read(row), 0);
const usdOf = (rows: readonly Generation[], read: (row: Generation) => bigint): number =>
  numberOf(rows.reduce((sum, row) => sum + read(row), 0n));

const isFailed = ({ status }: Generation): boolean => status >= 400 && status !== 499;

/** All metrics but the percentiles. */
const sumsOf = (rows: readonly Generation[]): AnalyticsRow => ({
  request_count: rows.length,
  error_count: rows.filter(isFailed).length,
  error_rate: rows.filter(isFailed).length / rows.length,
  input_count: sumOf(rows, (row) => row.inputCount),
  prompt_tokens: sumOf(rows, (row) => row.promptTokens),
  completion_tokens: sumOf(rows, ({ chat }) => chat?.completionTokens ?? 0),
  reasoning_tokens: sumOf(rows, ({ chat }) => chat?.reasoningTokens ?? 0),
  cached_tokens: sumOf(rows, ({ chat }) => chat?.cachedTokens ?? 0),
  total_tokens: sumOf(rows, (row) => row.totalTokens),
  total_usage: usdOf(rows, ({ cost }) => cost ?? 0n),
  byok_usage: usdOf(rows, ({ isByok, upstreamCost }) => (isByok ? (upstreamCost ?? 0n) : 0n)),
  latency_avg: Math.round((sumOf(rows, (row) => row.durationMs) / rows.length) * 1000) / 1000,
});

function exactPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return below + (above - below) * (rank - Math.floor(rank));
}

const READ: Readonly<Record<Exclude<DimensionName, 'refusal_reason'>, (row: Generation) => string | null>> = {
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  endpoint: ({ endpoint }) => endpoint,
  api_key_id: ({ apiKeyId }) => apiKeyId,
  user: ({ userId }) => userId,
  workspace: ({ workspaceId }) => workspaceId,
  status: ({ status }) => String(status),
  error_type: ({ errorType }) => errorType,
};

function startOf(granularity: AnalyticsQuery['granularity'], { createdAt }: Generation): string {
  const text = createdAt.toISOString();
  if (granularity === 'hour') return `${text.slice(0, 13)}:00:00Z`;
  if (granularity === 'month') return `${text.slice(0, 7)}-01T00:00:00Z`;
  const days = granularity === 'week' ? (createdAt.getUTCDay() + 6) % 7 : 0;
  return `${new Date(createdAt.getTime() - days * DAY).toISOString().slice(0, 10)}T00:00:00Z`;
}

function groupOf({ granularity, dimensions }: AnalyticsQuery, row: Generation): AnalyticsRow {
  return {
    ...(granularity === null ? {} : { date: startOf(granularity, row) }),
    ...Object.fromEntries(dimensions.map((name) => [name, READ[name as keyof typeof READ](row)])),
  };
}

function isWithin({ from, to, filters, workspaceIds }: AnalyticsQuery, row: Generation): boolean {
  return (
    row.createdAt >= from &&
    row.createdAt < to &&
    workspaceIds.includes(row.workspaceId) &&
    filters.every(({ dimension, isNot, values }) => {
      const value = READ[dimension as keyof typeof READ](row);
      return (value !== null && values.includes(value)) !== isNot;
    })
  );
}

/** The result of the query equals sums of the logged generations; percentiles are within the error of a bucket. */
async function compare(query: AnalyticsQuery, logged: readonly Generation[]): Promise<void> {
  const groups = new Map<string, { group: AnalyticsRow; rows: Generation[] }>();
  for (const row of logged.filter((one) => isWithin(query, one))) {
    const group = groupOf(query, row);
    const known = groups.get(JSON.stringify(group));
    if (known) known.rows.push(row);
    else groups.set(JSON.stringify(group), { group, rows: [row] });
  }
  const found = await app.application.get(AnalyticsRepository).query(query);
  const textOf = (row: AnalyticsRow): string =>
    JSON.stringify(Object.entries(row).toSorted(([one], [other]) => one.localeCompare(other)));
  const inOrder = (rows: readonly AnalyticsRow[]): readonly AnalyticsRow[] =>
    rows.toSorted((one, other) => textOf(one).localeCompare(textOf(other)));
  const withoutPercentiles = found.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !(name in PERCENTILES))),
  );
  expect(inOrder(withoutPercentiles)).toEqual(
    inOrder([...groups.values()].map(({ group, rows }) => Object.assign({}, group, sumsOf(rows)))),
  );
  for (const row of found) {
    const rows = groups.get(
      JSON.stringify(
        Object.fromEntries(Object.keys(groupOf(query, logged[0]!)).map((name) => [name, row[name]])),
      ),
    )!.rows;
    for (const [name, [read, share]] of Object.entries(PERCENTILES)) {
      if (!query.metrics.includes(name as MetricName)) continue;
      const values = rows.map(read).filter((value) => value !== null);
      if (values.length === 0) {
        expect(row[name]).toBeNull();
        continue;
      }
      const exact = exactPercentile(values, share);
      expect(Math.abs(Number(row[name]) - exact)).toBeLessThanOrEqual(MAX_ERROR * exact + 0.001);
    }
  }
}

const entry = fc.record({
  key: fc.nat({ max: 2 }),
  // From before the days that sums are kept to now; most of them in the days of the hours of keys.
  minutesAgo: fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 3 * 1_440 }) },
    { weight: 2, arbitrary: fc.integer({ min: 7 * 1_440, max: 11 * 1_440 }) },
    { weight: 1, arbitrary: fc.nat({ max: 110 * 1_440 }) },
  ),
  model: fc.constantFrom('a/one', 'a/two'),
  endpoint: fc.constantFrom(null, 'one'),
  // Of up to 1,000 characters, which no key of an index holds.
  userId: fc.constantFrom(null, '', 'ada', '用'.repeat(1_000)),
  failure: fc.constantFrom(
    null,
    { status: 502, errorType: 'provider_error' },
    { status: 499, errorType: 'cancelled' },
  ),
  isByok: fc.boolean(),
  cost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
  upstreamCost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
  promptTokens: fc.nat({ max: 2 ** 31 - 1 }),
  durationMs: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 200_000 })),
  chat: fc.option(
    fc
      .record({
        completionTokens: fc.nat({ max: 2 ** 31 - 1 }),
        reasoningTokens: fc.nat({ max: 1_000 }),
        timeToFirstTokenMs: fc.option(fc.nat({ max: 200_000 })),
      })
      .map((tokens) => createChatFacts(tokens)),
  ),
});
const dimension = fc.constantFrom(
  ...(Object.keys(READ) as (keyof typeof READ)[]).filter((name) => name !== 'user'),
);
const range = {
  endMinutesAgo: fc.oneof(fc.constant(0), fc.nat({ max: 20 * 1_440 })),
  minutes: fc.oneof(fc.integer({ min: 1, max: 4 * 1_440 }), fc.integer({ min: 1, max: 90 * 1_440 })),
  isAligned: fc.boolean(),
  granularity: fc.constantFrom('hour', 'day', 'week', 'month', null),
};
const asked = fc.record({
  ...range,
  dimensions: fc.uniqueArray(dimension, { maxLength: 2 }),
  filter: fc.option(
    fc.record({ dimension: fc.constantFrom('model', 'api_key_id', 'error_type'), isNot: fc.boolean() }),
  ),
});

/** Totals of keys, and those by a further dimension, answer them. */
const askedByKey = fc.record({
  ...range,
  granularity: fc.oneof(fc.constant(null), range.granularity),
  dimensions: fc.constantFrom<(keyof typeof READ)[]>(
    ['api_key_id'],
    ['api_key_id', 'model'],
    ['provider', 'api_key_id'],
  ),
  filter: fc.option(fc.record({ dimension: fc.constant('model' as const), isNot: fc.boolean() })),
});

/** Without percentiles, sums of users answer them. */
const askedByUser = fc.record({
  ...range,
  dimensions: fc
    .uniqueArray(fc.constantFrom<keyof typeof READ>('api_key_id', 'model', 'provider', 'workspace'), {
      maxLength: 2,
    })
    .map((names) => names.concat('user')),
  filter: fc.option(
    fc.record({ dimension: fc.constantFrom('user', 'model', 'api_key_id'), isNot: fc.boolean() }),
  ),
});

interface Asked {
  readonly endMinutesAgo: number;
  readonly minutes: number;
  readonly isAligned: boolean;
  readonly granularity: AnalyticsQuery['granularity'];
  readonly dimensions: readonly (keyof typeof READ)[];
  readonly filter: {
    readonly dimension: 'model' | 'api_key_id' | 'error_type' | 'user';
    readonly isNot: boolean;
  } | null;
}

function queryOf(one: Asked, [key]: readonly ApiKey[]): AnalyticsQuery {
  const now = app.clock.now().getTime();
  const to = now - one.endMinutesAgo * MINUTE + 1;
  const from = to - one.minutes * MINUTE;
  const values = { model: 'a/one', api_key_id: key!.id, error_type: 'provider_error', user: 'ada' } as const;
  return {
    accountId: key!.accountId,
    workspaceIds: [key!.workspaceId],
    from: new Date(one.isAligned ? Math.floor(from / DAY) * DAY : from),
    to: new Date(to),
    metrics: one.dimensions.includes('user')
      ? METRIC_NAMES.filter((name) => !(name in PERCENTILES))
      : METRIC_NAMES,
    dimensions: one.dimensions,
    granularity: one.granularity,
    filters: one.filter === null ? [] : [{ ...one.filter, values: [values[one.filter.dimension]] }],
    orderBy: { field: 'request_count', isDescending: true },
    limit: 10_000,
    groupLimit: null,
  };
}

describe('analytics', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ append: fc.array(entry, { minLength: 1, maxLength: 12 }) }) },
    { weight: 1, arbitrary: fc.constant('pass' as const) },
    { weight: 2, arbitrary: fc.constant('step' as const) },
  );

  it('equal the log, to the last unit, at any position between two steps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 8 }),
        fc.tuple(asked, asked, askedByKey, askedByKey, askedByUser, askedByUser),
        async (run, questions) => {
          const keys = await createKeys();
          const logged: Generation[] = [];
          const since = new Date(app.clock.now().getTime() - 101 * DAY);
          for (const each of run) {
            if (each === 'pass') for (const one of rollups()) await passOver(one, SMALL_STEPS, since);
            else if (each === 'step') {
              for (const one of rollups()) {
                const cursor = await one.beginPass(0);
                if (cursor.summedBefore !== cursor.passUntil) await one.takeStep(cursor, since, SMALL_STEPS);
              }
            } else {
              const generations = each.append.map(({ key, minutesAgo, endpoint, failure, ...values }) =>
                createGeneration(keys[key]!, {
                  ...values,
                  ...failure,
                  operation: values.chat === null ? 'embeddings' : 'chat',
                  endpoint,
                  provider: endpoint,
                  createdAt: new Date(app.clock.now().getTime() - minutesAgo * MINUTE),
                }),
              );
              await Promise.all(generations.map((one) => app.application.get(GenerationLog).append(one)));
              logged.push(...generations);
            }
            if (logged.length === 0) continue;
            for (const question of questions) await compare(queryOf(question, keys), logged);
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it('read the sums of a workspace as well when a workspace is a filter', async () => {
    const keys = await createKeys();
    const generation = createGeneration(keys[0]!, { createdAt: new Date('2026-11-17T12:00:00.000Z') });
    await app.application.get(GenerationLog).append(generation);
    for (const one of rollups()) await sumUp(app, one, { workspaces: 500, rows: 1_000 });
    const query = queryOf(
      {
        endMinutesAgo: 0,
        minutes: 2 * 1_440,
        isAligned: true,
        granularity: 'day',
        dimensions: [],
        filter: null,
      },
      keys,
    );
    const filtered = (isNot: boolean): AnalyticsQuery => ({
      ...query,
      filters: [{ dimension: 'workspace', isNot, values: [keys[0]!.workspaceId, 'no id'] }],
    });
    await compare(filtered(false), [generation]);
    expect(await app.application.get(AnalyticsRepository).query(filtered(true))).toEqual([]);
  });
});

describe('the sums', () => {
  const countOf = async (table: string, workspaceId: string): Promise<number> => {
    const rows = await app.sql<{ requests: string }>(
      `SELECT coalesce(sum(requests), 0) AS requests FROM ${table} WHERE workspace_id = $1`,
      [workspaceId],
    );
    return Number(rows[0]?.requests);
  };

  it('are removed after their retention, those of other workspaces too', async () => {
    const [key, , other] = await createKeys();
    const now = app.clock.now().getTime();
    for (const days of [1, 8, 20, 99])
      for (const one of [key!, other!])
        await app.application
          .get(GenerationLog)
          .append(createGeneration(one, { createdAt: new Date(now - days * DAY) }));
    const tables = [...USAGE_TABLES, ...USER_TABLES];
    const counts = (workspaceId: string): Promise<number[]> =>
      Promise.all(tables.map(({ table }) => countOf(table, workspaceId)));
    const passed = async (): Promise<number[]> => {
      await app.application.get(ActivityRollup).catchUp(0);
      return counts(key!.workspaceId);
    };
    // Hours of keys are kept for a week: the backlog does not write older ones.
    const expected = (hours: number, others: number): number[] =>
      tables.map(({ removedAfterDays }) => (removedAfterDays < 10 ? hours : others));
    const kept = expected(2, 4);
    await eventually(passed, (summed) => isDeepStrictEqual(summed, kept));
    app.clock.set(new Date(now + 3 * DAY).toISOString());
    await app.application.get(ActivityRollup).catchUp(0);
    for (const one of [key!, other!]) expect(await counts(one.workspaceId)).toEqual(expected(1, 3));
    app.clock.set(new Date(now).toISOString());
  });

  it('do not change by a step of a version that does not know all of them', async () => {
    const [key] = await createKeys();
    await app.application.get(GenerationLog).append(createGeneration(key!));
    for (const one of rollups()) {
      const cursor = await one.beginPass(0);
      const ofOldVersion = jest
        .spyOn(app.application.get(Database), 'queryWith')
        .mockImplementationOnce((settings, statement) => {
          const { 'signalbox.sums': _version, ...others } = settings;
          return app.application.get(Database).queryWith(others, statement);
        });
      expect(await one.takeStep(cursor, new Date(0), SMALL_STEPS)).toBeNull();
      expect(await one.beginPass(0)).toEqual(cursor);
      ofOldVersion.mockRestore();
    }
    const counts = (): Promise<number[]> =>
      Promise.all([...USAGE_TABLES, ...USER_TABLES].map(({ table }) => countOf(table, key!.workspaceId)));
    expect(new Set(await counts())).toEqual(new Set([0]));
    for (const one of rollups()) await sumUp(app, one, SMALL_STEPS);
    expect(new Set(await counts())).toEqual(new Set([1]));
  });

  it('of an erased user become those of calls without a user, to the last unit', async () => {
    const [key, , other] = await createKeys();
    const log = app.application.get(GenerationLog);
    const generations = [
      ...[key!, other!].map((one) => createGeneration(one, { userId: 'ada' })),
      ...[null, 'bob'].map((userId) => createGeneration(key!, { userId })),
    ];
    for (const one of generations) await log.append(one);
    for (const one of rollups()) await sumUp(app, one, { workspaces: 500, rows: 1_000 });
    await app.sql('UPDATE generations SET user_id = NULL WHERE account_id = $1 AND user_id = $2', [
      key!.accountId,
      'ada',
    ]);
    const [erased] = await app.sql<{ rows: string }>('SELECT erase_user_sums($1, $2) AS rows', [
      key!.accountId,
      'ada',
    ]);
    expect(Number(erased?.rows)).toBe(USER_TABLES.length);
    const ofUsers = {
      endMinutesAgo: -1,
      minutes: 1_440,
      isAligned: true,
      granularity: null,
      dimensions: ['user'],
      filter: null,
    } as const;
    const [ada, ...others] = generations;
    const left = [{ ...ada!, userId: null }, ...others];
    await compare(queryOf(ofUsers, [key!]), left);
    await compare(queryOf(ofUsers, [other!]), left);
  });
});
