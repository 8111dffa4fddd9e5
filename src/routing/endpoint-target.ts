// One endpoint with the credential that it is called with.
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { EmbeddingProvider } from '../embedding-providers/embedding-provider.js';

/** A customer's own key at a provider. */
export interface OwnCredential {
  readonly id: string;
  readonly apiKey: string;
  /** Used only after the shared endpoints have failed. */
  readonly isFallback: boolean;
}

export interface EndpointTarget {
  readonly model: CatalogueModel;
  readonly endpoint: ModelEndpoint;
  readonly provider: EmbeddingProvider;
  /** Null: the operator's own credential. */
  readonly credential: OwnCredential | null;
}

/** `provider/upstream-model`, as the log names an endpoint. */
export function endpointName({ provider, endpoint }: EndpointTarget): string {
  return `${provider.slug}/${endpoint.upstreamModel}`;
}
