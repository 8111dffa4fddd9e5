// The account's own keys for providers (BYOK).
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type ProviderKey = Schemas['ByokKeyDto'];
export type NewProviderKey = Schemas['CreateByokKeyDto'];
export type ProviderKeyChange = Schemas['UpdateByokKeyDto'];

export const PROVIDER_KEYS = ['provider-keys'] as const;
const PAGE = 100;
const at = (id: string) => ({ path: { id } });

export function loadProviderKeys(
  workspaceId: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<ProviderKey>> {
  return loadByOffset(cursor, PAGE, (page) =>
    call(api.GET('/api/v1/byok', { params: { query: { workspace_id: workspaceId, ...page } }, signal })),
  );
}

export async function createProviderKey(body: NewProviderKey): Promise<ProviderKey> {
  return (await call(api.POST('/api/v1/byok', { body }))).data;
}

export async function updateProviderKey(id: string, body: ProviderKeyChange): Promise<ProviderKey> {
  return (await call(api.PATCH('/api/v1/byok/{id}', { params: at(id), body }))).data;
}

export async function deleteProviderKey(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/byok/{id}', { params: at(id) }));
}
