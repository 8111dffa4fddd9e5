// Tests a provider by one small call. It is charged to no key and recorded as no generation: its cost is the operator's, or the
// owner's of the named key. It counts neither toward the health of an endpoint nor toward a circuit.
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { priceOn } from '../catalogue/catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { Cancellation } from '../concurrency/cancellation.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { reachesWorkspace } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { requireRight } from '../domain/people/rights.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { utcDay } from '../domain/spend/spend.js';
import { ProviderCredentialsRepository } from '../persistence/keys/provider-credentials.repository.js';
import { findProvider, providerSlugOf } from '../providers/index.js';
import { embeds } from '../providers/shared/provider.js';
import type { Provider, ReportedUsage } from '../providers/shared/provider.js';
import { EndpointCaller } from '../routing/endpoints/endpoint-caller.js';
import type { EndpointTarget, OwnCredential } from '../routing/endpoint-target.js';
import { EndpointFailure } from '../routing/failures/endpoint-failure.js';
import { toOwnCredential } from '../routing/credentials/credential-access.js';
import { remedyFor } from '../routing/unreachable-models.js';

const INPUT = 'test';

/** Undefined members: the operator's credential, the cheapest model. */
interface TestedProvider {
  readonly byok_id?: string | undefined;
  readonly model?: string | undefined;
}

export interface ProviderTest {
  readonly provider: Provider;
  readonly target: Pick<EndpointTarget, 'model' | 'endpoint'> | null;
  readonly credentialId: string | null;
  /** Null: the provider has answered with a vector. */
  readonly problem: string | null;
  /** The HTTP status of the provider; null: it sent none. */
  readonly status: number | null;
  readonly tokens: number | null;
  /** USD that the provider charges; null: unknown. */
  readonly cost: PicoUsd | null;
  readonly dimensions: number | null;
  readonly durationMs: number;
}

type Outcome = Pick<ProviderTest, 'problem' | 'status' | 'tokens' | 'dimensions'>;

@Injectable()
export class ProviderTestService {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly caller: EndpointCaller,
    private readonly credentials: ProviderCredentialsRepository,
    private readonly rateLimiter: RateLimiter,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  async test(manager: Manager, name: string, wanted: TestedProvider): Promise<ProviderTest> {
    const { accountId } = manager;
    // The operator pays for tests of his credential.
    if (wanted.byok_id === undefined) requireRight(manager, 'providers.test', null);
    const provider = findProvider(providerSlugOf(name) ?? '');
    if (!provider) throw new AppError('not_found', { detail: 'no provider has this slug' });
    if (!embeds(provider))
      throw new AppError('conflict', {
        detail: `${provider.slug} has no embedding models, and a test embeds a text; send a chat instead`,
      });
    const credential =
      wanted.byok_id === undefined ? null : await this.findOwn(manager, provider, wanted.byok_id);
    const chosen = this.chooseEndpoint(provider, wanted.model);
    const problem = this.problemBefore(provider, credential, chosen);
    await this.rateLimiter.consumeProviderTest(accountId);
    const startedAt = performance.now();
    const outcome =
      problem === null && chosen
        ? await this.call({ ...chosen, provider, credential }, accountId)
        : { problem, status: null, tokens: null, dimensions: null };
    return {
      ...outcome,
      provider,
      target: chosen,
      credentialId: credential?.id ?? null,
      cost: this.costOf(chosen?.endpoint, outcome.tokens),
      durationMs: Math.round(performance.now() - startedAt),
    };
  }

  private async findOwn(
    { accountId, reach }: Manager,
    provider: Provider,
    id: string,
  ): Promise<OwnCredential> {
    const stored = await this.credentials.findDecrypted(accountId, id);
    if (stored?.provider !== provider.slug || !reachesWorkspace(reach, stored.workspaceId)) {
      throw new AppError('not_found', { detail: 'no own key of this provider has this byok_id' });
    }
    // A disabled one as well: it can be tested before calls use it.
    const own = toOwnCredential(stored, 0);
    if (!own)
      throw new AppError('conflict', { detail: 'byok_id: the stored key cannot be read; replace it' });
    return own;
  }

  /** The cheapest endpoint for texts; those of unknown price come last. Null: there is none. */
  private chooseEndpoint(provider: Provider, name: string | undefined) {
    const found = name === undefined ? undefined : this.catalogue.find(name)?.model;
    const models = name === undefined ? this.catalogue.list() : found ? [found] : [];
    const day = utcDay(this.clock.now());
    const [cheapest = null] = models
      .flatMap((model) => model.endpoints.map((endpoint) => ({ model, endpoint })))
      .filter(({ endpoint }) => endpoint.provider === provider.slug && endpoint.inputForms.includes('texts'))
      .toSorted((one, other) => comparePrices(priceOn(one.endpoint, day), priceOn(other.endpoint, day)));
    if (cheapest === null && name !== undefined)
      throw new AppError('not_found', { detail: 'model: the provider has no text model of this name' });
    return cheapest;
  }

  /** Why no call can be made; null: it can. */
  private problemBefore(
    provider: Provider,
    credential: OwnCredential | null,
    chosen: { readonly model: CatalogueModel } | null,
  ): string | null {
    const isConfigured =
      credential === null ? this.caller.isConfigured(provider) : this.caller.hasAddress(provider);
    if (!isConfigured)
      return `the provider is not configured; the operator can set ${remedyFor(provider, this.caller)}`;
    return chosen === null ? 'the catalogue has no text model of this provider' : null;
  }

  private async call(target: EndpointTarget, accountId: string): Promise<Outcome> {
    const request: EmbeddingRequest = {
      model: target.model.id,
      input: { form: 'texts', items: [INPUT] },
      encodingFormat: 'float',
      extra: {},
    };
    const limits = { timeout: this.config.providerTimeout, signal: new Cancellation(), accountId };
    try {
      const answer = await this.caller.call(target, request, request.input, limits);
      return {
        problem: null,
        status: 200,
        tokens: tokensOf(answer),
        dimensions: target.model.nativeDimensions,
      };
    } catch (failure) {
      if (!(failure instanceof EndpointFailure)) throw failure;
      const { message, status, usage } = failure;
      return { problem: message, status, tokens: usage && tokensOf(usage), dimensions: null };
    }
  }

  private costOf(endpoint: ModelEndpoint | undefined, tokens: number | null): PicoUsd | null {
    const price = endpoint && priceOn(endpoint, utcDay(this.clock.now()));
    return price === undefined || price === null || tokens === null ? null : price * BigInt(tokens);
  }
}

function tokensOf({ promptTokens, totalTokens }: ReportedUsage): number | null {
  return promptTokens ?? totalTokens;
}

function comparePrices(one: PicoUsd | null, other: PicoUsd | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Number(one - other);
}
