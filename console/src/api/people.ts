// The people of the account, who sign in by an identity provider.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type Person = Schemas['OrganizationMemberDto'];
export type PersonChange = Schemas['UpdateOrganizationMemberDto'];

export const PEOPLE = ['people'] as const;
const PAGE = 50;

export function loadPeople(cursor: string | undefined, signal: AbortSignal): Promise<CursorPage<Person>> {
  return loadByOffset(cursor, PAGE, (query) =>
    call(api.GET('/api/v1/organization/members', { params: { query }, signal })),
  );
}

export async function updatePerson(id: string, body: PersonChange): Promise<Person> {
  return (await call(api.PATCH('/api/v1/organization/members/{id}', { params: { path: { id } }, body })))
    .data;
}

/** Members of a workspace may be users of another system. */
export const isPersonId = (userId: string): boolean => /^usr_[0-9a-f]{32}$/.test(userId);

/** The first people of the account, to show names instead of ids. */
export const peopleNamesQuery = queryOptions({
  queryKey: [...PEOPLE, 'names'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, Person>> => {
    const query = { limit: 100 };
    const { data } = await call(api.GET('/api/v1/organization/members', { params: { query }, signal }));
    return new Map(data.map((person) => [person.id, person]));
  },
  staleTime: 60_000,
});
