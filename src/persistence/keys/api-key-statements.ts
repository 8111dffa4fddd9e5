// The statement that reads a key with its spend.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its two statements.
import type { ApiKeyRow, KeySpendRow } from './api-key-row.js';

const KEY_COLUMNS = {
  id: 'id',
  accountId: 'account_id',
  workspaceId: 'workspace_id',
  hash: 'hash',
  kind: 'kind',
  name: 'name',
  label: 'label',
  disabled: 'disabled',
  limit: 'limit_amount',
  limitReset: 'limit_reset',
  includeByokInLimit: 'include_byok_in_limit',
  embeddingCache: 'embedding_cache',
  creatorUserId: 'creator_user_id',
  externalUser: 'external_user',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  expiresAt: 'expires_at',
} satisfies Record<keyof ApiKeyRow, string>;

const SPEND_COLUMNS = {
  total: 'total',
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  byokTotal: 'byok_total',
  byokDaily: 'byok_daily',
  byokWeekly: 'byok_weekly',
  byokMonthly: 'byok_monthly',
} satisfies Record<Exclude<keyof KeySpendRow, 'lastDay'>, string>;

const select = (table: string, columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${table}.${column} AS "${member}"`)
    .join(', ');

/** A key that has spent nothing has no row of spend. */
export type KeyWithSpendRow = ApiKeyRow & (KeySpendRow | Record<keyof KeySpendRow, null>);

/** $1 account, $2 hash. The driver would read a date in its own time zone. */
export const READ_KEY = `
SELECT ${select('key', KEY_COLUMNS)}, ${select('spend', SPEND_COLUMNS)},
  spend.last_day::timestamp AT TIME ZONE 'UTC' AS "lastDay"
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
WHERE key.account_id = $1 AND key.hash = $2 AND key.deleted_at IS NULL`;

/** $1 workspace, $2 keys. A charge sets the day at once, the rollup that of every call a while later. */
export const LAST_USE = `
SELECT key.id, greatest(
  (SELECT max(day) FROM activity_key_days WHERE workspace_id = $1 AND api_key_id = key.id),
  (SELECT nullif(last_day, '1970-01-01') FROM key_spend WHERE workspace_id = $1 AND api_key_id = key.id)
)::text AS day
FROM unnest($2::uuid[]) AS key (id)`;
