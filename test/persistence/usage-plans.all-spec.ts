// Rows that the queries of the console read: sums, and of the log no more than the hours at the ends of a range.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  UsageRollupRepository,
  UserRollupRepository,
} from '../../src/persistence/activity/activity-rollup.repository.js';
import { askFor } from '../support/requests/admin.js';
import { askAs, createPerson } from '../support/app/people.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { fillLog, planOf, scansOf } from '../support/database/plans.js';
import type { Scan } from '../support/database/plans.js';
import { sumUp } from '../support/database/rollup-pass.js';
import { withIdleRollup } from '../support/database/rollups.js';
import { recordStatements } from '../support/database/statements.js';

const NOW = '2026-11-18T12:00:00Z';
const DAYS = 30;
const ROWS = 30_000;
const ROWS_PER_HOUR = ROWS / (DAYS * 24);
const USERS = 10;
const MODELS = 5;
const METRICS = ['request_count', 'error_rate', 'total_tokens', 'total_usage', 'latency_p50', 'latency_p95'];

let app: TestApp;
let other: TestApp['key'];
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp({ override: withIdleRollup });
  const stranger = await app.createAccount();
  other = stranger.key;
  const from = new Date(Date.parse(NOW) - DAYS * 86_400_000);
  await fillLog(app, [app.key, stranger.key], { rows: ROWS, from, days: DAYS });
  for (const rollup of [UsageRollupRepository, UserRollupRepository])
    await sumUp(app, app.application.get(rollup), { workspaces: 500, rows: 10_000 });
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

/** The scans of the statements that a request makes on the log and on the sums. */
async function scansOfRequest(request: () => Promise<unknown>): Promise<readonly Scan[]> {
  const recording = recordStatements();
  try {
    await request();
  } finally {
    recording.stop();
  }
  const texts = [...recording.statements.values()].filter(({ text }) =>
    /FROM (?:generations|usage_)/.test(text),
  );
  expect(texts.length).toBeGreaterThan(0);
  const scans: Scan[] = [];
  for (const { text, values } of texts) scans.push(...scansOf(await planOf(client, text, values)));
  return scans;
}

const rowsOf = (scans: readonly Scan[], table: RegExp): number =>
  scans.filter((scan) => table.test(scan.table)).reduce((sum, { rows }) => sum + rows, 0);

const query = (body: object) => () =>
  askFor(200, app, 'post', '/analytics/query', {
    body: {
      metrics: METRICS,
      filters: [{ field: 'workspace', operator: 'eq', value: app.workspaceId }],
      ...body,
    },
  });
const range = (start: string) => ({ time_range: { start, end: NOW } });
const ofUsers = () => ({ filters: [{ field: 'user', operator: 'in', value: ['user-1', 'user-3'] }] });
const byKey = () => ({ filters: [{ field: 'api_key_id', operator: 'eq', value: app.key.hash }] });

