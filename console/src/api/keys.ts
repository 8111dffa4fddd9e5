import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';
import { scopeOf } from './workspaces';
import type { WorkspaceScope } from './workspaces';

export type EffectiveLimit = Schemas['EffectiveLimitDto'];

export type ApiKey = Schemas['ApiKeyDto'];
export type CurrentKey = Schemas['CurrentKeyDto'];
export type OwnUsage = Schemas['KeyUsageItemDto'];
export type NewKey = Schemas['CreateKeyDto'];
export type KeyChange = Schemas['UpdateKeyDto'];
export type KeySecret = Schemas['NewSecretResponseDto'];

export const KEYS = ['keys'] as const;
const PAGE = 100;

export interface KeyFilters extends WorkspaceScope {
  readonly include_disabled: boolean;
  /** A part of a name. */
  readonly q?: string | undefined;
  /** Absent: newest first. */
  readonly sort?: 'name' | 'spend' | 'last_used' | 'expires' | undefined;
  readonly state?: 'stopped' | 'expiring' | 'unused' | 'disabled' | undefined;
}

export function loadKeys(
  filters: KeyFilters,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<ApiKey>> {
  return loadByOffset(cursor, PAGE, (page) =>
    call(api.GET('/api/v1/keys', { params: { query: { ...filters, ...page } }, signal })),
  );
}

async function loadKey(hash: string, signal: AbortSignal): Promise<ApiKey> {
  return (await call(api.GET('/api/v1/keys/{hash}', { params: { path: { hash } }, signal }))).data;
}

export const keyQuery = (hash: string) =>
  queryOptions({ queryKey: [...KEYS, hash], queryFn: ({ signal }) => loadKey(hash, signal) });

/** For a form, which begins with the stored values and keeps what is typed. */
export const editedKeyQuery = (hash: string) =>
  queryOptions({
    // Not among the other keys, which a change of one of them loads again.
    queryKey: ['edited-key', hash],
    queryFn: ({ signal }) => loadKey(hash, signal),
    staleTime: Infinity,
    gcTime: 0,
  });

/** A bounded number of keys to choose from. */
export interface KeyChoices {
  readonly keys: readonly ApiKey[];
  /** There are further ones, which a search finds. */
  readonly hasMore: boolean;
}

/** Reads on while a page has no key to choose. */
async function loadChoices(
  filters: KeyFilters,
  isChoice: (key: ApiKey) => boolean,
  signal: AbortSignal,
): Promise<KeyChoices> {
  let cursor: string | undefined;
  for (;;) {
    const { data, next_cursor: next } = await loadKeys(filters, cursor, signal);
    const keys = data.filter(isChoice);
    if (keys.length > 0 || next === null) return { keys, hasMore: next !== null };
    cursor = next;
  }
}

/** The keys of the former search stay while the next one loads, but never those of another workspace. */
const keepWithin =
  (workspaceId: string | null) =>
  <Data>(former: Data | undefined, query?: { readonly queryKey: readonly unknown[] }): Data | undefined =>
    query?.queryKey.includes(workspaceId) ? former : undefined;

/** Inference keys with `part` in their name, disabled ones included. */
export const inferenceKeysQuery = (workspaceId: string | null, part: string) =>
  queryOptions({
    queryKey: [...KEYS, 'inference', workspaceId, part],
    queryFn: ({ signal }) =>
      loadChoices(
        { ...scopeOf(workspaceId), include_disabled: true, q: part || undefined },
        (key) => !key.is_management_key,
        signal,
      ),
    placeholderData: keepWithin(workspaceId),
  });

/** Keys that calls can be charged to now, with `part` in their name. */
export const payingKeysQuery = (workspaceId: string, part: string) =>
  queryOptions({
    queryKey: [...KEYS, 'paying', workspaceId, part],
    queryFn: ({ signal }) =>
      loadChoices(
        { workspace_id: workspaceId, include_disabled: false, q: part || undefined },
        (key) => !key.is_management_key && !isExpired(key, Date.now()),
        signal,
      ),
    placeholderData: keepWithin(workspaceId),
  });

export function isExpired({ expires_at: at }: Pick<ApiKey, 'expires_at'>, now: number): boolean {
  return at !== null && new Date(at).getTime() <= now;
}

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
