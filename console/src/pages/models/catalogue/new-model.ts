// The beginning of a model that is added: a copy of another, with what the list of a provider says of its own.
import type { CatalogueModel, EndpointDocument, ModelDocument } from '../../../api/catalogue';
import type { ProviderModels } from '../../../api/providers';
import { endpointViews } from './documents';
import type { EndpointView } from './documents';
import type { EndpointDraft } from './model-fields';

/** Members that belong to one model alone. */
const OWN = new Set([
  'id',
  'name',
  'canonical_slug',
  'aliases',
  'disabled',
  'expires_on',
  'successor',
  'endpoints',
]);

export interface DiscoveredModel {
  /** The slug. */
  readonly provider: string;
  readonly name: string;
  /** Undefined: the newest list does not have it. */
  readonly facts: ProviderModels['models'][number] | undefined;
}

export interface Beginning {
  readonly model: ModelDocument;
  readonly drafts: readonly EndpointDraft[];
}

/** A discovered model has one endpoint, and no price: the price of another model would be a guess. */
export function beginningOf(source: CatalogueModel, discovered: DiscoveredModel | null): Beginning {
  const copied = Object.fromEntries(Object.entries(source.model).filter(([name]) => !OWN.has(name)));
  const endpoints = endpointViews(source).map(withTag);
  if (discovered === null)
    return {
      model: copied,
      drafts: endpoints.map((begun, key) => ({ key, tag: null, begun, prices: begun.prices ?? [] })),
    };
  const { provider, name, facts } = discovered;
  const like = endpoints.find((endpoint) => endpoint.provider === provider) ?? endpoints[0];
  const { prices: _prices, tag: _tag, ...members }: EndpointDocument = like ?? { provider };
  const begun = {
    ...members,
    provider,
    upstream_model: name,
    ...(facts?.max_output_tokens && { max_output_tokens: facts.max_output_tokens }),
  };
  return {
    model: {
      ...copied,
      name: facts?.display_name ?? name,
      ...(facts?.context_length && { context_length: facts.context_length }),
      ...(facts?.released_on && { created_at: facts.released_on }),
    },
    drafts: [{ key: 0, tag: null, begun, prices: [] }],
  };
}

function withTag({ tag, endpoint }: EndpointView): EndpointDocument {
  return tag === endpoint.provider ? endpoint : { ...endpoint, tag };
}
