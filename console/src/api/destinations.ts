import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Destination = Schemas['DestinationDto'];
export type DestinationDeliveries = Schemas['DeliveriesDto'];

const PAGE = 100;

/** The destinations of a workspace: at most 5 of each of 17 kinds. */
export const destinationsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ['destinations', workspaceId],
    queryFn: async ({ signal }): Promise<readonly Destination[]> => {
      const query = { workspace_id: workspaceId, limit: PAGE };
      return (await call(api.GET('/api/v1/observability/destinations', { params: { query }, signal }))).data;
    },
  });

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['destinations', id, 'deliveries'],
    queryFn: async ({ signal }): Promise<DestinationDeliveries> => {
      const params = { path: { id } };
      return (await call(api.GET('/api/v1/observability/destinations/{id}/deliveries', { params, signal })))
        .data;
    },
  });
