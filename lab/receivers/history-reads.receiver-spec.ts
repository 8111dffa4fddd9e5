// Answers from the history in a real ClickHouse: the same as PostgreSQL's on the same generations, at any boundary between
// the two.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { AppError } from '../../src/domain/errors.js';
import { METRICS, namesOf } from '../../src/domain/generations/analytics.js';
import type { AnalyticsQuery, AnalyticsRow, DimensionName } from '../../src/domain/generations/analytics.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import type { GenerationFilter, ListPosition } from '../../src/domain/generations/generation-list.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { managerByKey } from '../../src/domain/people/manager.js';
import { AnalyticsRepository } from '../../src/persistence/activity/analytics.repository.js';
import { isOfFirstToken, isPercentile } from '../../src/persistence/activity/percentiles.js';
import { GenerationListRepository } from '../../src/persistence/generations/generation-list.repository.js';
import { GenerationsRepository } from '../../src/persistence/generations/generations.repository.js';
import { HistoryReader } from '../../src/history/history-reader.js';
import { ask } from '../../test/support/requests/admin.js';
import type { TestApp } from '../../test/support/app/app.js';
import { createChatFacts } from '../../test/support/generations/chat-generation.js';
import { expectError } from '../../test/support/requests/error-shape.js';
import { createGeneration } from '../../test/support/generations/generation.js';
import { createHistoryApp } from './history-app.js';
import type { HistoryApp } from './history-app.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const MAX_ERROR = 0.091;
// Refused calls are no generations, and times to the first token are only in the sums of PostgreSQL: the history has neither.
const METRIC_NAMES = namesOf(METRICS).filter((name) => name !== 'refused_count' && !isOfFirstToken(name));
const SUMMED_METRICS = METRIC_NAMES.filter((name) => !isPercentile(name));

let history: HistoryApp;
beforeAll(async () => {
  history = await createHistoryApp();
});
afterAll(() => history.close());
afterEach(async () => {
  jest.restoreAllMocks();
  history.server.always(null);
  await history.app.sql('UPDATE log_begin SET dropped_before = NULL');
});

const now = (): number => history.app.clock.now().getTime();
const at = (daysAgo: number): Date => new Date(now() - daysAgo * DAY);

/** Two keys of one workspace, and one of another account. */
async function createKeys(): Promise<readonly ApiKey[]> {
  const { accountId, workspaceId, key } = await history.app.createAccount();
  const { record } = await history.app.createKey({ accountId, workspaceId });
  return [key, record, (await history.app.createAccount()).key];
}

const hostileTexts = [
  "it's",
  'back\\slash',
  "'; DROP TABLE generations; --",
  '{p0:String}',
  'tab\tand\nline',
  'ß 🙂',
];

const entry = fc.record({
  key: fc.constantFrom(0, 0, 0, 1, 1, 2),
  minutesAgo: fc.oneof(fc.nat({ max: 4 * 1_440 }), fc.nat({ max: 160 * 1_440 })),
  model: fc.constantFrom('a/one', 'a/two', ...hostileTexts),
  endpoint: fc.constantFrom(null, 'one'),
  failure: fc.constantFrom(
    null,
    { status: 502, errorType: 'provider_error' },
    { status: 499, errorType: 'cancelled' },
  ),
  isByok: fc.boolean(),
  cost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 21n })),
  upstreamCost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 21n })),
  promptTokens: fc.nat({ max: 2 ** 31 - 1 }),
  durationMs: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 300_000 })),
  userId: fc.constantFrom(null, 'user_1', ...hostileTexts),
  sessionId: fc.constantFrom(null, 'session'),
  chat: fc.option(
    fc
      .record({ completionTokens: fc.nat({ max: 2 ** 31 - 1 }), reasoningTokens: fc.nat({ max: 1_000 }) })
      .map((tokens) => createChatFacts(tokens)),
  ),
});
type Entry = ReturnType<typeof entry.generate>['value'];

const toGeneration = (
  keys: readonly ApiKey[],
  { key, minutesAgo, endpoint, failure, ...values }: Entry,
): Generation =>
  createGeneration(keys[key]!, {
    ...values,
    ...failure,
    operation: values.chat === null ? 'embeddings' : 'chat',
    endpoint,
    provider: endpoint,
    createdAt: new Date(now() - minutesAgo * MINUTE),
  });

