// The groups of the usage page: their dimensions, and the names of their values.
import type { Dimension } from '../../api/usage';
import { abbreviate } from '../../format';
import type { Group } from './usage-search';

export const DIMENSIONS: Readonly<Record<Group, Dimension>> = {
  model: 'model',
  key: 'api_key_id',
  provider: 'provider',
  user: 'user',
  workspace: 'workspace',
};

export const LABELS: Readonly<Record<Group, string>> = {
  model: 'Model',
  key: 'Key',
  provider: 'Provider',
  user: 'User',
  workspace: 'Workspace',
};

const ABSENT: Readonly<Record<Group, string>> = {
  model: 'No model',
  key: 'Deleted key',
  provider: 'No provider',
  user: 'No user',
  workspace: 'Deleted workspace',
};

/** By hash, id and slug. */
export type GroupNames = Readonly<Record<'key' | 'workspace' | 'provider', ReadonlyMap<string, string>>>;

export function nameOf(group: Group, value: string | null, names: GroupNames): string {
  if (value === null) return ABSENT[group];
  if (group === 'model' || group === 'user') return value;
  return names[group].get(value) ?? (group === 'provider' ? value : abbreviate(value));
}
