// The guardrails that govern a key: joined to its look-up, and read for one key.
//
// Why plain SQL: a call may wait for the look-up, which reads a row of each index at most.
import type { GuardrailRef } from '../../domain/guardrails/guardrail.js';

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

/** Null: none. */
export function toGuardrailRefs(row: GoverningRow): readonly GuardrailRef[] | null {
  const { workspaceGuardrailId, memberGuardrailId, keyGuardrailId } = row;
  const refs: GuardrailRef[] = [];
  if (workspaceGuardrailId !== null) refs.push({ id: workspaceGuardrailId, scope: 'workspace' });
  if (memberGuardrailId !== null) refs.push({ id: memberGuardrailId, scope: 'member' });
  if (keyGuardrailId !== null) refs.push({ id: keyGuardrailId, scope: 'api_key' });
  return refs.length === 0 ? null : refs;
}