const SUMMABLE: readonly DimensionName[] = [
  'model',
  'provider',
  'endpoint',
  'api_key_id',
  'workspace',
  'status',
  'error_type',
];
const range = {
  endMinutesAgo: fc.nat({ max: 120 * 1_440 }),
  minutes: fc.oneof(
    fc.integer({ min: 1, max: 4 * 1_440 }),
    fc.integer({ min: 20 * 1_440, max: 90 * 1_440 }),
    fc.constant(90 * 1_440),
  ),
  granularity: fc.constantFrom('hour', 'day', 'week', 'month', null),
  filter: fc.oneof(
    fc.constant(null),
    fc.record({
      dimension: fc.constantFrom('model', 'api_key_id', 'error_type', 'user', 'status'),
      isNot: fc.boolean(),
      values: fc.uniqueArray(fc.constantFrom('a/one', 'provider_error', 'user_1', '502', ...hostileTexts), {
        minLength: 1,
      }),
    }),
  ),
  isDescending: fc.boolean(),
  groupLimit: fc.option(fc.integer({ min: 1, max: 3 })),
  limit: fc.constantFrom(2, 1_000),
};
const asked = fc.oneof(
  // The sums answer these in PostgreSQL, as far as they go back.
  fc.record({
    ...range,
    dimensions: fc.uniqueArray(fc.constantFrom(...SUMMABLE), { maxLength: 2 }),
    metrics: fc.constant(SUMMED_METRICS),
    order: fc.constantFrom('request_count', 'total_usage', 'latency_avg'),
  }),
  // Their percentiles are exact.
  fc.record({
    ...range,
    dimensions: fc.constantFrom<DimensionName[]>(['user'], ['user', 'model']),
    metrics: fc.constant(METRIC_NAMES),
    order: fc.constantFrom('request_count', 'latency_p90', 'user'),
  }),
  fc.record({
    ...range,
    dimensions: fc.constantFrom<DimensionName[]>(['model'], ['api_key_id', 'status']),
    metrics: fc.constant(METRIC_NAMES),
    order: fc.constantFrom('latency_p50', 'latency_p99'),
  }),
);
type Asked = Omit<ReturnType<typeof asked.generate>['value'], 'limit' | 'order'> & {
  readonly limit: number;
  readonly order: string;
};

function queryOf(one: Asked, [key]: readonly ApiKey[]): AnalyticsQuery {
  const to = now() - one.endMinutesAgo * MINUTE + 1;
  const filter = one.filter && {
    ...one.filter,
    values: one.filter.dimension === 'api_key_id' ? [key!.id] : one.filter.values,
  };
  return {
    accountId: key!.accountId,
    workspaceIds: [key!.workspaceId],
    from: new Date(to - one.minutes * MINUTE),
    to: new Date(to),
    metrics: one.metrics,
    dimensions: one.dimensions,
    granularity: one.granularity,
    filters: filter === null ? [] : [filter],
    orderBy: { field: one.order as 'date', isDescending: one.isDescending },
    limit: one.limit,
    groupLimit: one.groupLimit,
  };
}

const analyse = (app: TestApp, query: AnalyticsQuery): Promise<readonly AnalyticsRow[]> =>
  app.application.get(AnalyticsRepository).query(query);

