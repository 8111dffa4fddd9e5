// The words of the audit log.
import type { AuditEntry } from '../../api/audit';
import type { Tone } from '../../components/display/badge';
import { abbreviate } from '../../format';

export const TYPE_NAMES: Readonly<Record<AuditEntry['object_type'], string>> = {
  api_key: 'Key',
  catalogue_model: 'Model',
  destination: 'Destination',
  encryption_key: 'Encryption key',
  guardrail: 'Guardrail',
  guardrail_assignment: 'Guardrail assignment',
  notification: 'Notification',
  preset: 'Preset',
  provider_credential: 'Provider key',
  workspace: 'Workspace',
  workspace_budget: 'Budget',
  workspace_member: 'Member',
};

export const ACTION_NAMES: Readonly<Record<AuditEntry['action'], string>> = {
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
  rotate: 'Rotated',
};

export const ACTION_TONES: Readonly<Record<AuditEntry['action'], Tone>> = {
  create: 'good',
  update: 'accent',
  delete: 'bad',
  rotate: 'warning',
};

/** The name of the object, or its id where it has none. */
export function objectName({ before, after, object_id: id }: AuditEntry): string {
  const { name } = { ...before, ...after };
  return typeof name === 'string' && name !== '' ? name : abbreviate(id);
}

export interface ChangedMember {
  readonly name: string;
  /** Undefined: the object, or the member, was not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The members that differ, by their path. */
export function changedMembers({ before, after }: AuditEntry): readonly ChangedMember[] {
  const old = flatten(before ?? {});
  const fresh = flatten(after ?? {});
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((name) => ({ name, before: old.get(name), after: fresh.get(name) }))
    .filter((member) => member.before !== member.after);
}

function flatten(object: object, prefix = ''): Map<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    const path = `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [inner, text] of flatten(value, `${path}.`)) members.set(inner, text);
    } else {
      members.set(path, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }
  return members;
}
