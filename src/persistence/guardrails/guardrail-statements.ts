// The guardrails that govern a key: joined to its look-up, and read for one key. Their limits and matches.
//
// Why plain SQL: a call may wait for the look-up, which reads a row of each index at most.
import { HIT_DAYS } from '../../domain/guardrails/guardrail-hit.js';
import type { GuardrailRef } from '../../domain/guardrails/guardrail.js';
import { spendOf } from '../spend/spend-policy-statements.js';
import { removeOlder } from '../workspaces/purge-statements.js';

export interface GoverningRow {
  readonly workspaceGuardrailId: string | null;
  readonly memberGuardrailId: string | null;
  readonly keyGuardrailId: string | null;
}

/** For a statement on `api_keys AS key`. */
export const GOVERNING = {
  columns: `workspace_guardrail.id AS "workspaceGuardrailId", of_member.guardrail_id AS "memberGuardrailId",
  of_key.guardrail_id AS "keyGuardrailId"`,
  joins: `LEFT JOIN guardrails AS workspace_guardrail
  ON workspace_guardrail.workspace_id = key.workspace_id AND workspace_guardrail.is_default
LEFT JOIN guardrail_assignments AS of_member
  ON of_member.workspace_id = key.workspace_id AND of_member.user_id = key.creator_user_id
LEFT JOIN guardrail_assignments AS of_key
  ON of_key.workspace_id = key.workspace_id AND of_key.api_key_id = key.id`,
};

/** $1 workspace, $2 key. */
export const GUARDRAILS_OF_KEY = `
SELECT ${GOVERNING.columns}
FROM api_keys AS key
${GOVERNING.joins}
WHERE key.workspace_id = $1::uuid AND key.id = $2::uuid`;

/** $1 workspace, $2 user: of all keys that the user has created there. */
export const GUARDRAILS_OF_MEMBER = `
SELECT ${GOVERNING.columns}
FROM (SELECT $1::uuid AS workspace_id, NULL::uuid AS id, $2::text AS creator_user_id) AS key
${GOVERNING.joins}`;

/** Null: none. */
export function toGuardrailRefs(row: GoverningRow): readonly GuardrailRef[] | null {
  const { workspaceGuardrailId, memberGuardrailId, keyGuardrailId } = row;
  const refs: GuardrailRef[] = [];
  if (workspaceGuardrailId !== null) refs.push({ id: workspaceGuardrailId, scope: 'workspace' });
  if (memberGuardrailId !== null) refs.push({ id: memberGuardrailId, scope: 'member' });
  if (keyGuardrailId !== null) refs.push({ id: keyGuardrailId, scope: 'api_key' });
  return refs.length === 0 ? null : refs;
}

/** GuardrailLimitsJson of a key, from SQL for its workspace, its id and its creator. Null: none. */
export function selectGuardrailLimits(workspaceId: string, keyId: string, creatorId: string): string {
  return `(
  SELECT json_agg(json_build_object('interval', guardrail.limit_reset, 'limit', guardrail.limit_amount::text,
    'includeByok', guardrail.include_byok_in_budgets, 'spend', ${spendOf('guardrail_spend')}))
  FROM guardrail_assignments AS assignment
  JOIN guardrails AS guardrail ON guardrail.workspace_id = ${workspaceId} AND guardrail.id = assignment.guardrail_id
    AND guardrail.limit_amount IS NOT NULL
  LEFT JOIN guardrail_spend ON guardrail_spend.workspace_id = ${workspaceId} AND guardrail_spend.id =
    guardrail_counter_id(${workspaceId}, assignment.api_key_id, assignment.user_id)
  WHERE assignment.workspace_id = ${workspaceId} AND (assignment.api_key_id = ${keyId} OR assignment.user_id = ${creatorId})
)`;
}

/** $1 workspaces, $2 their keys, $3 the creators of these. */
export const GUARDRAIL_LIMITS_OF_KEYS = `
SELECT key.id, ${selectGuardrailLimits('key.workspace_id', 'key.id', 'key.creator_user_id')} AS limits
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS key (workspace_id, id, creator_user_id)`;

/** $1 workspace, $2 user: the guardrail of the member, if it has a limit. */
export const MEMBER_LIMIT = `
SELECT guardrail.id, guardrail.name, ${selectGuardrailLimits('$1::uuid', 'NULL::uuid', '$2::text')} AS limits
FROM guardrail_assignments AS member
JOIN guardrails AS guardrail ON guardrail.workspace_id = member.workspace_id AND guardrail.id = member.guardrail_id
WHERE member.workspace_id = $1::uuid AND member.user_id = $2::text AND guardrail.limit_amount IS NOT NULL`;

/** Days of matches. Later than those that are shown, for processes whose clocks differ. */
export const KEPT_HIT_DAYS = HIT_DAYS + 2;

/** $1 counts as JSON. In the order of the key, so that processes wait for each other instead of deadlocking. */
export const ADD_HITS = `
INSERT INTO guardrail_hits AS stored (workspace_id, guardrail_id, day, action, filter, hits)
SELECT "workspaceId", "guardrailId", day, action, filter, hits
FROM jsonb_to_recordset($1::jsonb) AS given ("workspaceId" uuid, "guardrailId" uuid, day date, action text, filter text,
  hits bigint)
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (workspace_id, guardrail_id, day, action, filter) DO UPDATE SET hits = stored.hits + excluded.hits`;

/** $1 workspace, $2 the first day. A workspace has few guardrails, and each few filters. */
export const USAGE_OF_GUARDRAILS = `
SELECT id AS "guardrailId",
  (SELECT count(*)::integer FROM guardrail_assignments
   WHERE workspace_id = $1 AND guardrail_id = guardrails.id AND api_key_id IS NOT NULL) AS "keyCount",
  (SELECT count(*)::integer FROM guardrail_assignments
   WHERE workspace_id = $1 AND guardrail_id = guardrails.id AND user_id IS NOT NULL) AS "memberCount",
  (SELECT coalesce(json_agg(json_build_object('action', action, 'filter', filter, 'hits', hits)
     ORDER BY hits DESC, action, filter), '[]')
   FROM (SELECT action, filter, sum(hits)::bigint AS hits FROM guardrail_hits
     WHERE workspace_id = $1 AND guardrail_id = guardrails.id AND day >= $2::date GROUP BY 1, 2) AS summed) AS hits
FROM guardrails WHERE workspace_id = $1 ORDER BY is_default DESC, created_at, id`;

/** $1 a moment. */
export const REMOVE_GUARDRAIL_HITS = removeOlder('guardrail_hits', 'day');
