// Statements of a person's sign-in: the roles of groups are replaced, those given by hand stay.

/** $1 account, $2 id, $3 issuer, $4 subject, $5 now. */
export const ADD_PERSON = `
INSERT INTO persons (account_id, id, issuer, subject, created_at) VALUES ($1::uuid, $2, $3, $4, $5)
ON CONFLICT (account_id, issuer, subject) DO NOTHING RETURNING 1`;

/** $1 account, $2 issuer, $3 subject. Sign-ins of one person run one after the other. */
export const LOCK_PERSON = `
SELECT id, disabled_at AS "disabledAt" FROM persons
WHERE account_id = $1::uuid AND issuer = $2 AND subject = $3 FOR NO KEY UPDATE`;

/** The higher of two roles of a workspace; null is none. */
const higherOf = (one: string, other: string): string =>
  `CASE WHEN 'admin' IN (${one}, ${other}) THEN 'admin' WHEN 'member' IN (${one}, ${other}) THEN 'member' ELSE 'viewer' END`;

/** A member without a source has the role by hand. */
const HAND_ROLE = 'CASE WHEN member.group_role IS NULL THEN member.role ELSE member.hand_role END';

/** $1 account, $2 person, $3 now, $4 JSON of `[{workspace_id, id, role}]`, where `id` is that of a new member. */
export const SET_GROUP_ROLES = `
INSERT INTO workspace_members AS member (workspace_id, user_id, id, role, group_role, created_at)
SELECT wanted.workspace_id, $2, wanted.id, wanted.role, wanted.role, $3
FROM json_to_recordset($4::json) AS wanted (workspace_id uuid, id uuid, role text)
JOIN workspaces AS workspace ON workspace.account_id = $1::uuid AND workspace.id = wanted.workspace_id AND workspace.deleted_at IS NULL
ORDER BY wanted.workspace_id
ON CONFLICT (workspace_id, user_id) DO UPDATE
SET hand_role = ${HAND_ROLE}, group_role = excluded.group_role, role = ${higherOf(HAND_ROLE, 'excluded.group_role')}
WHERE member.group_role IS DISTINCT FROM excluded.group_role`;

/** $1 account, $2 person, $3 the workspaces whose roles of groups stay. */
const ENDED = `member.user_id = $2 AND member.group_role IS NOT NULL AND NOT member.workspace_id = ANY ($3::uuid[])
  AND member.workspace_id IN (SELECT id FROM workspaces WHERE account_id = $1::uuid)`;

/** The parameters of ENDED. */
export const KEEP_HAND_ROLES = `
UPDATE workspace_members AS member SET group_role = NULL, role = member.hand_role
WHERE ${ENDED} AND member.hand_role IS NOT NULL`;

/**
 * The parameters of ENDED, for a person with a role of the account. A membership carries the person's guardrail: without the
 * membership the person's keys would lose their limit. The role of a viewer adds nothing to one of the account.
 */
export const KEEP_GUARDED = `
UPDATE workspace_members AS member SET group_role = 'viewer', role = 'viewer'
WHERE ${ENDED} AND member.hand_role IS NULL AND EXISTS (
  SELECT 1 FROM guardrail_assignments AS assignment
  WHERE assignment.workspace_id = member.workspace_id AND assignment.user_id = member.user_id
)
RETURNING member.workspace_id::text AS id`;

/** The parameters of ENDED. */
export const END_GROUP_ROLES = `
DELETE FROM workspace_members AS member WHERE ${ENDED} AND member.hand_role IS NULL
RETURNING member.workspace_id::text AS id`;

/** $1 person, $2 workspaces, $3 now. */
export const DISABLE_KEYS = `
UPDATE api_keys SET disabled = true, updated_at = $3
WHERE workspace_id = ANY ($2::uuid[]) AND creator_user_id = $1 AND ends_with_creator AND deleted_at IS NULL AND NOT disabled`;
