// Decides which endpoints may serve a call, before any request is sent.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, InputForm, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { givesWidth, idsOf, priceOn, widthProblem } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { UNHURRIED } from '../concurrency/yield-queue.js';
import type { Pace } from '../concurrency/yield-queue.js';
import { Clock } from '../domain/clock.js';
import { modalitiesOf } from '../domain/embeddings/modality.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { isInputType } from '../domain/embeddings/input-type.js';
import { excludesShared, mayServe } from '../domain/embeddings/provider-credential.js';
import type { ProviderCredential } from '../domain/embeddings/provider-credential.js';
import { NO_LIMITS } from '../domain/spend/spend-limit.js';
import type { SpendLimits } from '../domain/spend/spend-limit.js';
import type { ProviderPreferences } from '../domain/embeddings/provider-preferences.js';
import { utcDay } from '../domain/spend/spend.js';
import type { EmbeddingProvider } from '../providers/shared/provider.js';
import { findEmbeddingProvider } from '../providers/index.js';
import { withBoundedPrice } from './bounded-price.js';
import { splitProblem } from './call-splitter.js';
import { EndpointCaller } from './endpoints/endpoint-caller.js';
import { filterCandidates, orderCandidates } from './endpoints/endpoint-order.js';
import type { Candidate, OrderingContext } from './endpoints/endpoint-order.js';
import type { EndpointTarget, OwnCredential } from './endpoints/endpoint-target.js';
import { withRoomForInputs } from './endpoints/input-room.js';
import { EndpointHealthRegistry } from './endpoints/endpoint-health-registry.js';
import { OwnCredentialsCache } from './credentials/own-credentials-cache.js';
import { withOwnSlugs } from './provider-names.js';
import { noAllowedProviders, rejectModelName, unconfiguredError } from './unreachable-models.js';

/** The endpoints that may serve a call, best first; at least one. */
export interface Route {
  /** The account of the call. */
  readonly accountId: string;
  readonly model: CatalogueModel;
  readonly targets: readonly EndpointTarget[];
}

interface ApplicableCredential {
  readonly provider: string;
  /** The provider's shared endpoints are not used. */
  readonly excludesShared: boolean;
  /** Null: unusable. */
  readonly own: OwnCredential | null;
}

// Numbers in all vectors of a call, however many provider calls it needs: bounds the memory for vectors, bytes and
// JSON.
const MAX_NUMBERS = 2 ** 24;
// The overhead of a vector, in numbers.
const AROUND_A_VECTOR = 64;

const FORM_NAMES: Readonly<Record<InputForm, string>> = {
  texts: 'text',
  tokens: 'token arrays',
  multimodal: 'multimodal items',
};

