// Retention of the log: partitions go when their time is over and no reader needs them, beside appends that never fail.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { Metrics } from '../../src/config/metrics.js';
import { HistoryCopier } from '../../src/history/history-copier.js';
import { Database } from '../../src/persistence/database/database.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { LogRetention } from '../../src/upkeep/log-retention.js';
import { rebuildSpend } from '../../src/upkeep/spend-rebuild.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createDestination } from '../support/deliveries/deliveries.js';
import { eventually } from '../support/eventually.js';
import { contentOfText, createGeneration } from '../support/generations/generation.js';
import { makeDays } from '../support/database/plans.js';
import { untilSummedUp } from '../support/database/rollups.js';

const DAY = 86_400_000;
const NOW = '2026-11-18T12:00:00.000Z';
const at = (daysAgo: number): Date => new Date(new Date(NOW).getTime() - daysAgo * DAY);
const nameOf = (daysAgo: number, table = 'generations'): string =>
  `${table}_${at(daysAgo).toISOString().slice(0, 10).replaceAll('-', '_')}`;

let app: TestApp;
let clients: pg.Client[];
beforeAll(async () => {
  app = await createTestApp({ environment: { GENERATION_RETENTION_DAYS: '30' } });
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.set(NOW);
  clients = [];
  // The days of the retention.
  await makeDays(app, at(30), 30);
});
afterEach(async () => {
  for (const client of clients) await client.end();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  clients.push(client);
  return client;
}

const retain = (of = app): Promise<void> => of.application.get(LogRetention).dropExpired();

/** Passes until the oldest partition is of that day: statements of the app may have the log, or rollups not have read it. */
const retainUntil = (daysAgo: number, of = app): Promise<unknown> =>
  eventually(
    async () => {
      await app.application.get(ActivityRollup).catchUp(0);
      await retain(of);
      return partitions();
    },
    ([oldest]) => oldest === nameOf(daysAgo),
  );

/** Passes until the oldest partition is an expected one: a statement of the app may hold the lock of a drop. */
const retainUntilOldest = (
  isExpected: (oldest: string | undefined) => boolean,
  table = 'generations',
): Promise<unknown> =>
  eventually(
    async () => {
      await retain();
      return partitions(table);
    },
    ([oldest]) => isExpected(oldest),
  );

async function append(daysAgo: number, key: ApiKey = app.key, cost = 0n): Promise<string> {
  const generation = createGeneration(key, { createdAt: at(daysAgo), cost });
  await app.application.get(GenerationLog).append(generation);
  return generation.id;
}

async function partitions(table = 'generations'): Promise<string[]> {
  const rows = await app.sql<{ partition: string }>(
    'SELECT partition FROM time_partitions($1) ORDER BY starts',
    [table],
  );
  return rows.map(({ partition }) => partition);
}

async function metric(name: string): Promise<number> {
  const text = await app.application.get(Metrics).registry.metrics();
  return Number(new RegExp(`^${name}\\{table="generations"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}
const overdue = (): Promise<number> => metric('signalbox_log_retention_overdue_seconds');

describe('partitions beyond their retention', () => {
  it('go whole, the oldest first, with every row of theirs, and no others', async () => {
    await makeDays(app, at(40), 40);
    const ids = new Map<number, string>();
    for (const daysAgo of [40, 32, 31, 30, 1]) ids.set(daysAgo, await append(daysAgo));
    await untilSummedUp(app);
    const before = await metric('signalbox_log_partitions_dropped_total');
    // The day of 30 days ago still has rows that are younger.
    await retainUntil(30);
    expect((await metric('signalbox_log_partitions_dropped_total')) - (before || 0)).toBe(10);
    const rows = await app.sql<{ id: string }>('SELECT id FROM generations ORDER BY created_at');
    expect(rows.map(({ id }) => id)).toEqual([30, 1].map((daysAgo) => ids.get(daysAgo)));
    expect(await overdue()).toBe(0);
    await retain();
    expect((await partitions())[0]).toBe(nameOf(30));
  });

  it('may be of a whole month, which stays until its last day has passed', async () => {
    await app.sql(
      `CREATE TABLE generations_2026_09 PARTITION OF generations FOR VALUES FROM ('2026-09-01 00:00Z') TO ('2026-10-01 00:00Z')`,
    );
    await append(60);
    await untilSummedUp(app);
    app.clock.set('2026-10-30T23:59:59Z');
    await retain();
    expect(await partitions()).toContain('generations_2026_09');
    app.clock.set('2026-10-31T00:00:00Z');
    await retainUntilOldest((oldest) => oldest !== 'generations_2026_09');
  });

  it('are each dropped by one of several replicas', async () => {
    const other = await app.startReplica();
    try {
      await makeDays(app, at(45), 8);
      await Promise.all([retain(), retain(other), retain()]);
      // A pass that meets the work of another process leaves the rest to it.
      await retainUntil(30);
    } finally {
      await other.close();
    }
  });

  it('stay for ever with 0 days', async () => {
    const other = await createTestApp({
      databaseUrl: app.databaseUrl,
      environment: { GENERATION_RETENTION_DAYS: '0' },
    });
    try {
      await makeDays(app, at(400), 0);
      await retain(other);
      expect((await partitions())[0]).toBe(nameOf(400));
      await retainUntil(30);
    } finally {
      await other.close();
    }
  });

  it('of contents go a day after the last content has expired', async () => {
    await makeDays(app, at(5), 5);
    const generation = createGeneration(app.key, { createdAt: at(4) });
    await app.application.get(GenerationLog).append(generation, [], contentOfText('old'));
    await retainUntilOldest((oldest) => oldest === nameOf(2, 'generation_contents'), 'generation_contents');
  });
});

describe('a partition that is still read', () => {
  it('waits for the slowest destination, seven days at most', async () => {
    await makeDays(app, at(31), 0);
    const { id } = await createDestination(app, { url: 'https://receiver.example/' });
    await app.sql(
      "UPDATE delivery_cursors SET next_attempt_at = now() + interval '1 year' WHERE destination_id = $1",
      [id],
    );
    await append(31);
    await untilSummedUp(app);
    await retain();
    expect((await partitions())[0]).toBe(nameOf(31));
    // The day has ended at midnight, twelve hours more than its retention ago.
    expect(await overdue()).toBe(DAY / 2_000);
    app.clock.advance(6 * DAY);
    await retain();
    expect((await partitions())[0]).toBe(nameOf(31));
    app.clock.advance(DAY);
    await retainUntil(23);
    expect(await overdue()).toBe(0);
    await app.sql('DELETE FROM destinations WHERE id = $1', [id]);
  });

  it('waits for seven days from the moment at which the retention was shortened', async () => {
    const before = await createTestApp({
      databaseUrl: app.databaseUrl,
      clock: app.clock,
      environment: { GENERATION_RETENTION_DAYS: '0' },
    });
    await retain(before);
    await before.close();
    await makeDays(app, at(90), 0);
    const { id } = await createDestination(app, { url: 'https://receiver.example/' });
    await app.sql("UPDATE delivery_cursors SET next_attempt_at = now() + interval '1 year'");
    await append(90);
    await untilSummedUp(app);
    await retain();
    app.clock.advance(7 * DAY - 1);
    await retain();
    expect((await partitions())[0]).toBe(nameOf(90));
    app.clock.advance(1);
    await retainUntil(23);
    await app.sql('DELETE FROM destinations WHERE id = $1', [id]);
  });

  it('waits for a history that has copied nothing yet, seven days at most', async () => {
    const copying = await createTestApp({
      databaseUrl: app.databaseUrl,
      clock: app.clock,
      environment: { GENERATION_RETENTION_DAYS: '30', HISTORY_CLICKHOUSE_URL: 'http://127.0.0.1:9/history' },
      // The retention may look before the first attempt to copy.
      override: (testing) => testing.overrideProvider(HistoryCopier).useValue({}),
    });
    try {
      await makeDays(app, at(90), 0);
      await append(90);
      await untilSummedUp(app);
      await retain(copying);
      expect((await partitions())[0]).toBe(nameOf(90));
      await app.sql('UPDATE history_copy SET begun_at = $1', [at(0)]);
      app.clock.advance(7 * DAY);
      await retainUntil(23, copying);
    } finally {
      await app.sql('DELETE FROM history_copy');
      await copying.close();
    }
  });

  it('does not wait for a destination that is switched off', async () => {
    await makeDays(app, at(31), 8);
    const { id } = await createDestination(app, { url: 'https://receiver.example/' });
    await app.sql("UPDATE delivery_cursors SET next_attempt_at = now() + interval '1 year'");
    await append(31);
    await untilSummedUp(app);
    const readerOf = async (): Promise<string | null | undefined> => {
      const [row] = await app.sql<{ reader: string | null }>('SELECT time_partition_reader($1) AS reader', [
        nameOf(31),
      ]);
      return row?.reader;
    };
    expect(await readerOf()).toBe('deliveries');
    await app.sql('UPDATE destinations SET enabled = false WHERE id = $1', [id]);
    expect(await readerOf()).toBeNull();
    await retainUntil(30);
  });

  it('waits for the rollup of activity', async () => {
    await makeDays(app, at(31), 0);
    await append(31);
    await retain();
    expect((await partitions())[0]).toBe(nameOf(31));
    expect(await overdue()).toBeGreaterThan(0);
    await untilSummedUp(app);
    await retainUntil(30);
  });

  it('waits for a long read of the log, and delays no append', async () => {
    await makeDays(app, at(31), 0);
    const reader = await connect();
    await reader.query('BEGIN; LOCK TABLE generations IN ACCESS SHARE MODE');
    const ended = { isTrue: false };
    // Appends queue behind the lock that a drop waits for: its time-out is the longest delay.
    const [drop] = await app.sql<{ proconfig: string[] }>(
      "SELECT proconfig FROM pg_proc WHERE proname = 'drop_time_partition'",
    );
    expect(drop?.proconfig).toContain('lock_timeout=100ms');
    await Promise.all([retain().finally(() => (ended.isTrue = true)), appendUntil(() => ended.isTrue)]);
    expect((await partitions())[0]).toBe(nameOf(31));
    expect(await overdue()).toBeGreaterThan(0);
    await reader.query('COMMIT');
    await retainUntil(30);
  });
});

/** Appends one row after the other. Rejects when one waits five seconds for a lock. */
async function appendUntil(isOver: () => boolean): Promise<void> {
  const client = await connect();
  await client.query("SET lock_timeout = '5s'");
  const values = [app.workspaceId, app.accountId, app.key.id, NOW];
  for (let count = 0; count === 0 || !isOver(); count++) {
    await client.query(
      `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, status,
         input_count, prompt_tokens, total_tokens, is_byok, duration_ms, request_id, region)
       VALUES ($5, $1, $4, 1, $2, $3, 'embeddings', 'appended', 200, 1, 1, 1, false, 1, 'request', 'global')`,
      [...values, randomUUID()],
    );
  }
}

describe('appends', () => {
  it('never fail on a lock while a hundred partitions are dropped and new days are made', async () => {
    await makeDays(app, at(130), 99);
    expect((await partitions()).length).toBeGreaterThan(130);
    await untilSummedUp(app);
    const ended = { isTrue: false };
    const work = async (): Promise<void> => {
      await retainUntil(30);
      await makeDays(app, at(-30), 20);
    };
    const appending = Array.from({ length: 3 }, () => appendUntil(() => ended.isTrue));
    await Promise.all([work().finally(() => (ended.isTrue = true)), ...appending]);
    const [row] = await app.sql<{ stray: number }>(
      'SELECT count(*)::integer AS stray FROM ONLY generations_default',
    );
    expect(row).toEqual({ stray: 0 });
  });
});

describe('sums of dropped days', () => {
  const daysOf = async (table: string, where = 'true'): Promise<string[]> => {
    const rows = await app.sql<{ day: string }>(`SELECT day::text FROM ${table} WHERE ${where} ORDER BY day`);
    return rows.map(({ day }) => day);
  };
  const dayOf = (daysAgo: number): string => at(daysAgo).toISOString().slice(0, 10);

  it('go with the log and after /activity, except for the newest day of each key', async () => {
    const active = (await app.createKey()).record.id;
    const idle = (await app.createKey()).record.id;
    const sums = "'model', 'endpoint', 'provider', 1, 1, 0, 0";
    for (const [id, daysAgo] of [
      [active, 200],
      [active, 41],
      [active, 35],
      [idle, 200],
      [idle, 60],
    ] as const) {
      const values = [app.workspaceId, dayOf(daysAgo)];
      await app.sql(`INSERT INTO activity_days VALUES ($1, $2, ${sums}) ON CONFLICT DO NOTHING`, values);
      await app.sql(`INSERT INTO activity_key_days VALUES ($1, $3, $2, ${sums})`, [...values, id]);
    }
    await makeDays(app, at(31), 31);
    await untilSummedUp(app);
    await retainUntil(30);
    expect(await daysOf('activity_days', `model = 'model'`)).toEqual([dayOf(35)]);
    expect(await daysOf('activity_key_days', `api_key_id = '${active}'`)).toEqual([dayOf(35)]);
    expect(await daysOf('activity_key_days', `api_key_id = '${idle}'`)).toEqual([dayOf(60)]);
  });
});

describe('spend of dropped partitions', () => {
  const database = (): Database => app.application.get(Database);
  const NONE = { key: 0, guardrail: 0, workspace: 0, account: 0 };
  const countersOf = (key: ApiKey) =>
    Promise.all([
      app.sql('SELECT * FROM key_spend WHERE api_key_id = $1', [key.id]),
      app.sql('SELECT * FROM workspace_spend WHERE workspace_id = $1', [key.workspaceId]),
      app.sql('SELECT * FROM account_spend WHERE account_id = $1', [key.accountId]),
    ]);

  it('stays in every sum: the counters equal the log and the kept spend, and are rebuilt from both', async () => {
    const { key } = await app.createAccount();
    await makeDays(app, at(80), 80);
    // Over months and weeks, some of it newer than the retention; costs of own provider keys as well.
    for (const [daysAgo, cost] of [
      [80, 1_000n],
      [79, 20n],
      [48, 300n],
      [45, 5n],
      [33, 7n],
      [31, 11n],
      [2, 13n],
    ] as const)
      await append(daysAgo, key, cost);
    await app.application
      .get(GenerationLog)
      .append(createGeneration(key, { createdAt: at(45), isByok: true, cost: 0n, upstreamCost: 17n }));
    // Its newest spend is beyond the retention, in the middle of a week that begins in another month.
    const idle = (await app.createKey({ accountId: key.accountId, workspaceId: key.workspaceId })).record;
    for (const daysAgo of [80, 50, 49, 48]) await append(daysAgo, idle, 100n);
    // Costs nothing, and is newer.
    await append(40, idle);
    await untilSummedUp(app);
    const before = [await countersOf(key), await countersOf(idle)];
    await retainUntil(30);
    expect(await rebuildSpend(database())).toEqual(NONE);
    expect([await countersOf(key), await countersOf(idle)]).toEqual(before);

    for (const table of ['key_spend', 'workspace_spend', 'account_spend'])
      await app.sql(
        `UPDATE ${table} SET total = 0, daily = 9, weekly = 9, monthly = 9, byok_total = 0, last_day = '2026-01-01'`,
      );
    await rebuildSpend(database());
    expect([await countersOf(key), await countersOf(idle)]).toEqual(before);
  });

  it('is kept as few rows for each key, however many days it has', async () => {
    const { key } = await app.createAccount();
    await makeDays(app, at(60), 29);
    for (let daysAgo = 60; daysAgo > 31; daysAgo--) await append(daysAgo, key, 1n);
    await untilSummedUp(app);
    const before = await countersOf(key);
    await retainUntil(30);
    const rows = await app.sql<{ day: string; cost: string }>(
      'SELECT day::text, cost::text FROM spend_history WHERE api_key_id = $1 ORDER BY day',
      [key.id],
    );
    // The newest day is 2026-10-17: its month stays in days, and the time before is one row.
    expect(rows.map(({ day }) => day).slice(0, 2)).toEqual(['1970-01-01', '2026-10-01']);
    expect(rows).toHaveLength(1 + 17);
    expect(rows[0]?.cost).toBe('0.000000000012');
    await app.sql('UPDATE key_spend SET total = 0 WHERE api_key_id = $1', [key.id]);
    await rebuildSpend(database());
    expect(await countersOf(key)).toEqual(before);
  });

  it('is missing of a partition that was dropped by hand: nothing is changed', async () => {
    const { key } = await app.createAccount();
    await makeDays(app, at(10), 0);
    await append(10, key, 5n);
    await app.sql(`DROP TABLE ${nameOf(10)}`);
    await expect(rebuildSpend(database())).rejects.toThrow('dropped by hand');
    await rebuildSpend(database(), { force: true });
  });
});
