// Rows that the statements of refused calls read in filled tables: those of their keys and range, by indexes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { DeletedRows } from '../../src/upkeep/deleted-rows.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { planOf, scansOf } from '../support/database/plans.js';
import { recordStatements } from '../support/database/statements.js';
import { askFor } from '../support/requests/admin.js';
import { embed } from '../support/requests/create-embedding.js';
import { listRefusals, queryRefusals, recordRefusals } from '../support/requests/refusals.js';

const KEYS = 100;
// Minutes as well.
const PERIODS = 1_000;
const ACCOUNTS = 300;
const HOUR = 3_600_000;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  for (const [table, step] of [
    ['refusal_minutes', 'minute'],
    ['refusal_hours', 'hour'],
  ]) {
    await app.sql(
      `INSERT INTO ${table} (workspace_id, api_key_id, period, reason, refusals, first_at, last_at)
       SELECT $1::uuid, md5(key::text)::uuid, period, 'rate', 1, period, period
       FROM generate_series(1, $3::integer) AS key, generate_series(1, $4::integer) AS ago,
         date_trunc('${step}', $2::timestamptz - ago * interval '1 ${step}') AS period`,
      [app.workspaceId, app.clock.now(), KEYS, PERIODS],
    );
  }
  await app.sql(
    `INSERT INTO refusals (account_id, id, workspace_id, api_key_id, created_at, reason, request_id, message)
     SELECT md5(account::text)::uuid, gen_random_uuid(), $1::uuid, $1::uuid, $2::timestamptz, 'rate', 'request', 'message'
     FROM generate_series(1, $3::integer) AS account, generate_series(1, 100)`,
    [app.workspaceId, app.clock.now(), ACCOUNTS],
  );
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

/** The most rows of one table that a statement of the work reads. */
async function mostRows(work: () => Promise<unknown>): Promise<number> {
  const recording = recordStatements();
  try {
    await work();
  } finally {
    recording.stop();
  }
  const statements = [...recording.statements.values()].filter(({ text }) => /refusal/.test(text));
  expect(statements.length).toBeGreaterThan(0);
  const rows: number[] = [];
  for (const { text, values } of statements) {
    await client.query('BEGIN');
    const scans = scansOf(await planOf(client, text, values));
    await client.query('ROLLBACK');
    rows.push(...scans.filter(({ table }) => table.startsWith('refusal')).map((scan) => scan.rows));
  }
  return Math.max(0, ...rows);
}

it('a page of keys and one key read the refusals of these keys', async () => {
  await askFor(200, app, 'get', `/keys/${app.key.hash}`);
  expect(await mostRows(() => askFor(200, app, 'get', '/keys'))).toBeLessThan(200);
  expect(await mostRows(() => askFor(200, app, 'get', `/keys/${app.key.hash}`))).toBeLessThan(200);
});

it('a refused call adds to its own rows, and removes older ones of its account alone', async () => {
  const most = await mostRows(async () => {
    expect((await embed(app, { model: 'local/hashing' })).status).toBe(400);
    await recordRefusals(app);
  });
  expect(most).toBeLessThan(200);
});

it('the list reads those of its account', async () => {
  expect(await mostRows(() => listRefusals(app))).toBeLessThan(200);
});

it('a query reads the periods of its range', async () => {
  const end = app.clock.now();
  const time_range = { start: new Date(end.getTime() - 10 * HOUR).toISOString(), end: end.toISOString() };
  const most = await mostRows(() => queryRefusals(app, { time_range, dimensions: ['api_key_id'] }));
  expect(most).toBeGreaterThan(KEYS);
  expect(most).toBeLessThan(KEYS * 12);
});

it('minutes are removed after 3 hours, hours after 101 days, refusals one by one after 30 days', async () => {
  const count = async (table: string): Promise<number> => {
    const [row] = await app.sql<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`);
    return row?.count ?? -1;
  };
  const purge = async (): Promise<number[]> => {
    await app.application.get(DeletedRows).purge();
    return [await count('refusal_minutes'), await count('refusal_hours'), await count('refusals')];
  };
  const [minutes = 0, hours = 0, newest = 0] = await purge();
  expect([minutes > 0, hours > 0, newest > 0]).toEqual([true, true, true]);
  app.clock.advance(5 * HOUR);
  expect(await purge()).toEqual([0, hours, newest]);
  app.clock.advance(30 * 24 * HOUR);
  expect(await purge()).toEqual([0, hours, 0]);
  app.clock.advance(72 * 24 * HOUR);
  expect(await purge()).toEqual([0, 0, 0]);
});
