import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Model = Schemas['ModelDto'];
/** By the modality of its answers. */
export type ModelKind = 'embeddings' | 'text' | 'rerank';

// A catalogue has thousands of models; further ones are found by a part of their name.
const CHOICES = 50;

/** Models of a kind with a configured provider, for a list to choose from: the first that have `part` in their id or name. */
export const modelChoicesQuery = (kind: ModelKind | undefined, part = '') =>
  queryOptions({
    queryKey: ['models', 'choices', kind, part],
    queryFn: async ({ signal }): Promise<readonly Model[]> => {
      const query = {
        limit: CHOICES,
        ...(kind === undefined ? {} : { output_modalities: kind }),
        ...(part === '' ? {} : { q: part }),
      };
      return (await call(api.GET('/api/v1/models', { params: { query }, signal }))).data;
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** For examples of calls. */
export const modelsQuery = modelChoicesQuery('embeddings');

/** The embedded models, which cost nothing and need no provider. */
export const LOCAL_MODELS = { embeddings: 'local/hashing', text: 'local/echo' } as const;
/** For operations without an embedded model. */
const EXAMPLES: Readonly<Record<ModelKind, string>> = { ...LOCAL_MODELS, rerank: 'cohere/rerank-v3.5' };

export const isEmbedded = ({ id }: Model): boolean => Object.values<string>(LOCAL_MODELS).includes(id);

/** The model of the examples: a provider's where there is one. */
export function exampleModel(models: readonly Model[] | undefined, kind: ModelKind = 'embeddings'): string {
  return models?.find((model) => !isEmbedded(model))?.id ?? EXAMPLES[kind];
}
