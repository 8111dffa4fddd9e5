// The models that providers list, and which of them the catalogue has (docs/contract.md#discovery).
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { Catalogue, ChatCatalogue, RerankCatalogue } from '../catalogue/catalogue.js';
import { AppError } from '../domain/errors.js';
import type { Manager } from '../domain/people/manager.js';
import type { SeenModel } from '../domain/providers/provider-model.js';
import { findProvider, providerSlugOf } from '../providers/index.js';
import { modelListOf } from '../providers/shared/provider.js';
import type { Provider } from '../providers/shared/provider.js';
import { EndpointCaller } from '../routing/endpoints/endpoint-caller.js';
import { remedyFor } from '../routing/unreachable-models.js';
import { ModelDiscovery } from '../upkeep/model-discovery.js';
import type { DiscoveredModels } from '../upkeep/model-discovery.js';
import { CatalogueChanges } from './catalogue-changes.js';

/** A name with the ids of the models that have an endpoint of it. */
export type MatchedModel = SeenModel & { readonly ids: readonly string[] };

export interface ProviderModels extends Omit<DiscoveredModels, 'models'> {
  readonly provider: Provider;
  /** Whether the operator's credential can list them. */
  readonly canAsk: boolean;
  readonly models: readonly MatchedModel[];
}

@Injectable()
export class ProviderModelsService {
  constructor(
    private readonly changes: CatalogueChanges,
    private readonly discovery: ModelDiscovery,
    private readonly caller: EndpointCaller,
    private readonly rateLimiter: RateLimiter,
    private readonly catalogue: Catalogue,
    private readonly chatCatalogue: ChatCatalogue,
    private readonly rerankCatalogue: RerankCatalogue,
  ) {}

  async list(name: string): Promise<ProviderModels> {
    const provider = find(name);
    return this.matched(provider, await this.discovery.known(provider));
  }

  /** Asks the provider now. */
  async ask(manager: Manager, name: string): Promise<ProviderModels> {
    this.changes.requireOperator(manager);
    const provider = find(name);
    if (!modelListOf(provider))
      throw new AppError('conflict', { detail: `${provider.slug} has no list of models for a credential` });
    if (!this.discovery.canAsk(provider))
      throw new AppError('conflict', {
        detail: `${provider.slug} is not configured; set ${remedyFor(provider, this.caller)}`,
      });
    await this.rateLimiter.consumeProviderTest(manager.accountId);
    return this.matched(provider, await this.discovery.ask(provider));
  }

  private matched(provider: Provider, { models, ...state }: DiscoveredModels): ProviderModels {
    const ids = new Map<string, string[]>();
    for (const catalogue of [this.catalogue, this.chatCatalogue, this.rerankCatalogue])
      for (const { id, endpoints } of catalogue.listAll())
        for (const endpoint of endpoints)
          if (endpoint.provider === provider.slug)
            ids.set(endpoint.upstreamModel, [...(ids.get(endpoint.upstreamModel) ?? []), id]);
    return {
      ...state,
      provider,
      canAsk: this.discovery.canAsk(provider),
      models: models.map((model) => ({ ...model, ids: [...new Set(ids.get(model.name))] })),
    };
  }
}

function find(name: string): Provider {
  const provider = findProvider(providerSlugOf(name) ?? '');
  if (!provider) throw new AppError('not_found', { detail: 'no provider has this slug' });
  return provider;
}
