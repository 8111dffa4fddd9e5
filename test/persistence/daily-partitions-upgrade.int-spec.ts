// The upgrade from a log by month: rows stay where they are, appends go on, and the version before works beside this one.
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createEmptyDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';

const MIGRATION = '20261127200000_daily_partitions';
const FOLDER = new URL('../../prisma/migrations/', import.meta.url);

let database: TestDatabase;
let client: pg.Client;
let old: pg.Client;
beforeAll(async () => {
  database = await createEmptyDatabase();
  client = await connect();
  old = await connect();
  for (const migration of (await readdir(FOLDER)).filter((one) => /^\d/.test(one)).toSorted()) {
    if (migration >= MIGRATION) break;
    await client.query(await scriptOf(migration));
  }
});
afterAll(async () => {
  await client.end();
  await old.end();
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const connected = new pg.Client({ connectionString: database.url });
  await connected.connect();
  return connected;
}

const scriptOf = (migration: string): Promise<string> =>
  readFile(new URL(`${migration}/migration.sql`, FOLDER), 'utf8');

const [workspace, account, key] = [randomUUID(), randomUUID(), randomUUID()];

async function append(by: pg.Client, createdAt: string): Promise<void> {
  await by.query(
    `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, status,
       input_count, prompt_tokens, total_tokens, is_byok, duration_ms, request_id, region)
     VALUES (gen_random_uuid(), $1, ${createdAt}, 1, $2, $3, 'embeddings', 'model', 200, 1, 1, 1, false, 1, 'request', 'global')`,
    [workspace, account, key],
  );
}

async function partitions(): Promise<{ partition: string; isMonth: boolean }[]> {
  const { rows } = await client.query<{ partition: string; isMonth: boolean }>(
    `SELECT partition, ends - starts > interval '1 day' AS "isMonth" FROM time_partitions('generations') ORDER BY starts`,
  );
  return rows;
}

async function count(of: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${of}`);
  return rows[0]!.count;
}

it('keeps all rows and fails no append while the version before still writes', async () => {
  for (const moment of ["now() - interval '70 days'", 'now()', 'now()']) await append(client, moment);
  // As the service does: the row of an unknown month gets a partition of that month.
  await client.query("SELECT move_default_rows('generations', 'month', 20000)");
  const progress = { isOver: false, appended: 3 };
  await old.query("SET lock_timeout = '30s'");
  const appending = (async () => {
    while (!progress.isOver) {
      await append(old, 'now()');
      progress.appended++;
    }
  })();
  const before = progress.appended;
  await client.query(`BEGIN; SET LOCAL lock_timeout = '5s'; ${await scriptOf(MIGRATION)}; COMMIT`);
  const during = progress.appended;
  // The version before runs this each hour.
  await append(old, "now() + interval '40 days'");
  // Of a month that has no partition, whatever the day of this one.
  await append(old, "now() - interval '20 months'");
  progress.appended += 2;
  await old.query('SELECT ensure_time_partitions(now())');
  while (
    (await old.query<{ moved: number }>("SELECT move_default_rows('generations', 'month', 20000) AS moved"))
      .rows[0]!.moved > 0
  );
  progress.isOver = true;
  await appending;
  expect(during).toBeGreaterThanOrEqual(before);
  expect(await count('generations')).toBe(progress.appended);
  expect(await count('ONLY generations_default')).toBe(0);
  const all = await partitions();
  // The month of now and the one before it keep their rows; the months ahead, which had none, are days as they come.
  expect(all.filter(({ isMonth }) => isMonth)).toHaveLength(2);
  expect(all.filter(({ isMonth }) => !isMonth).length).toBeGreaterThanOrEqual(2);
});

it('makes days as soon as the month is over, and drops the months whole', async () => {
  await client.query("SELECT ensure_time_partitions(date_trunc('month', now(), 'UTC') + interval '1 month')");
  const { rows } = await client.query<{ isDay: boolean }>(
    `SELECT ends - starts = interval '1 day' AS "isDay" FROM time_partitions('generations')
     WHERE starts = date_trunc('month', now(), 'UTC') + interval '1 month'`,
  );
  expect(rows).toEqual([{ isDay: true }]);
  const total = await count('generations');
  for (const { partition } of (await partitions()).filter(({ isMonth }) => isMonth)) {
    const inMonth = await count(partition);
    expect(inMonth).toBeGreaterThan(0);
    const dropped = await client.query<{ isDropped: boolean }>(
      'SELECT drop_time_partition($1, $2) AS "isDropped"',
      ['generations', partition],
    );
    expect(dropped.rows).toEqual([{ isDropped: true }]);
  }
  expect(await count('generations')).toBeLessThan(total);
  expect((await partitions()).some(({ isMonth }) => isMonth)).toBe(false);
});
