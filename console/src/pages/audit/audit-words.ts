// The words of the audit log.
import type { AuditEntry } from '../../api/audit';
import type { Tone } from '../../components/display/badge';
import { abbreviate } from '../../format';

export const TYPE_NAMES: Readonly<Record<AuditEntry['object_type'], string>> = {
  api_key: 'Key',
  catalogue_import: 'Price import',
  catalogue_model: 'Model',
  destination: 'Destination',
  encryption_key: 'Encryption key',
  group_mapping: 'Group mapping',
  guardrail: 'Guardrail',
  federation_policy: 'Federation policy',
  guardrail_assignment: 'Guardrail assignment',
  notification: 'Notification',
  own_key_policy: 'Own-key policy',
  person: 'Person',
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
