import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';

export type EffectiveLimit = Schemas['EffectiveLimitDto'];

export type ApiKey = Schemas['ApiKeyDto'];
export type CurrentKey = Schemas['CurrentKeyDto'];
export type OwnUsage = Schemas['KeyUsageItemDto'];
export type NewKey = Schemas['CreateKeyDto'];
export type KeyChange = Schemas['UpdateKeyDto'];
export type KeySecret = Schemas['NewSecretResponseDto'];

export const KEYS = ['keys'] as const;
const PAGE = 100;

export interface KeyFilters {
  readonly workspace_id: string;
  readonly include_disabled: boolean;
  /** A part of a name. */
  readonly q?: string | undefined;
}

/** A page by its offset, which the list uses as a cursor. */
export async function loadKeys(
  query: KeyFilters,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<ApiKey>> {
  const offset = Number(cursor ?? 0);
  const { data } = await call(
    api.GET('/api/v1/keys', { params: { query: { ...query, offset, limit: PAGE } }, signal }),
  );
  return { data, next_cursor: data.length < PAGE ? null : String(offset + PAGE) };
}

export const keyQuery = (hash: string) =>
  queryOptions({
    queryKey: [...KEYS, hash],
    queryFn: async ({ signal }): Promise<ApiKey> =>
      (await call(api.GET('/api/v1/keys/{hash}', { params: { path: { hash } }, signal }))).data,
  });

/** The first keys of a workspace, for lists to choose from. */
export const keyChoicesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [...KEYS, 'choices', workspaceId],
    queryFn: async ({ signal }): Promise<readonly ApiKey[]> =>
      (await loadKeys({ workspace_id: workspaceId, include_disabled: true }, undefined, signal)).data,
  });

export const currentKeyQuery = queryOptions({
  queryKey: ['current-key'],
  queryFn: async ({ signal }): Promise<CurrentKey> => (await call(api.GET('/api/v1/key', { signal }))).data,
});

/** The usage of the session's key, newest day first. */
export const ownUsageQuery = queryOptions({
  queryKey: ['current-key', 'usage'],
  queryFn: async ({ signal }): Promise<readonly OwnUsage[]> =>
    (await call(api.GET('/api/v1/key/usage', { params: { query: { days: 30 } }, signal }))).data,
  refetchInterval: 60_000,
});

export function createKey(body: NewKey): Promise<KeySecret> {
  return call(api.POST('/api/v1/keys', { body }));
}

export async function updateKey(hash: string, body: KeyChange): Promise<ApiKey> {
  return (await call(api.PATCH('/api/v1/keys/{hash}', { params: { path: { hash } }, body }))).data;
}

export function rotateKey(hash: string, graceSeconds: number): Promise<KeySecret> {
  const body = { grace_period_seconds: graceSeconds };
  return call(api.POST('/api/v1/keys/{hash}/rotate', { params: { path: { hash } }, body }));
}

export async function deleteKey(hash: string): Promise<void> {
  await call(api.DELETE('/api/v1/keys/{hash}', { params: { path: { hash } } }));
}
