// /analytics: the metadata and the results of queries about the log.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp, TestKey } from '../../support/app/app.js';
import { createChatFacts } from '../../support/generations/chat-generation.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';
import { Reports } from '../../../src/persistence/database/reports.js';

const USD = 1_000_000_000_000n;

interface Result {
  readonly data: {
    readonly data: readonly Readonly<Record<string, unknown>>[];
    readonly metadata: { readonly row_count: number; readonly truncated: boolean };
    readonly warnings: readonly string[];
  };
}

let app: TestApp;
let other: TestAccount;
let second: TestKey;
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createAccount();
  second = await app.createKey();
  const record = (at: string, overrides: Parameters<typeof recordGenerations>[2], key = app.key) =>
    recordGenerations(app, 1, { createdAt: new Date(at), ...overrides }, null, key);
  await record('2026-11-16T10:00:00Z', { durationMs: 10, promptTokens: 5, totalTokens: 5, cost: USD });
  await record('2026-11-16T10:59:59Z', { durationMs: 20, cost: USD / 2n, userId: 'user_1' }, second.record);
  await record('2026-11-17T10:00:00Z', {
    durationMs: 30,
    model: 'a/b',
    provider: 'jina',
    operation: 'chat',
    chat: createChatFacts(),
  });
  await record('2026-11-17T11:00:00Z', {
    durationMs: 40,
    status: 502,
    errorType: 'provider_error',
    cost: null,
  });
  await record('2026-11-17T11:00:00Z', { cost: USD * 100n }, other.key);
});
afterAll(() => app.close());

const query = async (body: object) =>
  (await askFor<Result>(200, app, 'post', '/analytics/query', { body })).data;
const rowsOf = async (body: object) => (await query(body)).data;

