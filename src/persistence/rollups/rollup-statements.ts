// Sums of the log that stay exact while the log grows: a cursor, passes and steps, whatever is summed.
//
// Why plain SQL: the sums of a step and the cursor must change in one statement, or a row of the log would be counted
// twice or never.
import { LOG_HORIZON } from '../database/log-offset.js';

/** A position after every row of a workspace. */
const END_OF_WORKSPACE = '9223372036854775807, 2147483647';

/** The columns of a cursor. */
export const CURSOR = `summed_before AS "summedBefore", pass_until AS "passUntil", pass_workspace_id AS "workspaceId",
  pass_transaction AS transaction, pass_ordinal AS ordinal`;

/** Expressions of a row of the log by the columns of sums. */
const COUNTS_OF_ENTRY = {
  inputs: 'input_count',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'coalesce(completion_tokens, 0)',
  reasoning_tokens: 'coalesce(reasoning_tokens, 0)',
  cached_tokens: 'coalesce(cached_tokens, 0)',
  total_tokens: 'total_tokens',
  usage: 'coalesce(cost, 0)',
  byok_usage: 'CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END',
  duration_ms: 'duration_ms',
} as const;
export type Count = keyof typeof COUNTS_OF_ENTRY;

/** All that rows of the log are summed by, beside their number. */
export const COUNTS = Object.keys(COUNTS_OF_ENTRY) as readonly Count[];

/** Columns of a row of the log, under the names of sums. */
export const selectCounts = (columns: readonly Count[]): string =>
  columns.map((column) => `${COUNTS_OF_ENTRY[column]} AS ${column}`).join(', ');

export interface Measure {
  readonly column: string;
  /** An aggregate of rows of the step's sums. */
  readonly aggregate: string;
  readonly merge: (stored: string, added: string) => string;
}

export const summed = (column: string): Measure => ({
  column,
  aggregate: `sum(${column})`,
  merge: (stored, added) => `${stored} + ${added}`,
});

export interface SumsTable {
  readonly table: string;
  /** Expressions of the step's sums by the columns of the table's key. */
  readonly key: Readonly<Record<string, string>>;
  readonly measures: readonly Measure[];
  /** Rows of the step's sums that belong in the table. */
  readonly where?: string;
}

export interface Rollup {
  readonly readCursor: string;
  /** $1 seconds that must have passed since the last pass of any process. */
  readonly beginPass: string;
  /**
   * $1 to $5 the cursor, $6 a moment (older rows are never queried), $7 workspaces and $8 rows at most. Returns the
   * cursor after the step, or no row when another process has moved it since. A step continues in the workspace where
   * the one before ended.
   */
  readonly takeStep: string;
}

/** Steps of processes of another version, which do not write all tables, change nothing (skip_other_sums). */
const SUMS_VERSION = '2';

/**
 * Settings of a step. The order of the index ends a step after its maximum of rows, whatever the backlog. A planner
 * that expects few rows would read all of them and sort, and its estimate of a backlog is wrong by far. Compilation
 * would take longer than the step. The memory holds the groups of a step.
 */
export const STEP_SETTINGS = {
  enable_sort: 'off',
  jit: 'off',
  work_mem: '32MB',
  statement_timeout: '10s',
  'signalbox.sums': SUMS_VERSION,
};

function add({ table, key, measures, where = 'true' }: SumsTable): string {
  const columns = Object.keys(key).join(', ');
  const stored = (column: string): string => `${table}.${column}`;
  return `
INSERT INTO ${table} (${columns}, ${measures.map(({ column }) => column).join(', ')})
SELECT ${Object.values(key).join(', ')}, ${measures.map(({ aggregate }) => aggregate).join(', ')} FROM sums
WHERE EXISTS (SELECT FROM moved) AND ${where} GROUP BY ${Object.values(key).join(', ')}
ON CONFLICT (${columns}) DO UPDATE SET
  ${measures.map(({ column, merge }) => `${column} = ${merge(stored(column), `excluded.${column}`)}`).join(', ')}`;
}

