// The names of keys, for tables that name keys by their hashes.
import { queryOptions } from '@tanstack/react-query';
import { KEYS, loadKeys } from './keys';
import { scopeOf } from './workspaces';

// Keys beyond them are named by their hashes.
const MAX_PAGES = 50;

/** Null: of all workspaces of the account. */
export const keyNamesQuery = (workspaceId: string | null) =>
  queryOptions({
    queryKey: [...KEYS, 'names', workspaceId],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const names = new Map<string, string>();
      const filters = { ...scopeOf(workspaceId), include_disabled: true };
      let cursor: string | undefined;
      for (let pages = 0; pages < MAX_PAGES; pages += 1) {
        const page = await loadKeys(filters, cursor, signal);
        for (const { hash, name } of page.data) names.set(hash, name);
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      return names;
    },
    staleTime: 60_000,
  });
