// Rows that the statements of calls and background work read in a filled database: as many as in an empty one.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { AppConfig } from '../../src/config/app-config.js';
import { Database } from '../../src/persistence/database/database.js';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import {
  DEAD_LETTER_BOUNDS,
  DeadLettersRepository,
} from '../../src/persistence/deliveries/dead-letters.repository.js';
import { DeletedRows } from '../../src/upkeep/deleted-rows.js';
import { GenerationReader } from '../../src/persistence/generations/generation-reader.js';
import { GenerationContents } from '../../src/persistence/contents/generation-contents.js';
import { SpendLedger } from '../../src/persistence/spend/spend-ledger.js';
import { askFor } from '../support/requests/admin.js';
import { DELIVERY_ENVIRONMENT, untilDelivered } from '../support/deliveries/deliveries.js';
import { answerOf, embed, SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';
import { TestClock } from '../support/app/clock.js';
import { eventually } from '../support/eventually.js';
import { fillDatabase, fillLog, makeDays, nodesOf, planOf, scansOf } from '../support/database/plans.js';
import type { PlanNode } from '../support/database/plans.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { recordStatements } from '../support/database/statements.js';
import type { Statement } from '../support/database/statements.js';
import { traceCollector } from '../support/deliveries/trace-collector.js';

const DAY = 86_400_000;
const SIZES = { generations: 60_000, keys: 30_000, destinations: 3_000 };
/** Rows that one scan may read: far below every size, far above the rows of a test app. */
const MANY = 400;

// By design this reads the cursors that the process delivers for.
const RENEWS_CURSORS = /UPDATE delivery_cursors SET lease_expires_at = now\(\)[^,]*WHERE lease_owner = ANY/;
// A scan reads the destinations of so many workspaces.
const ASKS_FOR_KEYS = /^SELECT .* FROM "public"\."api_keys" WHERE .*"id" IN \(/;
const SWEEPS_WORKSPACES = /cursor\.workspace_id = wanted[\s\S]*EXISTS \(\s*SELECT 1 FROM generations/;
const DELETED = 3_000;
const ENTRIES = 3_000;
const SWEPT = 100;
const SLOTS = 5;
// Partitions of the log.
const DAYS = 95;
// Those of today and yesterday, of the days ahead and the default one: a moment of today, or the reach of deliveries.
const FEW_PARTITIONS = 9;
// By design these look back thirty days or forty, and those of usage and the purge of workspaces as far as the log.
const READS_MONTHS =
  /INSERT INTO activity_days|FROM activity_days|FROM activity_rollup|usage_(?:hours|days|rollup)|user_rollup|DELETE FROM workspaces/;
const MONTHS = { activity: 46, usage: DAYS + 10 };

// Each matches few entries of the account, and those are older than all others.
const AUDIT_FILTERS = [
  '',
  `?workspace_id=${randomUUID()}`,
  '?action=rotate',
  '?object_type=encryption_key',
  '?object_id=unused',
  `?to=${new Date(Date.now() - 300 * DAY).toISOString()}`,
];

let setup: Setup;
let receiver: RunningReceiver;
let statements: readonly Statement[];
let oldPartition: string;
let client: pg.Client;
beforeAll(async () => {
  setup = await startWithUpstream(DELIVERY_ENVIRONMENT, { clock: new TestClock(new Date().toISOString()) });
  receiver = await startReceiver(traceCollector);
  const { app } = setup;
  const webhook = (enabled: boolean) =>
    askFor<{ data: { id: string } }>(201, app, 'post', '/observability/destinations', {
      body: { type: 'webhook', name: 'Webhook', enabled, config: { url: receiver.origin } },
    });
  await webhook(false);
  const longAgo = new Date(Date.now() - DAYS * DAY);
  await makeDays(app, longAgo, DAYS);
  oldPartition = `generations_${longAgo.toISOString().slice(0, 10).replaceAll('-', '_')}`;
  await fillLog(app, [app.key], { rows: 2_000, from: longAgo, days: 1 / 24 });
  await fillDatabase(app, SIZES);
  await addDeletedRows(app);
  await addAuditEntries(app);

  const recording = recordStatements();
  try {
    const key = await app.createKey({ limit: 10n ** 14n });
    const { data: destination } = await webhook(true);
    await app.sql(
      "UPDATE delivery_cursors SET updated_at = now() - interval '2 hours' WHERE destination_id = $1",
      [destination.id],
    );
    answerOf(await embed(app, { model: SMALL, input: 'a' }, key.secret));
    await untilDelivered(app, destination.id, 1);
    await askFor(202, app, 'post', `/observability/destinations/${destination.id}/replay`, {
      body: { from: new Date(Date.now() - DAY).toISOString() },
    });
    await untilDelivered(app, destination.id, 2);
    await askFor(200, app, 'get', `/keys/${key.record.hash}`);
    await askFor(200, app, 'get', '/keys');
    await app.application.get(DeletedRows).purge();
    await askFor(200, app, 'get', '/observability/destinations');
    await askFor(200, app, 'get', `/observability/destinations/${destination.id}`);
    await askFor(200, app, 'get', `/observability/destinations/${destination.id}/deliveries`);
    await eventually(
      async () => {
        await app.application.get(ActivityRollup).catchUp(0);
        return app.sql('SELECT 1 FROM activity_rollup WHERE summed_before > 0');
      },
      (rows) => rows.length > 0,
    );
    await askFor(200, app, 'get', '/activity');
    for (const filter of AUDIT_FILTERS) await askFor(200, app, 'get', `/audit${filter}`);
    const { data: calls } = await askFor<{ data: { id: string }[] }>(
      200,
      app,
      'get',
      '/generations?limit=10',
    );
    await askFor(200, app, 'get', `/generation?id=${calls[0]!.id}`);
    await askFor(200, app, 'get', '/generations?limit=10&status=200');
    await askFor(200, app, 'get', `/generations?limit=10&api_key_hash=${key.record.hash}`);
    await app.application
      .get(GenerationReader)
      .readNamed(app.workspaceId, [{ id: randomUUID(), createdAt: new Date(Date.now() - DAY) }]);
    const aDayAgo = new Date(Date.now() - DAY);
    await app.application.get(GenerationContents).removePassed([app.workspaceId]);
    await app.application.get(GenerationContents).removeOlderThan(aDayAgo);
    const withHistory = { history: { hasContents: true } } as AppConfig;
    const contentsOfHistory = new GenerationContents(app.application.get(Database), withHistory);
    await contentsOfHistory.removePassed([app.workspaceId]);
    await contentsOfHistory.removeOlderThan(aDayAgo);
    await app.application.get(DeadLettersRepository).removeBeyond(DEAD_LETTER_BOUNDS);
    await app.application.get(SpendLedger).sweepExpired();
    await eventually(
      () => Promise.resolve([...recording.statements.keys()]),
      (texts) => texts.some((text) => SWEEPS_WORKSPACES.test(text)),
    );
  } finally {
    recording.stop();
  }
  await app.sql('ANALYZE');
  statements = [...recording.statements.values()].filter(({ text }) =>
    /^\s*(SELECT|WITH|UPDATE|DELETE)/.test(text),
  );
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await receiver?.close();
  await setup?.close();
});

/** Deleted rows of the statements' workspace: negligible. */
async function addDeletedRows(app: Setup['app']): Promise<void> {
  const values = [app.workspaceId, app.accountId, DELETED];
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, deleted_at)
     SELECT gen_random_uuid(), $1, $2, lpad('d' || n, 64, '0'), 'inference', 'Deleted', 'deleted', now()
     FROM generate_series(1, $3::integer) AS n`,
    values,
  );
  await app.sql(
    `INSERT INTO destinations (id, workspace_id, account_id, kind, type, slot, name, enabled, privacy_mode, broadcast_cost,
       broadcast_identity, broadcast_request_context, sampling_rate, api_key_hashes, regions, config_ciphertext,
       config_encryption_key_id, updated_at, deleted_at)
     SELECT gen_random_uuid(), $1, $2, 'webhook', 'webhook', NULL, 'Deleted', true, false, false, false, false, 1, '{}',
       '{global}', '', '', now(), now()
     FROM generate_series(1, $3::integer) AS n`,
    values,
  );
}

async function addAuditEntries(app: Setup['app']): Promise<void> {
  await app.sql(
    `INSERT INTO audit_log (id, account_id, workspace_id, created_at, actor_hash, actor_label, address, request_id, action,
       object_type, object_id)
     SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || substr(gen_random_uuid()::text, 14))::uuid,
       $1, $2, moment, '', 'label', '127.0.0.1', 'request', 'update', 'workspace', 'object-' || n % 100
     FROM generate_series(1, $3::integer) AS n, LATERAL (SELECT now() - n * interval '1 minute' AS moment) AS made`,
    [app.accountId, app.workspaceId, ENTRIES],
  );
}

/** Existing rows would be rejected: ids come first, in records and in JSON. */
function again(value: unknown): unknown {
  return typeof value === 'string'
    ? value.replaceAll(/(?<="\(|\{"id":")[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, () => randomUUID())
    : value;
}

/** A value as SQL. */
function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (Array.isArray(value)) return `'{${value.map((one) => literalOf(one).slice(1, -1)).join(',')}}'`;
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (typeof value === 'number' || typeof value === 'bigint') return `'${value}'`;
  throw new Error(`no such value is expected: ${typeof value}`);
}

/** A settlement is rejected without the leases that its calls held, which have ended with their process. */
async function restoreLeases({ text, values }: Statement): Promise<void> {
  if (!text.includes('settle_calls(')) return;
  await client.query(
    `INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
     SELECT workspace_id, holder_id, 'key', lease_id, sum(amount), now() + interval '1 minute'
     FROM unnest($1::spend_release[]) GROUP BY workspace_id, holder_id, lease_id
     ON CONFLICT (workspace_id, holder_id, process_id) DO UPDATE SET amount = spend_leases.amount + excluded.amount`,
    [values[4]],
  );
}

async function planUndone(statement: Statement): Promise<PlanNode> {
  const { text, values } = statement;
  await client.query('BEGIN');
  try {
    await restoreLeases(statement);
    return await planOf(client, text, values.map(again));
  } finally {
    await client.query('ROLLBACK');
  }
}

const short = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);

function mostOf({ text, values }: Statement): number {
  // A page of the log may have as many keys, each of which is found by its id.
  if (ASKS_FOR_KEYS.test(text)) return values.length + MANY;
  if (RENEWS_CURSORS.test(text)) return SIZES.destinations + MANY;
  return SWEEPS_WORKSPACES.test(text) || text.includes('DISTINCT workspace_id') ? SWEPT * SLOTS + MANY : MANY;
}

describe('in a filled database', () => {
  it('the statements of calls and background work are recorded', () => {
    const all = statements.map(({ text }) => text).join('\n');
    for (const part of [
      'api_key_secrets',
      'LEFT JOIN key_spend',
      'FROM "public"."key_spend"',
      'INSERT INTO generations',
      'acquire_held_lease',
      'FROM key_spend WHERE workspace_id = ANY',
      'FOR UPDATE OF cursor SKIP LOCKED',
      'ORDER BY generation.log_transaction',
      'DISTINCT workspace_id',
      'generation_contents',
      'LEFT JOIN history_copy',
      'INSERT INTO activity_days',
      'FROM activity_days',
      'DELETE FROM dead_letters',
      'FROM audit_log WHERE account_id = $1 AND action =',
      'cursor.start_snapshot = $11',
      'min(log_transaction)',
    ]) {
      expect(all).toContain(part);
    }
  });

  it('no statement reads many rows, or partitions outside its period', async () => {
    const found: string[] = [];
    for (const statement of statements) {
      const most = mostOf(statement);
      for (const { table, rows, isOfSmallTable, index } of scansOf(await planUndone(statement))) {
        if (rows > most && !isOfSmallTable)
          found.push(`${rows} rows of ${table} by ${index}: ${short(statement.text)}`);
        if (table === oldPartition) found.push(`${table}: ${short(statement.text)}`);
      }
    }
    expect(found).toEqual([]);
  });

  it('no statement calls a function that reads many rows, which no plan shows', async () => {
    const reads: { table: string; read: number }[] = [];
    for (const statement of statements.filter(({ text }) => /settle_(?:spend|calls)\(/.test(text))) {
      await client.query('BEGIN');
      await restoreLeases(statement);
      await client.query(statement.text, statement.values.map(again));
      const { rows } = await client.query<{ table: string; read: number }>(
        // A lease that has expired is looked for and not found.
        `SELECT relname AS table, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS read
         FROM pg_stat_xact_user_tables
         WHERE (relname LIKE '%\\_spend' OR relname = 'spend_leases') AND coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0`,
      );
      await client.query('ROLLBACK');
      reads.push(...rows);
    }
    expect(reads.filter(({ read }) => read > MANY)).toEqual([]);
    const tables = new Set(reads.map(({ table }) => table));
    expect([...tables].toSorted()).toEqual(['account_spend', 'key_spend', 'spend_leases', 'workspace_spend']);
  });

  it('no prepared statement is planned to read a large table whole', async () => {
    const { rows: large } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND reltuples > $1",
      [MANY],
    );
    const names = new Set(large.map(({ name }) => name));
    const found: string[] = [];
    for (const { text } of statements.filter(({ isPrepared }) => isPrepared)) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
      );
      for (const node of nodesOf(rows[0]!['QUERY PLAN'][0].Plan)) {
        const table = node['Relation Name'] ?? '';
        if (node['Node Type'] === 'Seq Scan' && names.has(table) && !RENEWS_CURSORS.test(text))
          found.push(`${table}: ${short(text)}`);
      }
    }
    expect(found).toEqual([]);
  });

  it('no statement names most of the days of the log in its plan', async () => {
    const found: string[] = [];
    let seen = 0;
    for (const statement of statements) {
      const nodes = nodesOf(await planUndone(statement));
      const partitions = new Set(
        nodes.map((node) => node['Relation Name'] ?? '').filter((name) => name.startsWith('generations_')),
      );
      seen += partitions.size > 0 ? 1 : 0;
      const reads = READS_MONTHS.exec(statement.text)?.[0];
      const months = reads?.includes('activity') ? MONTHS.activity : MONTHS.usage;
      const most = reads === undefined ? FEW_PARTITIONS : months;
      if (partitions.size > most) found.push(`${partitions.size} partitions: ${short(statement.text)}`);
    }
    expect(found).toEqual([]);
    expect(seen).toBeGreaterThan(8);
  });

  it('no prepared statement reads other days by a plan for all values', async () => {
    const found: string[] = [];
    const prepared = statements.filter(
      ({ text, isPrepared }) => isPrepared && /\bFROM generations\b/.test(text) && !READS_MONTHS.test(text),
    );
    expect(prepared.length).toBeGreaterThan(2);
    for (const [index, { text, values }] of prepared.entries()) {
      await client.query('BEGIN; SET LOCAL plan_cache_mode = force_generic_plan');
      await client.query(`PREPARE hot_${index} AS ${text}`);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE hot_${index} (${values.map(again).map(literalOf).join(', ')})`,
      );
      await client.query('ROLLBACK');
      const scanned = nodesOf(rows[0]!['QUERY PLAN'][0].Plan)
        .filter((node) => (node['Actual Loops'] ?? 0) > 0)
        .flatMap((node) => node['Relation Name'] ?? [])
        .filter((name) => name.startsWith('generations_'));
      if (new Set(scanned).size > FEW_PARTITIONS) found.push(`${scanned.length}: ${short(text)}`);
    }
    expect(found).toEqual([]);
  });

  it('a statement that reads everything is detected', async () => {
    const plan = await planOf(client, 'SELECT count(*) FROM generations WHERE model = $1', ['model/1']);
    expect(Math.max(...scansOf(plan).map(({ rows }) => rows))).toBeGreaterThan(MANY);
    expect(scansOf(plan).map(({ table }) => table)).toContain(oldPartition);
  });
});