/**
 * The rows after a cursor, and the cursor after them, as the tables `slice` and `after_step`: $1 to $5 the cursor, $6 a
 * moment (older rows are left out), $7 workspaces and $8 rows at most. `entry`: expressions of a row of the log. A step
 * continues in the workspace where the one before ended. Workspaces deleted a day before that moment have no row since:
 * a call ends within minutes.
 */
export const nextStep = (entry: string): string => `
page AS MATERIALIZED (
  SELECT id FROM workspaces
  WHERE id >= $3 AND (deleted_at IS NULL OR deleted_at >= $6::timestamptz - interval '1 day') ORDER BY id LIMIT $7
), slice AS MATERIALIZED (
  SELECT entry.* FROM page CROSS JOIN LATERAL (
    SELECT workspace_id, api_key_id, log_transaction, log_ordinal, ${entry} FROM generations
    WHERE workspace_id = page.id AND log_transaction < $2 AND generations.created_at >= $6
      AND log_transaction >= CASE WHEN page.id = $3 THEN $4::bigint ELSE $1::bigint END
      AND (workspace_id, log_transaction, log_ordinal) > ($3, $4, $5)
    ORDER BY log_transaction, log_ordinal LIMIT $8
  ) AS entry
  ORDER BY page.id, entry.log_transaction, entry.log_ordinal LIMIT $8
), after_step AS (
  (SELECT workspace_id, log_transaction, log_ordinal, false AS is_last FROM slice
   WHERE (SELECT count(*) FROM slice) = $8
   ORDER BY workspace_id DESC, log_transaction DESC, log_ordinal DESC LIMIT 1)
  UNION ALL
  (SELECT id, ${END_OF_WORKSPACE}, (SELECT count(*) FROM page) < $7 FROM page
   WHERE (SELECT count(*) FROM slice) < $8 ORDER BY id DESC LIMIT 1)
  UNION ALL
  (SELECT $3, ${END_OF_WORKSPACE}, true WHERE NOT EXISTS (SELECT FROM page))
)`;

/**
 * `entry`: expressions of a row of the log. `sums`: a grouping of such rows, which the sums of all tables are made of.
 */
export function createRollup(
  cursorTable: string,
  {
    entry,
    sums,
    tables,
  }: { readonly entry: string; readonly sums: string; readonly tables: readonly SumsTable[] },
): Rollup {
  return {
    readCursor: `SELECT ${CURSOR} FROM ${cursorTable}`,
    // Transaction numbers become visible out of order. A pass therefore sums only transactions older than every one
    // that was open at its start; a later pass sums the rest, whatever day it belongs to.
    beginPass: `
UPDATE ${cursorTable} SET pass_until = ${LOG_HORIZON}, pass_workspace_id = DEFAULT, pass_transaction = DEFAULT,
  pass_ordinal = DEFAULT
WHERE pass_until = summed_before AND summed_before < ${LOG_HORIZON}
  AND pass_ended_at <= now() - make_interval(secs => $1)`,
    takeStep: `
WITH ${nextStep(entry)}, sums AS (${sums}
), moved AS (
  UPDATE ${cursorTable} SET pass_workspace_id = after_step.workspace_id, pass_transaction = after_step.log_transaction,
    pass_ordinal = after_step.log_ordinal,
    summed_before = CASE WHEN is_last THEN pass_until ELSE summed_before END,
    pass_ended_at = CASE WHEN is_last THEN date_trunc('milliseconds', now()) ELSE pass_ended_at END
  FROM after_step
  WHERE summed_before = $1 AND pass_until = $2 AND pass_workspace_id = $3 AND pass_transaction = $4 AND pass_ordinal = $5
  RETURNING ${CURSOR}
)${tables.map((table) => `, added_to_${table.table} AS (${add(table)}\n)`).join('')}
SELECT * FROM moved`,
  };
}

/** The condition of rows that a rollup has not summed. The parameters are those of its cursor, in their order. */
export function isUnsummed([
  summedBefore,
  passUntil,
  workspaceId,
  transaction,
  ordinal,
]: readonly string[]): string {
  return `log_transaction >= ${summedBefore}
    AND (log_transaction >= ${passUntil} OR (workspace_id, log_transaction, log_ordinal) > (${workspaceId}, ${transaction}, ${ordinal}))`;
}
