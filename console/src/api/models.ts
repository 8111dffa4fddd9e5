import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Model = Schemas['ModelDto'];

/** The embedding models that have a configured provider. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }): Promise<readonly Model[]> =>
    (await call(api.GET('/api/v1/embeddings/models', { signal }))).data,
  staleTime: 60_000,
});

/** The embedded model, which costs nothing and needs no provider. */
export const LOCAL_MODEL = 'local/hashing';

/** The model of the examples: a provider's where there is one. */
export function exampleModel(models: readonly Model[] | undefined): string {
  return models?.find(({ id }) => id !== LOCAL_MODEL)?.id ?? LOCAL_MODEL;
}
