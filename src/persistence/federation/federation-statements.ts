// The statements of access tokens, which are secrets of a key with the policy that issued them.
//
// Why plain SQL: one decides and writes under locks of the policy and of the key, the other skips rows that another process
// is removing.
import { MAX_LIVE_TOKENS_PER_KEY } from '../../domain/federation/federation-policy.js';
import { PURGE_STEP } from '../workspaces/purge-statements.js';

// Expired tokens that one exchange removes.
const SWEEP = 20;

/**
 * $1 the policy, $2 its last change as it was verified, $3 now. No row: the policy or its key has changed. The locks make a
 * change of either wait, which then ends the new token as well; exchanges of one key wait for each other.
 */
export const LOCK_POLICY = `
SELECT key.workspace_id AS "workspaceId", key.id
FROM federation_policies AS policy
JOIN api_keys AS key ON key.workspace_id = policy.workspace_id AND key.id = policy.api_key_id
LEFT JOIN persons AS creator
  ON key.ends_with_creator AND creator.account_id = key.account_id AND creator.id = key.creator_user_id
WHERE policy.id = $1 AND policy.enabled AND policy.updated_at IS NOT DISTINCT FROM $2
  AND key.kind = 'inference' AND NOT key.disabled AND key.deleted_at IS NULL
  AND (key.expires_at IS NULL OR key.expires_at > $3)
  AND creator.disabled_at IS NULL AND (creator.keys_valid_until IS NULL OR creator.keys_valid_until > $3)
FOR SHARE OF policy FOR NO KEY UPDATE OF key`;

/** $1 workspace, $2 key, $3 now. */
export const REMOVE_EXPIRED_OF_KEY = `
DELETE FROM api_key_secrets WHERE secret_hash IN (
  SELECT secret_hash FROM api_key_secrets
  WHERE workspace_id = $1 AND api_key_id = $2 AND federation_policy_id IS NOT NULL AND expires_at <= $3
  LIMIT ${SWEEP} FOR UPDATE SKIP LOCKED
)`;

/** $1 workspace, $2 key, $3 now, $4 the hash of the token, $5 its end, $6 the policy. No row: the key has too many tokens. */
export const INSERT_TOKEN = `
INSERT INTO api_key_secrets (secret_hash, workspace_id, api_key_id, created_at, expires_at, federation_policy_id)
SELECT $4, $1, $2, $3, $5, $6
WHERE (
  SELECT count(*) FROM api_key_secrets
  WHERE workspace_id = $1 AND api_key_id = $2 AND federation_policy_id IS NOT NULL AND expires_at > $3
) < ${MAX_LIVE_TOKENS_PER_KEY}
RETURNING 1`;

/** $1 a moment. An exchange removes some as well, but there may be none. */
export const REMOVE_ACCESS_TOKENS = `
DELETE FROM api_key_secrets WHERE secret_hash IN (
  SELECT secret_hash FROM api_key_secrets WHERE federation_policy_id IS NOT NULL AND expires_at <= $1
  ORDER BY expires_at LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
)
RETURNING 1`;
