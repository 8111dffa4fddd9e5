// The statements of the search over an account.
//
// Why plain SQL: each has one index that answers it, of every partition of the log, and a bound on the rows that it reads.

import { isUser } from '../generations/generation-list-statements.js';

/** Rows of one statement. */
export const MAX_FOUND = 20;

/**
 * Rows that a search of a reach reads of each id, session or user, the newest: others' calls may have the same, and only some of
 * them are within reach.
 */
export const MAX_WALKED = 5_000;

interface SearchStatements {
  readonly callsOfRequest: string;
  readonly callsOfUpstream: string;
  readonly newestOfSession: string;
  readonly newestOfUser: string;
  readonly keys: string;
}

const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC';
const CALL_COLUMNS = `id, workspace_id AS "workspaceId", api_key_id AS "apiKeyId", created_at AS "createdAt", model, status,
  error_type AS "errorType", error_message AS "errorMessage", request_id AS "requestId"`;
const IS_WITHIN = '(workspace_id = ANY($3::uuid[]) OR api_key_id = ANY($4::uuid[]))';

const selectCalls = (condition: string): string => `
SELECT ${CALL_COLUMNS}
FROM generations WHERE account_id = $1 AND ${condition}
${NEWEST_FIRST} LIMIT ${MAX_FOUND}`;

const selectCallsWithin = (condition: string): string => `
SELECT ${CALL_COLUMNS} FROM (
  SELECT * FROM generations WHERE account_id = $1 AND ${condition} ${NEWEST_FIRST} LIMIT ${MAX_WALKED}
) AS walked
WHERE ${IS_WITHIN}
${NEWEST_FIRST} LIMIT ${MAX_FOUND}`;

const selectNewest = (condition: string): string => `
SELECT workspace.id AS "workspaceId", newest.id, newest.created_at AS "createdAt"
FROM workspaces AS workspace CROSS JOIN LATERAL (
  SELECT id, created_at FROM generations WHERE workspace_id = workspace.id AND ${condition}
  ${NEWEST_FIRST} LIMIT 1
) AS newest
WHERE workspace.account_id = $1
ORDER BY newest.created_at DESC LIMIT ${MAX_FOUND}`;

const selectNewestWithin = (condition: string): string => `
SELECT workspace.id AS "workspaceId", newest.id, newest.created_at AS "createdAt"
FROM workspaces AS workspace CROSS JOIN LATERAL (
  SELECT id, created_at FROM (
    SELECT id, created_at, workspace_id, api_key_id FROM generations
    WHERE workspace_id = workspace.id AND ${condition} ${NEWEST_FIRST} LIMIT ${MAX_WALKED}
  ) AS walked
  WHERE ${IS_WITHIN} ${NEWEST_FIRST} LIMIT 1
) AS newest
WHERE workspace.account_id = $1 AND workspace.id = ANY($5::uuid[])
ORDER BY newest.created_at DESC LIMIT ${MAX_FOUND}`;

const selectKeys = (isWithin: string): string => `
SELECT hash, workspace_id AS "workspaceId", name, label, created_at AS "createdAt",
  CASE WHEN hash = $2 THEN 'key_hash' WHEN position(lower($2::text) IN lower(name)) > 0 THEN 'key_name'
    ELSE 'key_label' END AS "matchedBy"
FROM api_keys
WHERE account_id = $1 AND deleted_at IS NULL${isWithin}
  AND (hash = $2 OR position(lower($2::text) IN lower(name)) > 0 OR position(lower($2::text) IN lower(label)) > 0)
ORDER BY lower(name) = lower($2) DESC, created_at DESC, id DESC LIMIT ${MAX_FOUND}`;

/**
 * $1 account, $2 the text: an id, a session or a user, whose newest call in each workspace is found, or a hash, or a part of a key's name
 * or label. The last reads every key of the account.
 */
export const OF_ACCOUNT: SearchStatements = {
  callsOfRequest: selectCalls('request_id = $2'),
  callsOfUpstream: selectCalls('upstream_id = $2'),
  newestOfSession: selectNewest('session_id = $2'),
  newestOfUser: selectNewest(isUser('$2')),
  keys: selectKeys(''),
};

/** The same within a reach: $3 its workspaces, $4 its keys beside them; of sessions and users $5 the workspaces of both. */
export const OF_REACH: SearchStatements = {
  callsOfRequest: selectCallsWithin('request_id = $2'),
  callsOfUpstream: selectCallsWithin('upstream_id = $2'),
  newestOfSession: selectNewestWithin('session_id = $2'),
  newestOfUser: selectNewestWithin(isUser('$2')),
  keys: selectKeys(' AND (workspace_id = ANY($3::uuid[]) OR id = ANY($4::uuid[]))'),
};
