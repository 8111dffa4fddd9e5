// Guardrails: rules, assignments, and the trial of filters.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type Guardrail = Schemas['GuardrailDto'];
export type GuardrailUsage = Schemas['GuardrailUsageDto'];
export type GuardrailChange = Schemas['UpdateGuardrailDto'];
export type ContentFilter = Schemas['ContentFilterDto'];
export type BuiltinFilter = Schemas['BuiltinFilterDto'];
export type FilterAction = ContentFilter['action'];
export type FilterTrial = Schemas['FilterTrialDto'];
export type KeyAssignment = Schemas['KeyAssignmentDto'];
export type MemberAssignment = Schemas['MemberAssignmentDto'];

export const GUARDRAILS = ['guardrails'] as const;
// A workspace has at most 100 and its default one.
const PAGE = 100;
const ASSIGNED_PAGE = 50;

const at = (id: string) => ({ path: { id } });

/** Those of a workspace, the default one first. */
export const guardrailsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [...GUARDRAILS, 'list', workspaceId],
    queryFn: async ({ signal }): Promise<readonly Guardrail[]> => {
      const guardrails: Guardrail[] = [];
      for (;;) {
        const query = { workspace_id: workspaceId, offset: guardrails.length, limit: PAGE };
        const page = await call(api.GET('/api/v1/guardrails', { params: { query }, signal }));
        guardrails.push(...page.data);
        if (page.data.length < PAGE || guardrails.length >= page.total_count) return guardrails;
      }
    },
  });

export const guardrailQuery = (id: string) =>
  queryOptions({
    queryKey: [...GUARDRAILS, id],
    queryFn: async ({ signal }): Promise<Guardrail> =>
      (await call(api.GET('/api/v1/guardrails/{id}', { params: at(id), signal }))).data,
  });

/** Of the guardrails of a workspace, by their ids. */
export const guardrailUsageQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [...GUARDRAILS, 'usage', workspaceId],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, GuardrailUsage>> => {
      const query = { workspace_id: workspaceId };
      const { data } = await call(api.GET('/api/v1/guardrails/usage', { params: { query }, signal }));
      return new Map(data.map((usage) => [usage.guardrail_id, usage]));
    },
  });

export function loadAssignedKeys(
  id: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<KeyAssignment>> {
  return loadByOffset(cursor, ASSIGNED_PAGE, (query) =>
    call(api.GET('/api/v1/guardrails/{id}/assignments/keys', { params: { ...at(id), query }, signal })),
  );
}

export function loadAssignedMembers(
  id: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<MemberAssignment>> {
  return loadByOffset(cursor, ASSIGNED_PAGE, (query) =>
    call(api.GET('/api/v1/guardrails/{id}/assignments/members', { params: { ...at(id), query }, signal })),
  );
}

export async function createGuardrail(workspaceId: string, body: GuardrailChange): Promise<Guardrail> {
  const { name = '', ...settings } = body;
  return (
    await call(api.POST('/api/v1/guardrails', { body: { ...settings, name, workspace_id: workspaceId } }))
  ).data;
}

/** The default guardrail of a workspace is created by its first change. */
export async function updateGuardrail(id: string, body: GuardrailChange): Promise<Guardrail> {
  return (await call(api.PATCH('/api/v1/guardrails/{id}', { params: at(id), body }))).data;
}

export async function deleteGuardrail(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/guardrails/{id}', { params: at(id) }));
}

export async function assignKeys(id: string, hashes: readonly string[]): Promise<void> {
  const body = { key_hashes: [...hashes] };
  await call(api.POST('/api/v1/guardrails/{id}/assignments/keys', { params: at(id), body }));
}

export async function unassignKey(id: string, hash: string): Promise<void> {
  const body = { key_hashes: [hash] };
  await call(api.POST('/api/v1/guardrails/{id}/assignments/keys/remove', { params: at(id), body }));
}

export async function assignMembers(id: string, userIds: readonly string[]): Promise<void> {
  const body = { member_user_ids: [...userIds] };
  await call(api.POST('/api/v1/guardrails/{id}/assignments/members', { params: at(id), body }));
}

export async function unassignMember(id: string, userId: string): Promise<void> {
  const body = { member_user_ids: [userId] };
  await call(api.POST('/api/v1/guardrails/{id}/assignments/members/remove', { params: at(id), body }));
}

export async function tryFilters(body: Schemas['TryFiltersDto']): Promise<FilterTrial> {
  return (await call(api.POST('/api/v1/guardrails/test', { body }))).data;
}
