// Workspaces, their budgets' and members' changes included.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type Workspace = Schemas['WorkspaceDto'];
export type Member = Schemas['WorkspaceMemberDto'];
export type BudgetInterval = 'daily' | 'weekly' | 'monthly' | 'lifetime';

export interface WorkspaceChange {
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly is_observability_broadcast_enabled: boolean;
}

export const WORKSPACES = ['workspaces'] as const;
const PAGE = 100;
const MEMBERS_PAGE = 50;

/** All workspaces of the account. */
/** Members of a list's query. Null: all workspaces of the account. */
export interface WorkspaceScope {
  readonly workspace_id?: string;
  readonly all_workspaces?: true;
}

export const scopeOf = (workspaceId: string | null): WorkspaceScope =>
  workspaceId === null ? { all_workspaces: true } : { workspace_id: workspaceId };

export const workspacesQuery = queryOptions({
  queryKey: WORKSPACES,
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

const at = (id: string) => ({ path: { id } });

export const workspaceQuery = (id: string) =>
  queryOptions({
    queryKey: [...WORKSPACES, id],
    queryFn: async ({ signal }): Promise<Workspace> =>
      (await call(api.GET('/api/v1/workspaces/{id}', { params: at(id), signal }))).data,
  });

export async function createWorkspace(body: WorkspaceChange): Promise<Workspace> {
  return (await call(api.POST('/api/v1/workspaces', { body }))).data;
}

export async function updateWorkspace(id: string, body: Partial<WorkspaceChange>): Promise<Workspace> {
  return (await call(api.PATCH('/api/v1/workspaces/{id}', { params: at(id), body }))).data;
}

export async function deleteWorkspace(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/workspaces/{id}', { params: at(id) }));
}

export function loadMembers(
  id: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<Member>> {
  return loadByOffset(cursor, MEMBERS_PAGE, (query) =>
    call(api.GET('/api/v1/workspaces/{id}/members', { params: { ...at(id), query }, signal })),
  );
}

export async function addMembers(id: string, body: Schemas['AddMembersDto']): Promise<void> {
  await call(api.POST('/api/v1/workspaces/{id}/members/add', { params: at(id), body }));
}

export async function removeMembers(id: string, body: Schemas['RemoveMembersDto']): Promise<void> {
  await call(api.POST('/api/v1/workspaces/{id}/members/remove', { params: at(id), body }));
}

const budgetAt = (id: string, interval: BudgetInterval) => ({ path: { workspace_ref: id, interval } });

export async function setBudget(
  id: string,
  interval: BudgetInterval,
  body: Schemas['PutWorkspaceBudgetDto'],
): Promise<void> {
  await call(
    api.PUT('/api/v1/workspaces/{workspace_ref}/budgets/{interval}', {
      params: budgetAt(id, interval),
      body,
    }),
  );
}

export async function deleteBudget(id: string, interval: BudgetInterval): Promise<void> {
  await call(
    api.DELETE('/api/v1/workspaces/{workspace_ref}/budgets/{interval}', { params: budgetAt(id, interval) }),
  );
}
