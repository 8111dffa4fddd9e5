// The statements that compare the spend counters with the log, and that correct them (spend-rebuild.ts).
import type { SpendOwnerKind } from '../../domain/spend/spend-lease.js';
import { LOG_SNAPSHOT } from '../database/log-offset.js';

interface Counters {
  readonly ownerKind: SpendOwnerKind;
  readonly table: string;
  /** Columns of both counter and days: they name the owner in leases and changes. */
  readonly workspaceColumn: string;
  readonly ownerColumn: string;
  /** The days of a table of keys' days by counter; absent: the table itself. */
  readonly daysOf?: (days: string) => string;
  /** The log may hold less: the spend of purged keys stays. */
  readonly isOnlyRaised?: true;
}

/** A key's days count toward each of its counters. */
const guardrailDays = (days: string): string => `(
    SELECT each.*, counter.id FROM ${days} AS each
    JOIN key_spend AS spend ON spend.workspace_id = each.workspace_id AND spend.api_key_id = each.api_key_id
    CROSS JOIN LATERAL unnest(spend.guardrail_counters) AS counter (id)
  )`;

/** In the order in which counters are locked everywhere. */
const COUNTERS: readonly Counters[] = [
  { ownerKind: 'key', table: 'key_spend', workspaceColumn: 'workspace_id', ownerColumn: 'api_key_id' },
  {
    ownerKind: 'guardrail',
    table: 'guardrail_spend',
    workspaceColumn: 'workspace_id',
    ownerColumn: 'id',
    daysOf: guardrailDays,
    isOnlyRaised: true,
  },
  {
    ownerKind: 'workspace',
    table: 'workspace_spend',
    workspaceColumn: 'workspace_id',
    ownerColumn: 'workspace_id',
  },
  { ownerKind: 'account', table: 'account_spend', workspaceColumn: 'account_id', ownerColumn: 'account_id' },
];

const WINDOWS = ['daily', 'weekly', 'monthly'] as const;
const UNITS = { daily: 'day', weekly: 'week', monthly: 'month' } as const;
const SUMS = ['last_day', 'total', ...WINDOWS, 'byok_total', ...WINDOWS.map((window) => `byok_${window}`)];

/** Rows of a future day have a wrong time: they count in no window, only in the total. */
const IS_PAST = (day: string): string => `${day} <= (SELECT spend_day('infinity'))`;

const sumByDay = (entries: string): string => `
  SELECT workspace_id, api_key_id, account_id, (created_at AT TIME ZONE 'UTC')::date AS day,
    sum(coalesce(cost, 0)) AS cost, sum(CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END) AS byok
  FROM ${entries} GROUP BY workspace_id, api_key_id, account_id, day`;

function inWindow(window: (typeof WINDOWS)[number], amount: string): string {
  const start = (day: string): string => `date_trunc('${UNITS[window]}', ${day}::timestamp)`;
  return `coalesce(sum(days.${amount}) FILTER (WHERE ${start('days.day')} = ${start('newest.day')}), 0)`;
}

/** Counters of one kind that differ from the sums of the log in `days`. */
function selectWrong(counters: Counters): string {
  const { ownerKind, table, workspaceColumn, ownerColumn, daysOf, isOnlyRaised } = counters;
  const source = daysOf ? daysOf('days') : 'days';
  const key = [...new Set([workspaceColumn, ownerColumn])];
  const columns = (of: string): string => key.map((column) => `${of}.${column}`).join(', ');
  const joins = (one: string, other: string): string => `(${columns(one)}) = (${columns(other)})`;
  const all = [...SUMS, 'reserved'];
  return `
SELECT '${ownerKind}' AS holder, sums.${workspaceColumn} AS workspace_id, sums.${ownerColumn} AS holder_id,
  sums.last_day::text AS last_day, ${SUMS.slice(1)
    .map((column) => `sums.${column}`)
    .join(', ')}, ${LOG_SNAPSHOT} AS snapshot,
  sums.total < counter.total OR sums.byok_total < counter.byok_total AS is_short,
  counter.total + counter.byok_total AS counted
FROM (
  SELECT ${columns('counter')}, coalesce(newest.day, '1970-01-01') AS last_day,
    coalesce(sum(days.cost), 0) AS total, coalesce(sum(days.byok), 0) AS byok_total,
    ${WINDOWS.map((window) => `${inWindow(window, 'cost')} AS ${window}`).join(', ')},
    ${WINDOWS.map((window) => `${inWindow(window, 'byok')} AS byok_${window}`).join(', ')},
    ${reservedOf(ownerKind, `counter.${workspaceColumn}`, `counter.${ownerColumn}`)} AS reserved
  FROM ${table} AS counter
  LEFT JOIN (
    SELECT ${columns('days')}, max(day) AS day FROM ${source} AS days
    WHERE (cost <> 0 OR byok <> 0) AND ${IS_PAST('day')} GROUP BY ${columns('days')}
  ) AS newest ON ${joins('newest', 'counter')}
  LEFT JOIN ${source} AS days ON ${joins('days', 'counter')}
  GROUP BY ${columns('counter')}, newest.day
) AS sums JOIN ${table} AS counter ON ${joins('counter', 'sums')}
WHERE (${all.map((column) => `counter.${column}`).join(', ')})
  IS DISTINCT FROM (${all.map((column) => `sums.${column}`).join(', ')})${
    isOnlyRaised ? ' AND sums.total >= counter.total AND sums.byok_total >= counter.byok_total' : ''
  }`;
}

