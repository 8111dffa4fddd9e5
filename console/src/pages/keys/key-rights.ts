// Which keys the session may change or create.
import type { ApiKey } from '../../api/keys';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';

/** A role may allow changes of keys in some workspaces, or of own keys alone. */
export function useCanChangeKey(key: ApiKey): boolean {
  const can = useCan();
  return key.is_management_key
    ? can('management_keys.change', null)
    : can('keys.change', key.workspace_id, key.creator_user_id);
}

/** `own`: keys for themselves alone, on their own page, where the bounds of the workspace are. Null: none. */
export function useCreatableKeys(): 'any' | 'own' | null {
  const can = useCan();
  const workspaceId = useWorkspaceId();
  if (!can('keys.change', workspaceId)) return null;
  return can('keys.change', workspaceId, null) ? 'any' : 'own';
}
