// The list of providers. A new provider is one file and one line here.
import { anthropic } from './anthropic.js';
import { azure } from './azure.js';
import { bedrock } from './bedrock.js';
import { cohere } from './cohere.js';
import { deepinfra } from './deepinfra.js';
import { embeds } from './shared/provider.js';
import type { EmbeddingProvider, Provider } from './shared/provider.js';
import { google } from './google.js';
import { jina } from './jina.js';
import { local } from './local.js';
import { mistral } from './mistral.js';
import { nomic } from './nomic.js';
import { ollama } from './ollama.js';
import { openaiCompatible } from './openai-compatible.js';
import { openai } from './openai.js';
import { tei } from './tei.js';
import { together } from './together.js';
import { vertex } from './vertex.js';
import { vllm } from './vllm.js';
import { voyage } from './voyage.js';

export const PROVIDERS: readonly Provider[] = [
  local,
  openai,
  anthropic,
  azure,
  cohere,
  voyage,
  mistral,
  google,
  vertex,
  jina,
  together,
  deepinfra,
  nomic,
  bedrock,
  ollama,
  tei,
  vllm,
  openaiCompatible,
];

export const EMBEDDING_PROVIDERS: readonly EmbeddingProvider[] = PROVIDERS.filter(embeds);

const providersBySlug = new Map(PROVIDERS.map((provider) => [provider.slug, provider]));

const slugsByName = new Map(
  PROVIDERS.flatMap(({ slug, name, aliases = [] }) =>
    [slug, name, ...aliases].map((known) => [foldedName(known), slug] as const),
  ),
);

/** The slug of the provider with this slug, alias or name. Undefined: no provider has it. */
export function providerSlugOf(name: string): string | undefined {
  return slugsByName.get(foldedName(name));
}

/** A slug or an endpoint tag with the provider's own slug: `amazon-bedrock/eu` becomes `bedrock/eu`. */
export function canonicalEndpointTag(tag: string): string | undefined {
  const [name = '', ...variant] = tag.split('/');
  const slug = providerSlugOf(name);
  return slug === undefined ? undefined : [slug, ...variant].join('/');
}

/** Display names occur with spaces and capitals: `Google AI Studio` is `google-ai-studio`. */
function foldedName(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s+/g, '-');
}

export function findProvider(slug: string): Provider | undefined {
  return providersBySlug.get(slug);
}

/** The display name of a provider, or its slug when this version does not know it. */
export function providerName(slug: string): string {
  return findProvider(slug)?.name ?? slug;
}
