import { useQuery } from '@tanstack/react-query';
import { loadGenerations } from '../../api/generations';
import type { GenerationRow } from '../../api/generations';
import { scopeOf } from '../../api/workspaces';

export const WATCH_MS = 2000;
const NEWEST = 20;

export const hasSucceeded = ({ status }: Pick<GenerationRow, 'status'>): boolean => status < 400;

/** The newest calls of the workspace, and an older one that has succeeded if none of them has. */
export function useFirstCalls(workspaceId: string | null, isWatching: boolean) {
  return useQuery({
    // The guide is that of one workspace.
    enabled: workspaceId !== null,
    queryKey: ['first-calls', workspaceId],
    queryFn: async ({ signal }) => {
      const filters = scopeOf(workspaceId);
      const { data, next_cursor: next } = await loadGenerations(filters, undefined, signal, NEWEST);
      // While the guide is watched, none has succeeded before the newest ones.
      if (isWatching || next === null || data.some(hasSucceeded)) return data;
      const older = await loadGenerations({ ...filters, status: '2xx' }, undefined, signal, 1);
      return [...data, ...older.data];
    },
    refetchInterval: isWatching ? WATCH_MS : false,
  });
}
