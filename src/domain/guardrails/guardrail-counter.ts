// The counters of the limits of guardrails: one for a key, or for all keys that a member has created in a workspace.
import { createHash } from 'node:crypto';
import { formatUuid } from '../identifiers.js';
import type { AssignmentSubject } from './guardrail.js';

/** As guardrail_counter_id() of the migrations. `id`: of the key, or the user id of the member. */
export function guardrailCounterId(workspaceId: string, subject: AssignmentSubject, id: string): string {
  const name = `${workspaceId} ${subject === 'api_key' ? 'key' : 'member'} ${id}`;
  return formatUuid(createHash('sha256').update(name).digest());
}
