// Providers, the endpoints of models with their health, and the test of a provider.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Provider = Schemas['ProviderDto'];
export type ModelEndpoint = Schemas['ModelEndpointDto'];
export type ModelEndpoints = Schemas['ModelEndpointsDto'];

export type ProviderTest = Schemas['ProviderTestDto'];
/** An endpoint in the list of all, which knows the date of its price and its last failure. */
export type EndpointFacts = Schemas['EndpointDto'];

const REFRESH_MS = 10_000;

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }): Promise<readonly Provider[]> =>
    (await call(api.GET('/api/v1/providers', { signal }))).data,
  staleTime: 60_000,
});

export const modelEndpointsQuery = (author: string, slug: string) =>
  queryOptions({
    queryKey: ['models', author, slug, 'endpoints'],
    queryFn: async ({ signal }): Promise<ModelEndpoints> => {
      const params = { path: { author, slug } };
      return (await call(api.GET('/api/v1/models/{author}/{slug}/endpoints', { params, signal }))).data;
    },
    refetchInterval: REFRESH_MS,
  });

/** By tag. */
export const endpointFactsQuery = (model: string) =>
  queryOptions({
    queryKey: ['endpoints', model],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, EndpointFacts>> => {
      const query = { model, configured: false };
      const { data } = await call(api.GET('/api/v1/endpoints', { params: { query }, signal }));
      return new Map(data.map((facts) => [facts.tag, facts]));
    },
    refetchInterval: REFRESH_MS,
  });

export type ProviderModels = Schemas['ProviderModelsDto'];

/** The names of a provider's own list. */
export const providerModelsQuery = (slug: string) =>
  queryOptions({
    queryKey: ['providers', slug, 'models'],
    queryFn: async ({ signal }): Promise<ProviderModels> =>
      (await call(api.GET('/api/v1/providers/{slug}/models', { params: { path: { slug } }, signal }))).data,
  });

/** Asks the provider for its list now. */
export async function askForModels(slug: string): Promise<ProviderModels> {
  return (await call(api.POST('/api/v1/providers/{slug}/models', { params: { path: { slug } } }))).data;
}

export async function testProvider(
  slug: string,
  body: { readonly byok_id?: string; readonly model?: string },
): Promise<ProviderTest> {
  const params = { path: { slug } };
  return (await call(api.POST('/api/v1/providers/{slug}/test', { params, body }))).data;
}
