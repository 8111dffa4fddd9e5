// One endpoint with the credential that it is called with.
import { endpointTag } from '../../catalogue/catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../../catalogue/catalogue-model.js';
import type { ProviderCredential } from '../../domain/embeddings/provider-credential.js';
import type { EmbeddingProvider } from '../../providers/shared/provider.js';

/** A customer's own key at a provider. */
export interface OwnCredential extends Pick<ProviderCredential, 'id' | 'isFallback' | 'declaredZdr'> {
  readonly apiKey: string;
  /** Another one after every change of the credential. */
  readonly version: number;
  /** Its provider's shared endpoints may not take over from it. */
  readonly excludesShared: boolean;
  /** Among the credentials of its workspace: lower ones are tried first. */
  readonly position: number;
}

export interface EndpointTarget {
  readonly model: CatalogueModel;
  readonly endpoint: ModelEndpoint;
  readonly provider: EmbeddingProvider;
  /** Null: the operator's own credential. */
  readonly credential: OwnCredential | null;
}

/** `tag/upstream-model`, as the log names an endpoint; the tag of most is the provider's slug. */
export function endpointName({ endpoint }: EndpointTarget): string {
  return `${endpointTag(endpoint)}/${endpoint.upstreamModel}`;
}
