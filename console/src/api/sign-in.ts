// Sign-in of people: the buttons of the sign-in page, and what admins see of the configuration.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call, sendConsole } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type SignInProvider = Schemas['SignInProviderDto'];
export type GroupMapping = Schemas['GroupMappingDto'];
export type NewGroupMapping = Schemas['CreateGroupMappingDto'];

interface ProviderButton {
  readonly id: string;
  readonly name: string;
}

export const providerButtonsQuery = queryOptions({
  queryKey: ['sign-in', 'buttons'],
  queryFn: async (): Promise<readonly ProviderButton[]> =>
    (await sendConsole<{ data: ProviderButton[] }>('GET', '/console/sign-in')).data,
  // The form for a key must not wait.
  retry: false,
  staleTime: Infinity,
});

export const signInProvidersQuery = queryOptions({
  queryKey: ['sign-in', 'providers'],
  queryFn: async ({ signal }): Promise<readonly SignInProvider[]> =>
    (await call(api.GET('/api/v1/sign-in/providers', { signal }))).data,
});

export const GROUP_MAPPINGS = ['group-mappings'] as const;
const PAGE = 50;

export function loadGroupMappings(
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<GroupMapping>> {
  return loadByOffset(cursor, PAGE, (query) =>
    call(api.GET('/api/v1/group-mappings', { params: { query }, signal })),
  );
}

export async function createGroupMapping(body: NewGroupMapping): Promise<GroupMapping> {
  return (await call(api.POST('/api/v1/group-mappings', { body }))).data;
}

export async function deleteGroupMapping(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/group-mappings/{id}', { params: { path: { id } } }));
}
