// The statements of the search over an account.
//
// Why plain SQL: each has one index that answers it, of every partition of the log, and a bound on the rows that it reads.

import { isUser } from '../generations/generation-list-statements.js';

/** Rows of one statement. */
export const MAX_FOUND = 20;

const selectCalls = (condition: string): string => `
SELECT id, workspace_id AS "workspaceId", api_key_id AS "apiKeyId", created_at AS "createdAt", model, status,
  error_type AS "errorType", error_message AS "errorMessage", request_id AS "requestId"
FROM generations WHERE account_id = $1 AND ${condition}
ORDER BY created_at DESC, id DESC LIMIT ${MAX_FOUND}`;

/** $1 account, $2 the id. */
export const CALLS_OF_REQUEST = selectCalls('request_id = $2');
export const CALLS_OF_UPSTREAM = selectCalls('upstream_id = $2');

const selectNewest = (condition: string): string => `
SELECT workspace.id AS "workspaceId", newest.id, newest.created_at AS "createdAt"
FROM workspaces AS workspace CROSS JOIN LATERAL (
  SELECT id, created_at FROM generations WHERE workspace_id = workspace.id AND ${condition}
  ORDER BY created_at DESC, id DESC LIMIT 1
) AS newest
WHERE workspace.account_id = $1
ORDER BY newest.created_at DESC LIMIT ${MAX_FOUND}`;

/** $1 account, $2 a session or a user. Its newest call in each workspace. */
export const NEWEST_OF_SESSION = selectNewest('session_id = $2');
export const NEWEST_OF_USER = selectNewest(isUser('$2'));

/** $1 account, $2 a hash, or a part of a name or label. It reads every key of the account. */
export const FIND_KEYS = `
SELECT hash, workspace_id AS "workspaceId", name, label, created_at AS "createdAt",
  CASE WHEN hash = $2 THEN 'key_hash' WHEN position(lower($2::text) IN lower(name)) > 0 THEN 'key_name'
    ELSE 'key_label' END AS "matchedBy"
FROM api_keys
WHERE account_id = $1 AND deleted_at IS NULL
  AND (hash = $2 OR position(lower($2::text) IN lower(name)) > 0 OR position(lower($2::text) IN lower(label)) > 0)
ORDER BY lower(name) = lower($2) DESC, created_at DESC, id DESC LIMIT ${MAX_FOUND}`;