describe('analytics with a history', () => {
  it('equal those of PostgreSQL byte for byte, in their order, before and after rows are dropped', async () => {
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 30, maxLength: 60 }),
        fc.array(entry, { maxLength: 10 }),
        fc.array(asked, { minLength: 8, maxLength: 8 }),
        fc.nat({ max: 140 }),
        fc.boolean(),
        async (first, later, questions, droppedDaysAgo, isSummed) => {
          const keys = await createKeys();
          const copied = first.map((one) => toGeneration(keys, one));
          await history.append(copied);
          await history.copyAll({ workspaces: 500, rows: 17 });
          // Not copied: PostgreSQL still has them, wherever they are.
          await history.append(later.map((one) => toGeneration(keys, one)));
          if (isSummed) await history.app.application.get(ActivityRollup).catchUp(0);
          const queries = questions.map((one) => queryOf(one, keys));
          const expected: string[] = [];
          for (const query of queries) {
            const found = await analyse(history.plain, query);
            rows += found.length;
            expected.push(JSON.stringify(found));
          }
          const answers = async (): Promise<string[]> => {
            const found: string[] = [];
            for (const query of queries) found.push(JSON.stringify(await analyse(history.app, query)));
            return found;
          };
          expect(await answers()).toEqual(expected);
          await history.dropBefore(at(droppedDaysAgo), 'rows are kept');
          expect(await answers()).toEqual(expected);
          await history.dropBefore(at(droppedDaysAgo));
          expect(await answers()).toEqual(expected);
          await history.dropBefore(new Date(0));
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
    expect(rows).toBeGreaterThan(50);
  });

  it('have percentiles of counted latencies within their error', async () => {
    const keys = await createKeys();
    const durations = Array.from({ length: 200 }, (_one, index) => (index * 7_919) % 5_000);
    await history.append(
      durations.map((durationMs) => createGeneration(keys[0]!, { durationMs, createdAt: at(200) })),
    );
    await history.copyAll();
    const question = {
      endMinutesAgo: 190 * 1_440,
      minutes: 20 * 1_440,
      granularity: null,
      filter: null,
      isDescending: true,
      groupLimit: null,
      limit: 10,
      dimensions: [],
      metrics: METRIC_NAMES,
      order: 'request_count',
    };
    const [exact] = await analyse(history.plain, queryOf(question, keys));
    await history.dropBefore(at(100));
    const [counted] = await analyse(history.app, queryOf(question, keys));
    for (const name of METRIC_NAMES) {
      if (!isPercentile(name)) expect(counted?.[name]).toBe(exact?.[name]);
      else
        expect(Math.abs(Number(counted?.[name]) - Number(exact?.[name]))).toBeLessThanOrEqual(
          MAX_ERROR * Number(exact?.[name]) + 0.001,
        );
    }
  });

  it('take 100 values of 1,000 characters, and thousands of workspaces', async () => {
    const keys = await createKeys();
    const users = Array.from({ length: 100 }, (_one, index) => String(index).padStart(1_000, 'x'));
    await history.append(
      users.map((userId, index) => createGeneration(keys[0]!, { userId, createdAt: at(200 + (index % 3)) })),
    );
    await history.copyAll();
    const question = {
      endMinutesAgo: 190 * 1_440,
      minutes: 20 * 1_440,
      granularity: null,
      filter: { dimension: 'user' as const, isNot: false, values: users },
      isDescending: true,
      groupLimit: null,
      limit: 1_000,
      dimensions: ['user' as const],
      metrics: METRIC_NAMES,
      order: 'user',
    };
    const query = {
      ...queryOf(question, keys),
      workspaceIds: [...Array.from({ length: 5_000 }, () => randomUUID()), keys[0]!.workspaceId],
    };
    const expected = await analyse(history.plain, query);
    expect(expected).toHaveLength(100);
    await history.dropBefore(at(100));
    expect(await analyse(history.app, query)).toEqual(expected);
  });

  it('have all calls while the log, which answers for an absent server, loses them', async () => {
    const keys = await createKeys();
    await history.append([10, 11].map((days) => createGeneration(keys[0]!, { createdAt: at(days) })));
    await history.copyAll();
    const question = {
      endMinutesAgo: 9 * 1_440,
      minutes: 3 * 1_440,
      granularity: null,
      filter: null,
      isDescending: true,
      groupLimit: null,
      limit: 10,
      dimensions: ['user' as const],
      metrics: ['request_count' as const],
      order: 'request_count',
    };
    const query = queryOf(question, keys);
    const reader = history.app.application.get(HistoryReader);
    const sums = jest.spyOn(reader, 'sums').mockRejectedValueOnce(new AppError('unavailable'));
    const state = reader.state.bind(reader);
    jest.spyOn(reader, 'state').mockImplementationOnce(async () => {
      const before = await state();
      await history.dropBefore(at(5));
      return before;
    });
    expect(await analyse(history.app, query)).toMatchObject([{ request_count: 2 }]);
    expect(sums).toHaveBeenCalledTimes(2);
  });

  it('are of the account alone', async () => {
    const [key, , other] = await createKeys();
    await history.append(
      [key!, other!].map((one) => createGeneration(one, { createdAt: at(200), cost: 7n })),
    );
    await history.copyAll();
    await history.dropBefore(at(100));
    const body = {
      metrics: ['request_count', 'total_usage'],
      time_range: { start: at(250).toISOString(), end: at(180).toISOString() },
    };
    const answer = await ask(history.app, 'post', '/analytics/query', { body });
    expect(answer.body).toMatchObject({ data: { data: [] } });
  });
});

