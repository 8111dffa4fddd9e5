// The policy of a workspace on keys that developers make for themselves.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type OwnKeyPolicy = Schemas['OwnKeyPolicyDto'];
export type OwnKeyPolicyChange = Schemas['PutOwnKeyPolicyDto'];

const at = (id: string) => ({ path: { id } });

export const ownKeyPolicyQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ['own-key-policy', workspaceId],
    queryFn: async ({ signal }): Promise<OwnKeyPolicy> => {
      const params = at(workspaceId);
      return (await call(api.GET('/api/v1/workspaces/{id}/own-key-policy', { params, signal }))).data;
    },
  });

export async function setOwnKeyPolicy(workspaceId: string, body: OwnKeyPolicyChange): Promise<OwnKeyPolicy> {
  const params = at(workspaceId);
  return (await call(api.PUT('/api/v1/workspaces/{id}/own-key-policy', { params, body }))).data;
}
