import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Workspace = Schemas['WorkspaceDto'];

const PAGE = 100;

/** All workspaces of the account. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: async ({ signal }): Promise<readonly Workspace[]> => {
    const workspaces: Workspace[] = [];
    for (;;) {
      const query = { offset: workspaces.length, limit: PAGE };
      const page = await call(api.GET('/api/v1/workspaces', { params: { query }, signal }));
      workspaces.push(...page.data);
      if (page.data.length < PAGE || workspaces.length >= page.total_count) return workspaces;
    }
  },
});
