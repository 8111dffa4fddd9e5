// The rollup of the log by day for /activity, and the statements that read its sums.
import { createRollup, isUnsummed, selectCounts, summed } from '../rollups/rollup-statements.js';
import type { Count } from '../rollups/rollup-statements.js';

const GROUP = ['workspace_id', 'day', 'model', 'endpoint', 'provider'];
const GROUPED = GROUP.join(', ');
/** The same for a row of the log. */
const GROUP_OF_ENTRY = `(created_at AT TIME ZONE 'UTC')::date AS day, model,
      coalesce(endpoint, '') AS endpoint, coalesce(provider, '') AS provider`;
const COUNTS: readonly Count[] = [
  'prompt_tokens',
  'usage',
  'byok_usage',
  'completion_tokens',
  'reasoning_tokens',
];
const SUMS = ['requests', ...COUNTS];

const keyOf = (columns: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.map((column) => [column, column]));
const MEASURES = SUMS.map(summed);

/** Days before now of the oldest row that is summed: /activity reaches back thirty, and ten more allow for clock differences. */
export const ACTIVITY_SUMMED_DAYS = 40;

export const ACTIVITY_ROLLUP = createRollup('activity_rollup', {
  entry: `${GROUP_OF_ENTRY}, ${selectCounts(COUNTS)}`,
  sums: `
  SELECT api_key_id, ${GROUPED}, count(*) AS requests, ${COUNTS.map((column) => `sum(${column}) AS ${column}`).join(', ')}
  FROM slice GROUP BY api_key_id, ${GROUPED}`,
  tables: [
    { table: 'activity_days', key: keyOf(GROUP), measures: MEASURES },
    { table: 'activity_key_days', key: keyOf(['api_key_id', ...GROUP]), measures: MEASURES },
  ],
});

/**
 * $1 a moment. The first day that is kept: the log has it, or /activity. Days before the last of `REMOVED_DAYS` were removed
 * earlier.
 */
const FIRST_KEPT = `(
  SELECT least(dropped_before, $1::timestamptz - interval '${ACTIVITY_SUMMED_DAYS} days')::date FROM log_begin
)`;
const REMOVED_DAYS = 400;
const isRemoved = `day < ${FIRST_KEPT} AND day >= ${FIRST_KEPT} - ${REMOVED_DAYS}`;

/** $1 a moment. The newest day of a key stays: it is the key's last use. */
export const REMOVE_ACTIVITY: readonly string[] = [
  `DELETE FROM activity_days WHERE ${isRemoved}`,
  `DELETE FROM activity_key_days AS removed WHERE ${isRemoved} AND day < (
    SELECT max(day) FROM activity_key_days AS newest
    WHERE newest.workspace_id = removed.workspace_id AND newest.api_key_id = removed.api_key_id
  )`,
];

const IN_RANGE = 'day >= $2::date AND day < $3::date';
const IS_UNSUMMED_IN_RANGE = `${isUnsummed(['$6', '$7', '$8', '$9', '$10'])}
    AND created_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND created_at < $3::date::timestamp AT TIME ZONE 'UTC'`;

/** The sums of keys, and the rows of their calls that are not summed. */
const ofKeys = (keys: string, workspaces: string): string => `
  SELECT ${GROUPED}, ${SUMS.join(', ')} FROM activity_key_days
  WHERE api_key_id = ANY(${keys}::uuid[]) AND workspace_id = ANY(${workspaces}::uuid[]) AND ${IN_RANGE}`;
const ofLog = (workspaces: string, isOfKeys: string): string => `
  SELECT workspace_id, ${GROUP_OF_ENTRY}, 1, ${selectCounts(COUNTS)} FROM generations
  WHERE workspace_id = ANY(${workspaces}::uuid[]) AND ${IS_UNSUMMED_IN_RANGE} AND ${isOfKeys}`;

interface SumOptions {
  readonly byWorkspace: boolean;
  /** Whether calls of keys are added that have other workspaces. */
  readonly hasOwnKeys: boolean;
}

/**
 * $1 workspaces, $2 the first day, $3 the day after the last, $4 keys (null: all), $5 rows at most, $6 to $10 the
 * cursor of the rollup: rows after it are added from the log. With own keys: $11 their workspaces, $12 the keys.
 */
export const sumUp = ({ byWorkspace, hasOwnKeys }: SumOptions): string => `
SELECT day::text AS date, model, nullif(endpoint, '') AS endpoint, nullif(provider, '') AS provider,
  ${byWorkspace ? 'workspace_id' : 'NULL::uuid'} AS "workspaceId", sum(requests)::text AS requests,
  sum(prompt_tokens)::text AS "promptTokens", sum(usage)::text AS usage, sum(byok_usage)::text AS "byokUsage",
  sum(completion_tokens)::text AS "completionTokens", sum(reasoning_tokens)::text AS "reasoningTokens"
FROM (
  SELECT ${GROUPED}, ${SUMS.join(', ')} FROM activity_days
  WHERE $4::uuid[] IS NULL AND workspace_id = ANY($1::uuid[]) AND ${IN_RANGE}
  UNION ALL ${ofKeys('$4', '$1')}
  UNION ALL ${ofLog('$1', '($4::uuid[] IS NULL OR api_key_id = ANY($4::uuid[]))')}${
    hasOwnKeys
      ? `
  UNION ALL ${ofKeys('$12', '$11')}
  UNION ALL ${ofLog('$11', 'api_key_id = ANY($12::uuid[])')}`
      : ''
  }
) AS activity
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5 LIMIT $5`;

/**
 * The last use of a key, from SQL for its workspace, its id and the day of its last charge. A charge sets the day at once, the
 * rollups that of every call and its moment a while later.
 */
export function selectLastUse(workspaceId: string, keyId: string, chargedOn: string): string {
  const own = `workspace_id = ${workspaceId} AND api_key_id = ${keyId}`;
  return `greatest(
  (SELECT max(day) FROM activity_key_days WHERE ${own}), nullif(${chargedOn}, '1970-01-01')
)::text AS day, (
  SELECT max(last_created_at) FROM usage_key_days
  WHERE ${own} AND period = (SELECT max(period) FROM usage_key_days WHERE ${own})
) AS moment`;
}

const CHARGED_ON =
  '(SELECT last_day FROM key_spend WHERE workspace_id = key.workspace_id AND api_key_id = key.id)';

/** $1 workspaces, $2 their keys. */
export const LAST_USE = `
SELECT key.id, ${selectLastUse('key.workspace_id', 'key.id', CHARGED_ON)}
FROM unnest($1::uuid[], $2::uuid[]) AS key (workspace_id, id)`;