describe('the list of generations with a history', () => {
  const filters = fc.record({
    key: fc.boolean(),
    operation: fc.option(fc.constantFrom('embeddings' as const, 'chat' as const), { nil: undefined }),
    model: fc.option(fc.constantFrom('a/one', ...hostileTexts), { nil: undefined }),
    statuses: fc.option(fc.constantFrom([200], [499, 502]), { nil: undefined }),
    sessionId: fc.option(fc.constant('session'), { nil: undefined }),
    userId: fc.option(fc.constantFrom('user_1', ...hostileTexts), { nil: undefined }),
    fromDaysAgo: fc.option(fc.nat({ max: 160 }), { nil: undefined }),
    toDaysAgo: fc.option(fc.nat({ max: 160 }), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 7 }),
  });

  /** All pages, as the log or the history has them. */
  async function listAll(app: TestApp, filter: GenerationFilter, limit: number): Promise<Generation[]> {
    const found: Generation[] = [];
    let after: ListPosition | null = null;
    do {
      const page = await app.application.get(GenerationListRepository).list(filter, after, limit);
      found.push(...page.generations);
      after = page.next;
    } while (after !== null);
    return found;
  }

  it('has the same pages in the same order, before and after rows are dropped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 40 }),
        fc.array(filters, { minLength: 4, maxLength: 4 }),
        fc.nat({ max: 140 }),
        async (entries, questions, droppedDaysAgo) => {
          const keys = await createKeys();
          await history.append(entries.map((one) => toGeneration(keys, one)));
          await history.copyAll();
          const lists = questions.map(({ key, fromDaysAgo, toDaysAgo, limit, ...others }) => ({
            limit,
            filter: {
              ...others,
              accountId: keys[0]!.accountId,
              errorType: undefined,
              requestId: undefined,
              workspaceId: keys[0]!.workspaceId,
              apiKeyIds: key ? [keys[0]!.id] : undefined,
              provider: undefined,
              from: fromDaysAgo === undefined ? undefined : at(fromDaysAgo),
              to: toDaysAgo === undefined ? undefined : at(toDaysAgo),
            },
          }));
          const expected: Generation[][] = [];
          for (const { filter, limit } of lists) expected.push(await listAll(history.plain, filter, limit));
          await history.dropBefore(at(droppedDaysAgo));
          for (const [index, { filter, limit }] of lists.entries())
            expect(await listAll(history.app, filter, limit)).toEqual(expected[index]);
          await history.dropBefore(new Date(0));
        },
      ),
      { numRuns: 10, endOnFailure: true },
    );
  });

  const allOf = ({
    accountId,
    workspaceId,
  }: Pick<Generation, 'accountId' | 'workspaceId'>): GenerationFilter => ({
    accountId,
    workspaceId,
    errorType: undefined,
    requestId: undefined,
    apiKeyIds: undefined,
    model: undefined,
    provider: undefined,
    operation: undefined,
    statuses: undefined,
    sessionId: undefined,
    userId: undefined,
    from: undefined,
    to: undefined,
  });

  it.each([null, 150])(
    'has all generations while the log loses rows (it began %p days ago)',
    async (days) => {
      const [key] = await createKeys();
      const generations = [1, 105, 160].map((daysAgo) => createGeneration(key!, { createdAt: at(daysAgo) }));
      await history.append(generations);
      await history.copyAll();
      if (days !== null) await history.dropBefore(at(days));
      const reader = history.app.application.get(HistoryReader);
      const state = reader.state.bind(reader);
      const reads = jest.spyOn(reader, 'state').mockImplementationOnce(async () => {
        const before = await state();
        await history.dropBefore(at(100));
        return before;
      });
      const listed = await listAll(history.app, allOf(key!), 10);
      expect(listed.map(({ id }) => id)).toEqual(generations.map(({ id }) => id));
      expect(reads).toHaveBeenCalledTimes(2);
    },
  );

  it('reads no more of the history than a page needs', async () => {
    const [key] = await createKeys();
    const generations = Array.from({ length: 3 }, () => createGeneration(key!, { createdAt: at(100) }));
    await history.append(generations);
    await history.copyAll();
    await history.dropBefore(at(99));
    history.server.forgetRequests();
    const lists = history.app.application.get(GenerationListRepository);
    const page = await lists.list(allOf(key!), null, 2);
    expect(page.generations).toHaveLength(2);
    expect(page.next).toEqual(expect.objectContaining({ id: page.generations[1]!.id }));
    const [request, ...others] = history.server.requests;
    expect(String(request?.bytes)).toContain('created_at >= ');
    expect(others).toEqual([]);
  });

  it('states how far it has searched the history when that takes long, or too long', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const lists = app.application.get(GenerationListRepository);
    await history.dropBefore(at(99));
    const endOfRange = new Date(Math.floor(at(99).getTime() / DAY) * DAY - DAY);
    const expected = {
      generations: [],
      next: expect.objectContaining({ createdAt: endOfRange }),
      searchedUntil: endOfRange,
    };
    const read = jest.spyOn(app.application.get(HistoryReader), 'list');
    read.mockImplementationOnce(async () => {
      await pause(1_100);
      return [];
    });
    const page = await lists.list(allOf(account), null, 10);
    expect(page).toEqual(expected);
    expect(read).toHaveBeenCalledTimes(1);
    history.server.script(
      { status: 200 },
      { status: 408, headers: { 'x-clickhouse-exception-code': '159' }, body: 'Code: 159.' },
    );
    expect(await lists.list(allOf(account), null, 10)).toEqual(expected);
    // The next page goes on from there.
    expect(await lists.list(allOf(account), page.next, 10)).toEqual({
      generations: [],
      next: null,
      searchedUntil: null,
    });
  });

  it('has single generations for the readers that the log lets read them', async () => {
    const { app } = history;
    const generation = createGeneration(app.key, {
      createdAt: at(150),
      operation: 'chat',
      chat: createChatFacts(),
      trace: { name: hostileTexts.join(' ') },
      cost: 12_345n,
    });
    await history.append([generation]);
    await history.copyAll();
    const find = (of: TestApp, reader: ApiKey) =>
      of.application.get(GenerationsRepository).find(managerByKey(reader), generation);
    const expected = await find(history.plain, app.key);
    await history.dropBefore(at(100));
    expect(await find(history.plain, app.key)).toBeNull();
    expect(await find(app, app.key)).toEqual(expected);
    expect(await find(app, { ...app.key, kind: 'management' })).toEqual(expected);
    const { record } = await app.createKey();
    expect(await find(app, record)).toBeNull();
    expect(await find(app, { ...(await app.createAccount()).key, kind: 'management' })).toBeNull();
  });
});