function reservedOf(ownerKind: SpendOwnerKind, workspaceId: string, ownerId: string): string {
  return `(SELECT coalesce(sum(amount), 0) FROM spend_leases AS lease
    WHERE lease.holder = '${ownerKind}' AND lease.workspace_id = ${workspaceId} AND lease.holder_id = ${ownerId})`;
}

/**
 * One statement, and so one snapshot: the log is read once, for all counters, and the spend of dropped partitions with
 * it.
 */
export const FIND_WRONG = `
DECLARE wrong_found NO SCROLL CURSOR FOR
WITH days AS MATERIALIZED (
  SELECT workspace_id, api_key_id, account_id, day, sum(cost) AS cost, sum(byok) AS byok FROM (
    ${sumByDay('generations')}
    UNION ALL
    SELECT workspace_id, api_key_id, account_id, day, cost, byok_cost FROM spend_history
  ) AS kept GROUP BY workspace_id, api_key_id, account_id, day
)
${COUNTERS.map(selectWrong).join(' UNION ALL ')}`;

// Counters that one transaction corrects.
const BATCH = 100;

const COLUMNS = ['holder', 'workspace_id', 'holder_id', ...SUMS, 'snapshot', 'is_short', 'counted'] as const;
export const CREATE_TABLES = [
  // Before the snapshot: a workspace that spends between the two is read without need, and none is missed.
  'CREATE TEMP TABLE spend_before AS SELECT workspace_id, total, byok_total FROM workspace_spend',
  `CREATE TEMP TABLE found_counters (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, holder text,
    workspace_id uuid, holder_id uuid, last_day date, ${SUMS.slice(1)
      .map((column) => `${column} numeric`)
      .join(', ')}, snapshot text, is_short boolean, counted numeric)`,
  // The counters of the current transaction.
  'CREATE TEMP TABLE wrong_counters AS SELECT * FROM found_counters',
];
export const DROP_TABLES = 'DROP TABLE IF EXISTS spend_before, found_counters, wrong_counters';
/** $1 rows of the cursor. */
export const KEEP_FOUND = `
INSERT INTO found_counters (${COLUMNS.join(', ')})
SELECT ${COLUMNS.join(', ')} FROM json_populate_recordset(NULL::found_counters, $1::json)`;

function lockWrong({ ownerKind, table, workspaceColumn, ownerColumn }: Counters): string {
  return `
SELECT FROM ${table} WHERE (${workspaceColumn}, ${ownerColumn}) IN (
  SELECT workspace_id, holder_id FROM wrong_counters WHERE holder = '${ownerKind}'
) ORDER BY ${workspaceColumn}, ${ownerColumn} FOR UPDATE`;
}

/**
 * Rows committed after that snapshot, of the affected workspaces that have spent since. OFFSET 0 makes the planner
 * use the index on workspace and position, however many late rows it expects.
 */
