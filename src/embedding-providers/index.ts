// The list of embedding providers. Adding one is one file and one line here.
import type { EmbeddingProvider } from './embedding-provider.js';
import { local } from './local.js';
import { openai } from './openai.js';

export const EMBEDDING_PROVIDERS: readonly EmbeddingProvider[] = [local, openai];

const providersBySlug = new Map(EMBEDDING_PROVIDERS.map((provider) => [provider.slug, provider]));

export function findEmbeddingProvider(slug: string): EmbeddingProvider | undefined {
  return providersBySlug.get(slug);
}