// The last ones: after a failure the history is not queried for a while.
describe('a server that fails', () => {
  it('rejects what exceeds its bounds: analytics with 408, lists with 503', async () => {
    await history.dropBefore(at(100));
    history.server.always({
      status: 500,
      headers: { 'x-clickhouse-exception-code': '241' },
      body: 'Code: 241. DB::Exception: (MEMORY_LIMIT_EXCEEDED)',
    });
    const body = {
      metrics: ['request_count'],
      time_range: { start: at(150).toISOString(), end: at(120).toISOString() },
    };
    expect(expectError(await ask(history.app, 'post', '/analytics/query', { body }), 408)).toContain(
      'there is too much to read',
    );
    const list = await ask(history.app, 'get', `/generations?to=${at(120).toISOString()}`);
    expect(expectError(list, 503)).toContain('the history took too long');
  });

  it('rejects one query: the next ones are answered', async () => {
    await history.copyAll();
    await history.dropBefore(at(100));
    const path = `/generations?to=${at(120).toISOString()}`;
    for (const script of [
      {
        status: 500,
        headers: { 'x-clickhouse-exception-code': '1000' },
        body: 'Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long',
      },
      { status: 413, body: 'a proxy allows no such body' },
    ]) {
      history.server.always(script);
      expect(expectError(await ask(history.app, 'get', path), 503)).toContain(
        `the history cannot answer this; calls since ${at(100).toISOString()} are available`,
      );
      history.server.always(null);
      expect((await ask(history.app, 'get', path)).status).toBe(200);
    }
  });

  it('is away: queries of older ranges answer 503, and no others', async () => {
    await history.copyAll();
    await history.dropBefore(at(100));
    history.server.always('reset');
    const query = (start: Date, end: Date) =>
      ask(history.app, 'post', '/analytics/query', {
        body: {
          metrics: ['request_count'],
          dimensions: ['user'],
          time_range: { start: start.toISOString(), end: end.toISOString() },
        },
      });
    expect((await query(at(50), at(1))).status).toBe(200);
    expect(expectError(await query(at(150), at(80)), 503)).toContain(
      `the history cannot be reached; calls since ${at(100).toISOString()} are available`,
    );
    const list = await ask(history.app, 'get', `/generations?from=${at(90).toISOString()}`);
    expect(list.status).toBe(200);
    expectError(await ask(history.app, 'get', `/generations?to=${at(120).toISOString()}`), 503);
  });
});
