import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { ApiError, api, call } from './client';
import type { Schemas } from './client';
import type { WorkspaceScope } from './workspaces';

export type GenerationRow = Schemas['GenerationsResponseDto']['data'][number];
export type Generation = Schemas['GenerationDto'];
export type GenerationContent = Schemas['GenerationContentDto'];

export type GenerationDelivery = Schemas['GenerationDeliveryDto'];

export interface GenerationFilters extends WorkspaceScope {
  readonly api_key_hash?: string;
  readonly model?: string;
  readonly provider?: string;
  /** `completions` has those of the other wires of chat too. */
  readonly api_type?: Exclude<GenerationRow['api_type'], 'messages' | 'responses'>;
  readonly status?: string;
  readonly error_type?: string;
  readonly session_id?: string;
  readonly user_id?: string;
  readonly from?: string;
  readonly to?: string;
}

export const GENERATIONS = ['generations'] as const;
const PAGE = 50;

export function loadGenerations(
  filters: GenerationFilters,
  cursor: string | undefined,
  signal: AbortSignal,
  limit = PAGE,
): Promise<CursorPage<GenerationRow>> {
  return call(api.GET('/api/v1/generations', { params: { query: { ...filters, cursor, limit } }, signal }));
}

export const generationQuery = (id: string) =>
  queryOptions({
    queryKey: [...GENERATIONS, id],
    queryFn: async ({ signal }): Promise<Generation> =>
      (await call(api.GET('/api/v1/generation', { params: { query: { id } }, signal }))).data,
  });

/** Null: the content is not stored. */
export const generationContentQuery = (id: string) =>
  queryOptions({
    queryKey: [...GENERATIONS, id, 'content'],
    queryFn: async ({ signal }): Promise<GenerationContent | null> => {
      try {
        return (await call(api.GET('/api/v1/generation/content', { params: { query: { id } }, signal })))
          .data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });

export const generationDeliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [...GENERATIONS, id, 'deliveries'],
    queryFn: async ({ signal }): Promise<readonly GenerationDelivery[]> => {
      const params = { path: { id } };
      return (await call(api.GET('/api/v1/generations/{id}/deliveries', { params, signal }))).data;
    },
  });

/** Calls of a session around one of them, in order of time. */
export interface SessionCalls {
  readonly calls: readonly GenerationRow[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
}

const NEIGHBOURS = 20;
const MAX_LATER = 100;

export const sessionQuery = ({
  id,
  created_at: at,
  workspace_id: workspace,
  session_id: session,
}: Generation) =>
  queryOptions({
    queryKey: [...GENERATIONS, id, 'session'],
    enabled: session !== null && workspace !== null,
    queryFn: async ({ signal }): Promise<SessionCalls> => {
      const filters = { workspace_id: workspace ?? '', session_id: session ?? '' };
      // The list ends before a time and begins with it: the millisecond of the call is in both.
      const next = new Date(Date.parse(at) + 1).toISOString();
      const [until, from] = await Promise.all([
        loadGenerations({ ...filters, to: next }, undefined, signal, NEIGHBOURS + 1),
        loadGenerations({ ...filters, from: next }, undefined, signal, MAX_LATER),
      ]);
      // Newest first. Of more later calls than one page has the nearest ones are not known.
      const isNear = from.next_cursor === null;
      const later = isNear ? from.data.slice(-NEIGHBOURS) : [];
      return {
        calls: [...later, ...until.data].toReversed(),
        hasEarlier: until.next_cursor !== null,
        hasLater: !isNear || later.length < from.data.length,
      };
    },
  });
