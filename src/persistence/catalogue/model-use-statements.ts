// The statement on the sums of the log by key and model. Plain SQL: one look-up of an index for each key of a workspace that has used
// one of the models.
import type { Scope } from '../../domain/people/manager.js';
import { keysWithin } from '../keys/keys-in-reach.js';
import type { Add } from '../keys/keys-in-reach.js';

interface WantedUse {
  readonly models: readonly string[];
  /** A day. */
  readonly since: Date;
  readonly limit: number;
}

/** The keys within reach that have used each model, the latest use first. Reads sums alone, which follow the log by about a minute. */
export function keysOfModels(
  { accountId, reach }: Scope,
  { models, since, limit }: WantedUse,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [accountId, models, since, limit];
  const add: Add = (value) => `$${values.push(value)}`;
  const within = keysWithin(reach, add).map((condition) => ` AND ${condition}`);
  return { text: textOf(within.join('')), values };
}

/** $1 account, $2 models, $3 the first day, $4 maximum. */
const textOf = (within: string): string => `
SELECT used.model, key.hash, key.label, key.name, key.workspace_id AS "workspaceId", used.requests, used.last_at AS "lastUsedAt"
FROM api_keys AS key
CROSS JOIN LATERAL (
  SELECT model, sum(requests)::float8 AS requests, max(last_created_at) AS last_at FROM usage_key_days
  WHERE workspace_id = key.workspace_id AND api_key_id = key.id AND period >= $3::timestamptz AND model = ANY($2::text[])
  GROUP BY model
) AS used
WHERE key.account_id = $1::uuid AND key.deleted_at IS NULL${within} AND key.workspace_id IN (
  SELECT day.workspace_id FROM workspaces AS workspace
  JOIN usage_days AS day ON day.workspace_id = workspace.id
  WHERE workspace.account_id = $1::uuid AND day.period >= $3::timestamptz AND day.model = ANY($2::text[])
)
ORDER BY used.last_at DESC, key.hash, used.model LIMIT $4`;
