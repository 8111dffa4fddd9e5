import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Budget = Schemas['WorkspaceBudgetDto'];
export type Budgets = Schemas['WorkspaceBudgetListDto'];

export const budgetsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ['budgets', workspaceId],
    queryFn: ({ signal }): Promise<Budgets> =>
      call(
        api.GET('/api/v1/workspaces/{workspace_ref}/budgets', {
          params: { path: { workspace_ref: workspaceId } },
          signal,
        }),
      ),
    // Budgets show what is spent of them.
    refetchInterval: 15_000,
  });
