// Reads keys and their spend, many in one statement.
import type { ApiKeyWithSpend } from '../../domain/keys/api-key.js';
import type { Clock } from '../../domain/clock.js';
import { toApiKey, toKeySpend } from './api-key-row.js';
import type { ApiKeyRow, KeySpendRow } from './api-key-row.js';
import { BatchReader } from '../database/batch-reader.js';
import type { Database } from '../database/database.js';
import { opaqueArray } from '../database/rows/opaque-array.js';

/** A hash is looked up within its account: another account's key is not found. */
interface KeyName {
  readonly accountId: string;
  readonly hash: string;
}

const KEY_COLUMNS = Object.entries({
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
} satisfies Record<keyof ApiKeyRow, string>);

const SPEND_COLUMNS = Object.entries({
  total: 'total',
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  byokTotal: 'byok_total',
  byokDaily: 'byok_daily',
  byokWeekly: 'byok_weekly',
  byokMonthly: 'byok_monthly',
} satisfies Record<Exclude<keyof KeySpendRow, 'lastDay'>, string>);

const select = (table: string, columns: readonly (readonly [string, string])[]): string =>
  columns.map(([member, column]) => `${table}.${column} AS "${member}"`).join(', ');

/** $1 accounts, $2 hashes, paired by index. Dates are read as texts: the driver would apply its own time zone. */
const READ_KEYS = `
SELECT ${select('key', KEY_COLUMNS)}, ${select('spend', SPEND_COLUMNS)},
  spend.last_day::timestamp AT TIME ZONE 'UTC' AS "lastDay"
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
WHERE (key.account_id, key.hash) IN (
  SELECT * FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'bpchar')})
) AND key.deleted_at IS NULL`;

type Row = ApiKeyRow & (KeySpendRow | Record<keyof KeySpendRow, null>);

/** One statement for all keys that are requested at the same time. */
export function createKeyReader(database: Database, clock: Clock): BatchReader<KeyName, ApiKeyWithSpend> {
  return new BatchReader({
    idOf,
    read: async (names) => {
      const rows = await database.query<Row>({
        name: 'read-keys',
        text: READ_KEYS,
        values: [names.map(({ accountId }) => accountId), names.map(({ hash }) => hash)],
      });
      const now = clock.now();
      return new Map(
        rows.map((row) => [
          idOf(row),
          { key: toApiKey(row), spend: toKeySpend(row.lastDay === null ? null : row, now) },
        ]),
      );
    },
  });
}

function idOf({ accountId, hash }: KeyName): string {
  return `${accountId} ${hash}`;
}
