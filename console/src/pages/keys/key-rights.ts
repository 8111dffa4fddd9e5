// Which keys the session may change or create.
import { useQuery } from '@tanstack/react-query';
import type { ApiKey } from '../../api/keys';
import { ownKeyPolicyQuery } from '../../api/own-keys';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';

/** A role may allow changes of keys in some workspaces, or of own keys alone. */
export function useCanChangeKey(key: ApiKey): boolean {
  const can = useCan();
  return key.is_management_key
    ? can('management_keys.change', null)
    : can('keys.change', key.workspace_id, key.creator_user_id);
}

/** Of a developer the workspace's policy decides. */
export function useCanCreateKey(): boolean {
  const can = useCan();
  const workspaceId = useWorkspaceId();
  const isOwnAlone = can('keys.change', workspaceId) && !can('keys.change', workspaceId, null);
  const { data: policy } = useQuery({ ...ownKeyPolicyQuery(workspaceId), enabled: isOwnAlone });
  return isOwnAlone ? policy?.enabled === true : can('keys.change', workspaceId);
}
