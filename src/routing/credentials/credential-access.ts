// The credentials with which a call may use an endpoint: own provider keys of the workspace, and the operator's.
import { Injectable } from '@nestjs/common';
import { idsOf } from '../../catalogue/catalogue-model.js';
import type { NamedModel } from '../../catalogue/catalogue-model.js';
import { excludesShared, mayServe } from '../../domain/providers/provider-credential.js';
import type { CallingKey, ProviderCredential } from '../../domain/providers/provider-credential.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { NotifiedCache } from '../../persistence/database/notified-cache.js';
import { ProviderCredentialsRepository } from '../../persistence/keys/provider-credentials.repository.js';
import { findProvider } from '../../providers/index.js';
import type { Provider } from '../../providers/shared/provider.js';
import type { OwnCredential, ServingTarget } from '../endpoint-target.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { Candidate } from '../endpoints/endpoint-order.js';

interface ApplicableCredential {
  readonly provider: string;
  /** The provider's shared endpoints are not used. */
  readonly excludesShared: boolean;
  /** Null: unusable. */
  readonly own: OwnCredential | null;
}

/** The provider credentials of workspaces. A change or revocation evicts them on every replica at once. */
@Injectable()
export class OwnCredentialsCache extends NotifiedCache<readonly ProviderCredential[]> {
  constructor(repository: ProviderCredentialsRepository, notifications: Notifications) {
    super(notifications, { channel: 'provider_credential_changed', max: 20_000 }, (workspaceId) =>
      repository.listForWorkspace(workspaceId),
    );
  }
}

@Injectable()
export class CredentialAccess {
  constructor(
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly ownCredentials: OwnCredentialsCache,
  ) {}

  /** The own keys of a workspace. */
  credentialsOf(workspaceId: string): Promise<readonly ProviderCredential[] | null> {
    return this.ownCredentials.find(workspaceId);
  }

  /** Each endpoint with every credential that the call may use for it. */
  candidates<Model extends NamedModel, Endpoint extends ServingTarget['endpoint']>(
    model: Model,
    endpoints: readonly Endpoint[],
    key: CallingKey,
    own: readonly ProviderCredential[] | null,
    priceOf: (endpoint: Endpoint) => bigint | null,
  ): Candidate<ServingTarget & { readonly model: Model; readonly endpoint: Endpoint }>[] {
    const credentials = applicable(own, key, model);
    return endpoints.flatMap((endpoint) => {
      const provider = findProvider(endpoint.provider);
      if (!provider) return [];
      const price = priceOf(endpoint);
      return this.accessTo(provider, credentials).map((credential) => {
        const target = { model, endpoint, provider, credential };
        return { target, health: this.health.of(target), price };
      });
    });
  }

  /**
   * Those of the models for which calls of this key have at least one endpoint that is permitted. One look-up for all of them.
   */
  async reachedBy<
    Endpoint extends ServingTarget['endpoint'],
    Listed extends Omit<NamedModel, 'endpoints'> & { readonly endpoints: readonly Endpoint[] },
  >(
    key: CallingKey,
    models: readonly Listed[],
    permits: (model: Listed, endpoint: Endpoint, credential: OwnCredential | null) => boolean,
  ): Promise<Listed[]> {
    const own = await this.ownCredentials.find(key.workspaceId);
    return models.filter((model) => {
      const credentials = applicable(own, key, model);
      return model.endpoints.some((endpoint) =>
        this.accessAt(endpoint, credentials).some((credential) => permits(model, endpoint, credential)),
      );
    });
  }

  /** Whether the operator has configured at least one provider of the model. */
  isConfigured({ endpoints }: { readonly endpoints: readonly ServingTarget['endpoint'][] }): boolean {
    return endpoints.some((endpoint) => this.accessAt(endpoint, []).length > 0);
  }

  private accessAt(
    endpoint: ServingTarget['endpoint'],
    credentials: readonly ApplicableCredential[],
  ): (OwnCredential | null)[] {
    const provider = findProvider(endpoint.provider);
    return provider ? this.accessTo(provider, credentials) : [];
  }

  /** Own credentials, and the operator's (null). */
  private accessTo(
    provider: Provider,
    credentials: readonly ApplicableCredential[],
  ): (OwnCredential | null)[] {
    const ofProvider = credentials.filter((credential) => credential.provider === provider.slug);
    const isShared =
      this.caller.isConfigured(provider) && !ofProvider.some((credential) => credential.excludesShared);
    const own = this.caller.hasAddress(provider)
      ? ofProvider.flatMap((credential) => credential.own ?? [])
      : [];
    return isShared ? [...own, null] : own;
  }
}

/** The own credentials that calls of the key may use, in the order of use. */
function applicable(
  all: readonly ProviderCredential[] | null,
  key: CallingKey,
  model: Omit<NamedModel, 'endpoints'>,
): ApplicableCredential[] {
  const ids = idsOf(model);
  return (all ?? [])
    .filter((credential) => mayServe(credential, ids, key))
    .map((credential, position) => ({
      provider: credential.provider,
      excludesShared: excludesShared(credential),
      own: toOwnCredential(credential, position),
    }));
}

export function toOwnCredential(credential: ProviderCredential, position: number): OwnCredential | null {
  const { id, apiKey, isFallback, declaredZdr, createdAt, updatedAt } = credential;
  if (apiKey === null) return null;
  const version = (updatedAt ?? createdAt).getTime();
  return {
    id,
    apiKey,
    version,
    isFallback,
    declaredZdr,
    position,
    excludesShared: excludesShared(credential),
  };
}