@Injectable()
export class RoutePlanner {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly ownCredentials: OwnCredentialsCache,
    private readonly clock: Clock,
  ) {}

  /**
   * Throws `not_found`, `no_allowed_providers` or `invalid_request`: the call then reaches no provider and is no
   * generation.
   */
  async plan(
    key: ApiKey,
    request: EmbeddingRequest,
    preferences: ProviderPreferences,
    limits: SpendLimits = NO_LIMITS,
    pace: Pace = UNHURRIED,
  ): Promise<Route> {
    const { model, sort } = this.catalogue.find(request.model) ?? rejectModelName(request.model);
    const chosen = { ...withOwnSlugs(preferences), sort: preferences.sort ?? sort };
    const problem = request.dimensions === undefined ? null : widthProblem(model, request.dimensions);
    if (problem !== null) throw new AppError('invalid_request', { detail: `dimensions: ${problem}` });
    rejectImpossibleInput(model, request.input.form);
    rejectTooManyVectors(model, request);
    const day = utcDay(this.clock.now());
    const own =
      this.ownCredentials.peek(key.workspaceId) ?? (await this.ownCredentials.find(key.workspaceId));
    const configured = this.candidatesOf(model, request, applicable(own, key, model), day);
    if (configured.length === 0)
      throw unconfiguredError(model, endpointsFor(model, request), request, this.caller);
    const context: OrderingContext = {
      now: performance.now(),
      day,
      modalities: modalitiesOf(request.input),
      random: () => this.health.random(),
      supportsAllParameters: (target) => supportsAllParameters(target, request),
    };
    const left = filterCandidates(withoutSplitProblem(configured, request), chosen, context);
    if (left.length === 0) throw noAllowedProviders(configured, preferences);
    const withRoom = withRoomForInputs(left, request, pace);
    const able = withRoom instanceof Promise ? await withRoom : withRoom;
    const bounded = withBoundedPrice(able, request, limits, day);
    const targets = orderCandidates(bounded, chosen, context).map(({ target }) => target);
    // Without fallbacks only the first serves, or those that the caller has listed (the only ones left by then).
    const isOneOnly = !preferences.allowFallbacks && preferences.order.length === 0;
    return { accountId: key.accountId, model, targets: isOneOnly ? targets.slice(0, 1) : targets };
  }

  /** Whether calls of this key for the model have at least one endpoint. */
  async canReach(key: ApiKey, model: CatalogueModel): Promise<boolean> {
    return this.isReachable(model, applicable(await this.ownCredentials.find(key.workspaceId), key, model));
  }

  /** Whether the operator has configured at least one provider of the model. */
  isConfigured(model: CatalogueModel): boolean {
    return this.isReachable(model, []);
  }

  private isReachable(model: CatalogueModel, credentials: readonly ApplicableCredential[]): boolean {
    return model.endpoints.some((endpoint) => {
      const provider = findEmbeddingProvider(endpoint.provider);
      return provider !== undefined && this.accessTo(provider, endpoint, credentials).length > 0;
    });
  }

  private candidatesOf(
    model: CatalogueModel,
    request: EmbeddingRequest,
    credentials: readonly ApplicableCredential[],
    day: string,
  ): Candidate[] {
    return endpointsFor(model, request).flatMap((endpoint) => {
      const provider = findEmbeddingProvider(endpoint.provider);
      if (!provider) return [];
      const price = priceOn(endpoint, day);
      return this.accessTo(provider, endpoint, credentials).map((credential) => {
        const target: EndpointTarget = { model, endpoint, provider, credential };
        return { target, health: this.health.of(target), price };
      });
    });
  }

  /** The credentials for an endpoint: own ones, and the operator's (null). */
  private accessTo(
    provider: EmbeddingProvider,
    endpoint: ModelEndpoint,
    credentials: readonly ApplicableCredential[],
  ): (OwnCredential | null)[] {
    const ofProvider = credentials.filter((credential) => credential.provider === endpoint.provider);
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
  key: ApiKey,
  model: CatalogueModel,
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

function toOwnCredential(credential: ProviderCredential, position: number): OwnCredential | null {
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

/** The endpoints that take the form of the input and give vectors of the wanted width. */
function endpointsFor(model: CatalogueModel, { input, dimensions }: EmbeddingRequest): ModelEndpoint[] {
  const { nativeDimensions: native, endpoints } = model;
  return endpoints.filter(
    (endpoint) =>
      endpoint.inputForms.includes(input.form) && givesWidth(endpoint, native, dimensions ?? native),
  );
}

function rejectImpossibleInput(model: CatalogueModel, form: InputForm): void {
  if (model.endpoints.some(({ inputForms }) => inputForms.includes(form))) return;
  const forms = new Set(model.endpoints.flatMap(({ inputForms }) => inputForms));
  const names = [...forms].map((known) => FORM_NAMES[known]).join(' or ');
  throw new AppError('invalid_request', { detail: `input: ${model.id} takes ${names}` });
}

function rejectTooManyVectors({ id, nativeDimensions }: CatalogueModel, request: EmbeddingRequest): void {
  const width = request.dimensions ?? nativeDimensions;
  const most = Math.max(1, Math.floor(MAX_NUMBERS / (width + AROUND_A_VECTOR)));
  if (request.input.items.length <= most) return;
  const detail = `input: ${id} takes at most ${most} inputs a call at ${width} dimensions`;
  throw new AppError('invalid_request', { detail });
}

/** Throws `invalid_request` when every candidate would have to split a call that must stay whole. */
function withoutSplitProblem(candidates: readonly Candidate[], request: EmbeddingRequest): Candidate[] {
  let problem: string | null = null;
  let rejectedBy: ModelEndpoint | null = null;
  const left = candidates.filter(({ target }) => {
    // Candidates of one endpoint are adjacent: the whole input is checked once for all credentials.
    if (target.endpoint !== rejectedBy) problem = splitProblem(target, request);
    rejectedBy = target.endpoint;
    return problem === null;
  });
  if (left.length === 0 && problem !== null) throw new AppError('invalid_request', { detail: problem });
  return left;
}

/** False when the service would have to cut the width or drop the input type: not every endpoint supports both. */
function supportsAllParameters(
  { endpoint, model }: EndpointTarget,
  { dimensions, inputType }: EmbeddingRequest,
): boolean {
  return (
    (dimensions === undefined || dimensions === model.nativeDimensions || endpoint.takesDimensions) &&
    (inputType === undefined || distinguishes(endpoint, inputType))
  );
}

/** Other values are in the upstream's own words, and the upstream accepts or rejects them. */
function distinguishes({ inputTypes }: ModelEndpoint, inputType: string): boolean {
  return inputTypes !== undefined && (!isInputType(inputType) || inputTypes.includes(inputType));
}
