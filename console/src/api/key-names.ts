// The names of the keys of workspaces, for tables that name keys by their hashes.
import { queryOptions } from '@tanstack/react-query';
import { KEYS, loadKeys } from './keys';
import { scopeOf } from './workspaces';

// Keys beyond them are named by their hashes.
const MAX_PAGES = 50;

/** Null: of all workspaces of the account. */
export const keyNamesQuery = (workspaceIds: readonly string[] | null) =>
  queryOptions({
    queryKey: [...KEYS, 'names', ...(workspaceIds ?? ['all'])],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const names = new Map<string, string>();
      let pages = 0;
      for (const workspace of workspaceIds ?? [null]) {
        let cursor: string | undefined;
        do {
          const filters = { ...scopeOf(workspace), include_disabled: true };
          const page = await loadKeys(filters, cursor, signal);
          for (const { hash, name } of page.data) names.set(hash, name);
          cursor = page.next_cursor ?? undefined;
          pages += 1;
        } while (cursor !== undefined && pages < MAX_PAGES);
      }
      return names;
    },
    staleTime: 60_000,
  });