describe('POST /analytics/query', () => {
  it('returns sums, shares and percentiles of this account only', async () => {
    const metrics = (
      'request_count error_count refused_count error_rate input_count prompt_tokens completion_tokens reasoning_tokens ' +
      'cached_tokens total_tokens total_usage byok_usage latency_avg latency_p50 latency_p90 latency_p95 latency_p99 ' +
      'time_to_first_token_p50 time_to_first_token_p95'
    ).split(' ');
    const { data, metadata, warnings } = await query({ metrics });
    expect(data).toEqual([
      {
        request_count: 4,
        error_count: 1,
        refused_count: 0,
        error_rate: 0.25,
        input_count: 4,
        prompt_tokens: 8,
        completion_tokens: 40,
        reasoning_tokens: 30,
        cached_tokens: 800,
        total_tokens: 8,
        total_usage: 1.5,
        byok_usage: 0,
        latency_avg: 25,
        latency_p50: expect.any(Number),
        latency_p90: expect.any(Number),
        latency_p95: expect.any(Number),
        latency_p99: expect.any(Number),
        time_to_first_token_p50: expect.any(Number),
        time_to_first_token_p95: expect.any(Number),
      },
    ]);
    const exact = {
      latency_p50: 25,
      latency_p90: 37,
      latency_p95: 38.5,
      latency_p99: 39.7,
      time_to_first_token_p50: 120,
    };
    for (const [name, value] of Object.entries(exact)) {
      expect(Math.abs(Number(data[0]?.[name]) - value)).toBeLessThan(0.091 * value);
    }
    expect(metadata).toEqual({ row_count: 1, truncated: false, query_time_ms: expect.any(Number) });
    expect(warnings).toEqual([]);
    // Every metric of the metadata can be requested.
    const meta = await askFor<{ data: { metrics: { name: string }[] } }>(200, app, 'get', '/analytics/meta');
    expect(meta.data.metrics.map(({ name }) => name)).toEqual(metrics);
  });

  it('returns the time to the first token of streamed chats, and null without one', async () => {
    const metrics = ['request_count', 'time_to_first_token_p50', 'time_to_first_token_p95'];
    // By user the log answers, exactly.
    expect(await rowsOf({ metrics, dimensions: ['model', 'user'] })).toEqual([
      {
        model: 'openai/text-embedding-3-small',
        user: null,
        request_count: 2,
        time_to_first_token_p50: null,
        time_to_first_token_p95: null,
      },
      {
        model: 'a/b',
        user: null,
        request_count: 1,
        time_to_first_token_p50: 120,
        time_to_first_token_p95: 120,
      },
      {
        model: 'openai/text-embedding-3-small',
        user: 'user_1',
        request_count: 1,
        time_to_first_token_p50: null,
        time_to_first_token_p95: null,
      },
    ]);
    const byModel = await rowsOf({
      metrics,
      dimensions: ['model'],
      order_by: { field: 'model', direction: 'asc' },
    });
    expect(byModel[0]).toMatchObject({ model: 'a/b' });
    expect(Math.abs(Number(byModel[0]?.['time_to_first_token_p95']) - 120)).toBeLessThan(0.091 * 120);
    expect(byModel[1]).toMatchObject({ time_to_first_token_p50: null, time_to_first_token_p95: null });
  });

  it('counts no refused calls by what they lack, beside other metrics', async () => {
    const metrics = ['request_count', 'refused_count'];
    expect(await rowsOf({ metrics, dimensions: ['provider'] })).toEqual([
      { provider: 'openai', request_count: 3, refused_count: null },
      { provider: 'jina', request_count: 1, refused_count: null },
    ]);
  });

  it('accepts every dimension and granularity of the metadata', async () => {
    const { data } = await askFor<{ data: Record<'dimensions' | 'granularities', { name: string }[]> }>(
      200,
      app,
      'get',
      '/analytics/meta',
    );
    const counts: Record<string, unknown[]> = {};
    for (const { name } of data.dimensions) {
      // Only refused calls have it.
      if (name === 'refusal_reason') continue;
      const rows = await rowsOf({ metrics: ['request_count'], dimensions: [name] });
      counts[name] = rows.map((row) => [row[name], row['request_count']]);
    }
    expect(counts).toEqual({
      model: [
        ['openai/text-embedding-3-small', 3],
        ['a/b', 1],
      ],
      provider: [
        ['openai', 3],
        ['jina', 1],
      ],
      endpoint: [['openai/text-embedding-3-small', 4]],
      api_key_id: [
        [app.key.hash, 3],
        [second.record.hash, 1],
      ],
      user: [
        [null, 3],
        ['user_1', 1],
      ],
      workspace: [[app.workspaceId, 4]],
      status: [
        ['200', 3],
        ['502', 1],
      ],
      error_type: [
        [null, 3],
        ['provider_error', 1],
      ],
    });
    const dates: Record<string, unknown[]> = {};
    for (const { name } of data.granularities) {
      const rows = await rowsOf({ metrics: ['request_count'], granularity: name });
      dates[name] = rows.map(({ date, request_count: count }) => [date, count]);
    }
    expect(dates).toEqual({
      minute: [],
      hour: [
        ['2026-11-16T10:00:00Z', 2],
        ['2026-11-17T10:00:00Z', 1],
        ['2026-11-17T11:00:00Z', 1],
      ],
      day: [
        ['2026-11-16T00:00:00Z', 2],
        ['2026-11-17T00:00:00Z', 2],
      ],
      week: [['2026-11-16T00:00:00Z', 4]],
      month: [['2026-11-01T00:00:00Z', 4]],
    });
  });

  it.each([
    [{ field: 'model', operator: 'eq', value: 'a/b' }, 1],
    [{ field: 'model', operator: 'neq', value: 'a/b' }, 3],
    [{ field: 'status', operator: 'in', value: [502, '404'] }, 1],
    [{ field: 'user', operator: 'not_in', value: ['user_1'] }, 3],
    [{ field: 'model', operator: 'eq', value: "'; DROP TABLE generations; --" }, 0],
  ])('applies the filter %j to return %i rows', async (filter, count) => {
    const rows = await rowsOf({ metrics: ['request_count'], filters: [filter] });
    expect(rows).toEqual(count === 0 ? [] : [{ request_count: count }]);
  });

  it('filters keys by their hashes; an unknown hash matches nothing and causes a warning', async () => {
    const filter = (value: unknown) => ({
      metrics: ['request_count'],
      filters: [{ field: 'api_key_id', operator: 'in', value }],
    });
    expect((await query(filter([second.record.hash, other.key.hash]))).data).toEqual([{ request_count: 1 }]);
    expect(await query(filter([other.key.hash]))).toMatchObject({
      data: [],
      warnings: [`api_key_id: no such key: ${other.key.hash}`],
    });
    const foreign = { field: 'workspace', operator: 'eq', value: other.workspaceId };
    expect(await query({ metrics: ['request_count'], filters: [foreign] })).toMatchObject({
      data: [],
      warnings: [`workspace: no such workspace: ${other.workspaceId}`],
    });
  });

  it('filters workspaces by their ids, also in capitals', async () => {
    const own = { field: 'workspace', operator: 'eq', value: app.workspaceId.toUpperCase() };
    expect(await query({ metrics: ['request_count'], filters: [own] })).toMatchObject({
      data: [{ request_count: 4 }],
      warnings: [],
    });
  });

  it('applies the requested order and limits', async () => {
    const byModel = { metrics: ['total_usage'], dimensions: ['model'] };
    const ascending = { ...byModel, order_by: { field: 'request_count', direction: 'asc' } };
    expect((await rowsOf(ascending)).map(({ model }) => model)).toEqual([
      'a/b',
      'openai/text-embedding-3-small',
    ]);
    const cut = await query({ ...byModel, limit: 1 });
    expect(cut).toMatchObject({
      data: [{ model: 'openai/text-embedding-3-small' }],
      metadata: { row_count: 1, truncated: true },
    });
    const hourly = { metrics: ['request_count'], dimensions: ['model'], granularity: 'hour' };
    expect(await rowsOf(hourly)).toHaveLength(3);
    expect((await rowsOf({ ...hourly, group_limit: 1 })).map(({ date }) => date)).toEqual([
      '2026-11-16T10:00:00Z',
      '2026-11-17T10:00:00Z',
    ]);
    const range = { start: '2026-11-17T00:00:00Z', end: '2026-11-17T11:00:00Z' };
    expect(await rowsOf({ metrics: ['request_count'], time_range: range })).toEqual([{ request_count: 1 }]);
  });

  it.each([
    [{}, 'metrics: must be an array'],
    [{ metrics: [] }, 'metrics: must have at least 1 element'],
    [{ metrics: ['count(*)'] }, 'metrics: must hold only request_count'],
    [{ metrics: ['request_count'], dimensions: ['id; --'] }, 'dimensions: must hold only model'],
    [{ metrics: ['request_count'], granularity: "day'" }, 'granularity: must be one of minute'],
    [
      { metrics: ['request_count'], filters: [{ field: 'model', operator: 'eq', value: ['a'] }] },
      'filters[0].value: must be a string or a number',
    ],
    [
      { metrics: ['request_count'], filters: [{ field: '1=1', operator: 'eq', value: 'a' }] },
      'filters[0].field: must be one of model',
    ],
    [
      { metrics: ['request_count'], order_by: { field: 'model', direction: 'asc' } },
      'order_by.field: must be one of the requested metrics or dimensions',
    ],
    [
      {
        metrics: ['request_count'],
        time_range: { start: '2026-01-01T00:00:00Z', end: '2026-04-02T00:00:00Z' },
      },
      'time_range: must end after it starts, and be of at most 90 days',
    ],
    [{ metrics: ['request_count'], limit: 1_001 }, 'limit: must be from 1 to 1000'],
    [{ metrics: ['request_count'], classifier_filters: {} }, 'classifier_filters: is not a member'],
  ])('returns 400 for %j', async (body, message) => {
    expect(expectError(await ask(app, 'post', '/analytics/query', { body }), 400)).toContain(message);
  });

  it('rejects an inference key', async () => {
    const body = { metrics: ['request_count'] };
    expectError(await ask(app, 'post', '/analytics/query', { body, key: app.apiKey }), 403);
    expectError(await ask(app, 'get', '/analytics/meta', { key: app.apiKey }), 403);
  });
});