const SUM_LATE_ENTRIES = `
CREATE TEMP TABLE late_days AS
WITH summed AS MATERIALIZED (
  SELECT pg_snapshot_xmax(snapshot::pg_snapshot)::text::bigint AS ends,
    ARRAY(SELECT pg_snapshot_xip(snapshot::pg_snapshot)::text::bigint) AS open
  FROM wrong_counters LIMIT 1
), moved AS MATERIALIZED (
  SELECT workspace.id FROM workspaces AS workspace
  JOIN workspace_spend AS spend ON spend.workspace_id = workspace.id
  LEFT JOIN spend_before AS before ON before.workspace_id = workspace.id
  WHERE (
      (spend.total, spend.byok_total) IS DISTINCT FROM (before.total, before.byok_total)
      -- Corrected just now, perhaps to what it was before.
      OR workspace.id IN (SELECT holder_id FROM found_counters WHERE holder = 'workspace')
    ) AND (
      workspace.id IN (SELECT workspace_id FROM wrong_counters)
      OR workspace.account_id IN (SELECT workspace_id FROM wrong_counters)
    )
)
${sumByDay(`(
    SELECT entry.* FROM summed, moved CROSS JOIN LATERAL (
      SELECT * FROM generations WHERE workspace_id = moved.id AND log_transaction >= summed.ends
      UNION ALL
      SELECT * FROM generations WHERE workspace_id = moved.id AND log_transaction = ANY (summed.open)
      OFFSET 0
    ) AS entry
  ) AS late`)}`;

function correct({ ownerKind, table, workspaceColumn, ownerColumn }: Counters): string {
  return `
UPDATE ${table} AS counter SET ${SUMS.map((column) => `${column} = wrong.${column}`).join(', ')},
  reserved = ${reservedOf(ownerKind, 'wrong.workspace_id', 'wrong.holder_id')}
FROM wrong_counters AS wrong
WHERE wrong.holder = '${ownerKind}' AND counter.${workspaceColumn} = wrong.workspace_id
  AND counter.${ownerColumn} = wrong.holder_id`;
}

function lateChanges({ ownerKind, workspaceColumn, ownerColumn, daysOf }: Counters): string {
  return `
  SELECT late.day, wrong.holder, wrong.workspace_id, wrong.holder_id, sum(late.cost) AS cost, sum(late.byok) AS byok
  FROM wrong_counters AS wrong JOIN ${daysOf ? daysOf('late_days') : 'late_days'} AS late
    ON late.${workspaceColumn} = wrong.workspace_id AND late.${ownerColumn} = wrong.holder_id
  WHERE wrong.holder = '${ownerKind}' GROUP BY late.day, wrong.holder, wrong.workspace_id, wrong.holder_id`;
}

/**
 * Settles them like the original calls, into the corrected counters. Day by day, by the functions that accept any
 * day: these days may be over.
 */
const SETTLE_LATE_ENTRIES = `
SELECT CASE holder
  WHEN 'key' THEN settle_key_spend(workspace_id, holder_id, day, cost, byok, 0)::text
  WHEN 'guardrail' THEN settle_guardrail_spend(workspace_id, holder_id, day, cost, byok, 0)::text
  WHEN 'workspace' THEN settle_workspace_spend(NULL, holder_id, day, cost, byok, 0)::text
  ELSE settle_account_spend(NULL, holder_id, day, cost, byok, 0)::text END
FROM (
  SELECT * FROM (${COUNTERS.map(lateChanges).join(' UNION ALL ')}) AS changes ORDER BY day
  OFFSET 0
) AS in_order`;

/** $1 the last place of the batch before. */
export const TAKE_BATCH = `
INSERT INTO wrong_counters SELECT * FROM found_counters WHERE place > $1 ORDER BY place LIMIT ${BATCH}
RETURNING place::text`;

export const correctBatch = (timeout: number): readonly string[] => [
  // A counter that another transaction holds for long must not make calls wait for the others.
  `SET LOCAL lock_timeout = ${timeout}`,
  ...COUNTERS.map(lockWrong),
  'SET LOCAL enable_seqscan = off',
  'DROP TABLE IF EXISTS late_days',
  SUM_LATE_ENTRIES,
  ...COUNTERS.map(correct),
  SETTLE_LATE_ENTRIES,
];

export const COUNT = `SELECT ${COUNTERS.map(
  ({ ownerKind }) => `count(*) FILTER (WHERE holder = '${ownerKind}')::integer AS ${ownerKind}`,
).join(', ')} FROM found_counters`;

export const MAX_NAMED = 20;
export const FIND_SHORT = `
SELECT holder, holder_id, counted::text AS counted, (total + byok_total)::text AS logged
FROM found_counters WHERE is_short ORDER BY counted - total - byok_total DESC, holder_id LIMIT ${MAX_NAMED + 1}`;
