// The statements of codes that programs exchange for keys.
//
// Why plain SQL: a code is read and removed in one step, so that no two attempts get it.
import { removeOlder } from '../workspaces/purge-statements.js';

/** $1 the hash of a code. */
export const TAKE_AUTH_CODE = `
DELETE FROM auth_codes WHERE code_hash = $1
RETURNING account_id AS "accountId", workspace_id AS "workspaceId", maker, code_challenge AS "codeChallenge",
  key_label AS "keyLabel", limit_amount AS "limit", limit_reset AS "limitReset", key_expires_at AS "keyExpiresAt",
  created_at AS "createdAt", expires_at AS "expiresAt"`;

/** $1 a moment: codes that no program has exchanged in time. */
export const REMOVE_AUTH_CODES = removeOlder('auth_codes', 'expires_at');