it('returns 408 when the database cancels a report that takes too long', async () => {
  const reports = app.application.get(Reports);
  await expect(reports.read(app.accountId, { text: 'SELECT pg_sleep(30)' })).rejects.toMatchObject({
    status: 408,
  });
  // No later statement inherits the time-out, and reports cannot write.
  expect(await reports.read(app.accountId, { text: 'SELECT pg_sleep(0)::text AS slept' })).toEqual([
    { slept: '' },
  ]);
  await expect(reports.read(app.accountId, { text: 'CREATE TABLE report (id int)' })).rejects.toThrow();
});

describe('by minute', () => {
  const MINUTE = { metrics: ['request_count'], granularity: 'minute' };

  it('counts the last hour', async () => {
    const { clock } = app;
    await recordGenerations(app, 2, { createdAt: new Date(clock.now().getTime() - 90_000) }, null);
    await recordGenerations(app, 1, { createdAt: new Date(clock.now().getTime() - 3_700_000) }, null);
    expect(await rowsOf(MINUTE)).toEqual([{ date: '2026-11-18T11:58:00Z', request_count: 2 }]);
  });

  it.each([
    ['2026-11-18T11:00:00Z', 200],
    ['2026-11-18T10:50:00Z', 400],
  ])('takes a range within the last hour: from %s', async (start, status) => {
    const body = { ...MINUTE, time_range: { start, end: '2026-11-18T12:00:00Z' } };
    const response = await ask(app, 'post', '/analytics/query', { body });
    expect(response.status).toBe(status);
    if (status === 400)
      expectError(response, 400, /granularity: minute is for a time_range within the last hour/);
  });
});
