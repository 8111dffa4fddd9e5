// One endpoint with the credential that it is called with.
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { ProviderCredential } from '../domain/provider-credential.js';
import type { EmbeddingProvider } from '../embedding-providers/embedding-provider.js';

/** A customer's own key at a provider. */
export interface OwnCredential extends Pick<
  ProviderCredential,
  'id' | 'apiKey' | 'isFallback' | 'declaredZdr'
> {
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

/** `provider/upstream-model`, as the log names an endpoint. */
export function endpointName({ provider, endpoint }: EndpointTarget): string {
  return `${provider.slug}/${endpoint.upstreamModel}`;
}
