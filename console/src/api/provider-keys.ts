// The account's own keys for providers (BYOK).
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';

export type ProviderKey = Schemas['ByokKeyDto'];
export type NewProviderKey = Schemas['CreateByokKeyDto'];
export type ProviderKeyChange = Schemas['UpdateByokKeyDto'];

export const PROVIDER_KEYS = ['provider-keys'] as const;
const PAGE = 100;
const at = (id: string) => ({ path: { id } });

/** A page by its offset, which the list uses as a cursor. */
export async function loadProviderKeys(
  workspaceId: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<ProviderKey>> {
  const offset = Number(cursor ?? 0);
  const query = { workspace_id: workspaceId, offset, limit: PAGE };
  const { data, total_count: total } = await call(api.GET('/api/v1/byok', { params: { query }, signal }));
  const next = offset + data.length;
  return { data, next_cursor: next < total ? String(next) : null };
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
