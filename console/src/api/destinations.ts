// Destinations, their deliveries, dead letters and replays.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';

export type Destination = Omit<Schemas['DestinationDto'], 'config'> & {
  readonly config: Readonly<Record<string, unknown>>;
};
export type DestinationDeliveries = Schemas['DeliveriesDto'];
export type DeadLetter = Schemas['DeadLetterDto'];
export type ConnectionTest = Schemas['ConnectionTestDto'];
export type FilterRules = Schemas['FilterRulesDto'];
export type PreviewedSelection = Required<
  Pick<Schemas['PreviewSelectionDto'], 'api_key_hashes' | 'filter_rules'>
> &
  Pick<Schemas['PreviewSelectionDto'], 'destination_id' | 'workspace_id'>;
export type SelectionPreview = Schemas['SelectionPreviewDto'];
export type Replay = Schemas['CreateReplayDto'];

/** The members of a destination that the form shows. */
export interface DestinationSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly privacy_mode: boolean;
  readonly broadcast_generation_cost: boolean;
  readonly broadcast_generation_identity: boolean;
  readonly broadcast_generation_request_context: boolean;
  readonly sampling_rate: number;
  readonly api_key_hashes: string[] | null;
  readonly filter_rules: FilterRules | null;
}

export const DESTINATIONS = ['destinations'] as const;
// A workspace has at most five of each kind.
const ALL = 100;
const DEAD_LETTERS_PAGE = 50;
const WATCH_MS = 4000;

export const destinationsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [...DESTINATIONS, 'list', workspaceId],
    queryFn: async ({ signal }): Promise<readonly Destination[]> => {
      const query = { workspace_id: workspaceId, limit: ALL };
      return (await call(api.GET('/api/v1/observability/destinations', { params: { query }, signal }))).data;
    },
  });

/** The states of all destinations of a workspace, by id. */
export const deliveriesOfWorkspaceQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [...DESTINATIONS, 'deliveries', workspaceId],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, DestinationDeliveries>> => {
      const query = { workspace_id: workspaceId, limit: ALL };
      const { data } = await call(api.GET('/api/v1/observability/deliveries', { params: { query }, signal }));
      return new Map(data.map((deliveries) => [deliveries.destination_id, deliveries]));
    },
    refetchInterval: WATCH_MS,
  });

const at = (id: string) => ({ path: { id } });

async function loadDestination(id: string, signal: AbortSignal): Promise<Destination> {
  return (await call(api.GET('/api/v1/observability/destinations/{id}', { params: at(id), signal }))).data;
}

export const destinationQuery = (id: string) =>
  queryOptions({ queryKey: [...DESTINATIONS, id], queryFn: ({ signal }) => loadDestination(id, signal) });

/** For a form, which begins with the stored values and keeps what is typed. */
export const editedDestinationQuery = (id: string) =>
  queryOptions({
    queryKey: [...DESTINATIONS, id, 'form'],
    queryFn: ({ signal }) => loadDestination(id, signal),
    staleTime: Infinity,
    gcTime: 0,
  });

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [...DESTINATIONS, id, 'deliveries'],
    queryFn: async ({ signal }): Promise<DestinationDeliveries> =>
      (await call(api.GET('/api/v1/observability/destinations/{id}/deliveries', { params: at(id), signal })))
        .data,
    refetchInterval: WATCH_MS,
  });

export const signingSecretQuery = (id: string) =>
  queryOptions({
    queryKey: [...DESTINATIONS, id, 'signing-secret'],
    queryFn: async ({ signal }): Promise<string> =>
      (
        await call(
          api.GET('/api/v1/observability/destinations/{id}/signing-secret', { params: at(id), signal }),
        )
      ).data.secret,
    gcTime: 0,
  });

export function loadDeadLetters(
  id: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<DeadLetter>> {
  const query = { limit: DEAD_LETTERS_PAGE, ...(cursor === undefined ? {} : { cursor }) };
  return call(
    api.GET('/api/v1/observability/destinations/{id}/dead-letters', {
      params: { ...at(id), query },
      signal,
    }),
  );
}

type NewDestination = Schemas['CreateDestinationDto'];

export async function createDestination(
  type: string,
  workspaceId: string,
  settings: DestinationSettings,
): Promise<Destination> {
  const body = { ...settings, type, workspace_id: workspaceId } as NewDestination;
  return (await call(api.POST('/api/v1/observability/destinations', { body }))).data;
}

export async function updateDestination(
  id: string,
  body: Partial<DestinationSettings>,
): Promise<Destination> {
  return (
    await call(
      api.PATCH('/api/v1/observability/destinations/{id}', {
        params: at(id),
        body: body,
      }),
    )
  ).data;
}

export async function deleteDestination(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/observability/destinations/{id}', { params: at(id) }));
}

export async function testDestination(id: string): Promise<ConnectionTest> {
  return (await call(api.POST('/api/v1/observability/destinations/{id}/test', { params: at(id) }))).data;
}

/** Settings that are not saved yet. `id` is that of the stored destination, whose secrets masks stand for. */
export async function testSettings(
  type: string,
  config: Readonly<Record<string, unknown>>,
  id?: string,
): Promise<ConnectionTest> {
  const body = {
    type,
    config,
    ...(id === undefined ? {} : { destination_id: id }),
  } as Schemas['TestDestinationDto'];
  return (await call(api.POST('/api/v1/observability/destinations/test', { body }))).data;
}

export const selectionPreviewQuery = (body: PreviewedSelection) =>
  queryOptions({
    queryKey: [...DESTINATIONS, 'preview', body],
    queryFn: async ({ signal }): Promise<SelectionPreview> =>
      (await call(api.POST('/api/v1/observability/destinations/preview', { body, signal }))).data,
    gcTime: 0,
  });

/** The number of dead letters; null for a replay from a time. */
export async function replayDeliveries(id: string, body: Replay): Promise<number | null> {
  return (await call(api.POST('/api/v1/observability/destinations/{id}/replay', { params: at(id), body })))
    .data.dead_letters;
}
