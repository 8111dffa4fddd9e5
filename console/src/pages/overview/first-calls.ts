import { useQuery } from '@tanstack/react-query';
import { loadGenerations } from '../../api/generations';

const WATCH_MS = 2000;

/** The newest calls of the workspace, while the guide is shown. */
export function useFirstCalls(workspaceId: string, isWatching: boolean) {
  return useQuery({
    queryKey: ['first-calls', workspaceId],
    queryFn: async ({ signal }) =>
      (await loadGenerations({ workspace_id: workspaceId }, undefined, signal, 20)).data,
    refetchInterval: isWatching ? WATCH_MS : false,
  });
}