describe('a query of the console', () => {
  it.each<[string, () => object]>([
    ['the totals of a day', () => range('2026-11-17T13:00:00Z')],
    ['a week by hour', () => ({ ...range('2026-11-11T13:00:00Z'), granularity: 'hour' })],
    ['a month by day', () => ({ ...range('2026-10-20T00:00:00Z'), granularity: 'day' })],
    ['a quarter by day', () => ({ ...range('2026-08-21T00:00:00Z'), granularity: 'day' })],
    ['a month by model', () => ({ ...range('2026-10-20T00:00:00Z'), dimensions: ['model'] })],
    ['a month by key', () => ({ ...range('2026-10-20T00:00:00Z'), dimensions: ['api_key_id'] })],
    ['the use of a key', () => ({ ...range('2026-10-20T00:00:00Z'), ...byKey(), dimensions: ['model'] })],
  ])('reads no row of the log that is summed up: %s', async (_name, body) => {
    const scans = await scansOfRequest(query(body()));
    expect(rowsOf(scans, /^generations/)).toBe(0);
    // Two statements, one for the latencies: at most a row for each hour, model and key.
    expect(rowsOf(scans, /^usage_/)).toBeLessThanOrEqual(2 * DAYS * 24 * 5);
    expect(rowsOf(scans, /^usage_/)).toBeGreaterThan(0);
  });

  it('ranks keys by one row for each key and period, and reads latencies of the found ones alone', async () => {
    const quarter = { ...range('2026-08-21T00:00:00Z'), dimensions: ['api_key_id'], limit: 1 };
    const ranked = await scansOfRequest(
      query({ ...quarter, metrics: METRICS.filter((name) => !name.startsWith('latency')) }),
    );
    const tables = new Set(ranked.map(({ table }) => table));
    for (const period of ['hour', 'day', 'week']) expect(tables).toContain(`usage_key_${period}_totals`);
    expect(tables).not.toContain('usage_key_days');
    // Small tables may be read as a whole: weeks, twice the days, and the hours of today of both keys.
    expect(rowsOf(ranked, /^usage_key/)).toBeLessThanOrEqual(2 * (5 + 2 * (DAYS + 1) + 12));
    const withLatencies = await scansOfRequest(query(quarter));
    expect(rowsOf(withLatencies, /^usage_key_(?:hours|days)$/)).toBeGreaterThan(0);
  });

  it.each(['model', 'provider'])(
    'groups a calendar month by key and %s from days and weeks',
    async (second) => {
      const scans = await scansOfRequest(
        query({
          time_range: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
          dimensions: ['api_key_id', second],
          metrics: METRICS.filter((name) => !name.startsWith('latency')),
          limit: 1000,
        }),
      );
      const read = scans.filter(({ table, rows }) => table.startsWith('usage_key') && rows > 0);
      expect(new Set(read.map(({ table }) => table))).toEqual(
        new Set(['usage_key_model_days', 'usage_key_model_weeks']),
      );
      expect(rowsOf(scans, /^generations/)).toBe(0);
    },
  );

  it('reads the hours at the ends of a range from the log', async () => {
    const scans = await scansOfRequest(
      query({
        time_range: { start: '2026-11-11T13:20:00Z', end: '2026-11-18T11:40:00Z' },
        granularity: 'hour',
      }),
    );
    const rows = rowsOf(scans, /^generations/);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(2 * 2 * (ROWS_PER_HOUR / 2 + 1));
  });

  it('of an inference key reads the days of this key alone', async () => {
    const scans = await scansOfRequest(() => askFor(200, app, 'get', '/key/usage', { key: app.apiKey }));
    expect(rowsOf(scans, /^generations/)).toBe(0);
    expect(rowsOf(scans, /^usage_/)).toBeLessThanOrEqual(3 * DAYS * 5);
    expect(scans.map(({ table }) => table)).toContain('usage_key_days');
    const read = await app.sql('SELECT 1 FROM usage_key_days WHERE api_key_id = $1', [other.id]);
    expect(read.length).toBeGreaterThan(0);
  });

  // The users of the filled log: each key has ten.
  const sums = METRICS.filter((name) => !name.startsWith('latency'));
  it.each<[string, number, () => object]>([
    ['a month by user', USERS, () => ({ dimensions: ['user'] })],
    ['some users by day', USERS, () => ({ ...ofUsers(), granularity: 'day', dimensions: ['user'] })],
    ['a month by user and key', 2 * USERS, () => ({ dimensions: ['user', 'api_key_id'] })],
    ['a month by model of a user', MODELS * USERS, () => ({ ...ofUsers(), dimensions: ['model'] })],
    ['a month by user and model', MODELS * USERS, () => ({ dimensions: ['user', 'model'] })],
    ['a month by user and provider', MODELS * USERS, () => ({ dimensions: ['user', 'provider'] })],
  ])('about users reads sums of users alone: %s', async (_name, rows, body) => {
    const scans = await scansOfRequest(
      query({ ...range('2026-10-20T00:00:00Z'), metrics: sums, limit: 1000, ...body() }),
    );
    expect(rowsOf(scans, /^generations/)).toBe(0);
    expect(rowsOf(scans, /^usage_(?!user_)/)).toBe(0);
    const read = rowsOf(scans, /^usage_user_/);
    expect(read).toBeGreaterThan(0);
    // At most a row for each day and user, twice where a small table is read as a whole: of both accounts.
    expect(read).toBeLessThanOrEqual(2 * rows * (DAYS + 12 + 5));
  });

  it('about the latency of users reads the log, which has each call', async () => {
    const scans = await scansOfRequest(
      query({ ...range('2026-11-11T13:00:00Z'), metrics: ['latency_p50'], dimensions: ['user'] }),
    );
    expect(rowsOf(scans, /^generations/)).toBeGreaterThan(ROWS_PER_HOUR * 24);
  });
});

describe('a query of a person who reads the calls of own keys', () => {
  it.each<[string, object]>([
    ['the totals of a month', range('2026-10-20T00:00:00Z')],
    ['a week by hour', { ...range('2026-11-11T13:00:00Z'), granularity: 'hour' }],
    ['a month by day', { ...range('2026-10-20T00:00:00Z'), granularity: 'day' }],
    ['a quarter by day', { ...range('2026-08-21T00:00:00Z'), granularity: 'day' }],
    ['a month by model', { ...range('2026-10-20T00:00:00Z'), dimensions: ['model'] }],
    ['a month by key', { ...range('2026-10-20T00:00:00Z'), dimensions: ['api_key_id'] }],
  ])('reads sums of keys alone, and no row of the log that is summed up: %s', async (_name, body) => {
    const person = await createPerson(app, { workspaces: { [app.workspaceId]: 'member' } });
    await app.sql('UPDATE api_keys SET creator_user_id = $1 WHERE id = $2', [person.id, app.key.id]);
    const scans = await scansOfRequest(async () => {
      const answer = await askAs(person, app, 'post', '/analytics/query', {
        body: { metrics: METRICS, ...body },
      });
      expect(answer.status).toBe(200);
    });
    expect(rowsOf(scans, /^generations/)).toBe(0);
    expect(rowsOf(scans, /^usage_(?!key_|rollup)/)).toBe(0);
    expect(rowsOf(scans, /^usage_key_/)).toBeGreaterThan(0);
    expect(rowsOf(scans, /^usage_key_/)).toBeLessThanOrEqual(2 * DAYS * 24 * 5);
  });
});
