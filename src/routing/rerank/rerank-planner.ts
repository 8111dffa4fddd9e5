// Decides which endpoints may serve a rerank call, before any request is sent.
import { Injectable } from '@nestjs/common';
import { RerankCatalogue } from '../../catalogue/catalogue.js';
import { rowOn } from '../../catalogue/catalogue-model.js';
import { greatestCostOfCall, usualTokensOfCall } from '../../catalogue/rerank-cost.js';
import type { RerankEndpoint, RerankModel } from '../../catalogue/rerank-model.js';
import { Clock } from '../../domain/clock.js';
import { modalitiesOf } from '../../domain/embeddings/modality.js';
import { AppError } from '../../domain/errors.js';
import type { GuardedCaller } from '../../domain/keys/api-key.js';
import type { MaxPrices, ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import type { RerankRequest } from '../../domain/rerank/rerank.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendLimits } from '../../domain/spend/spend-limit.js';
import { utcDay } from '../../domain/spend/spend.js';
import { findProvider } from '../../providers/index.js';
import type { RerankWire } from '../../providers/shared/provider.js';
import { rerankWireOf } from '../../providers/shared/provider.js';
import { addedBytes } from '../billed-members.js';
import { repricedProblem, withoutPriceProblems, noKnownPrice } from '../bounded-price.js';
import { CredentialAccess } from '../credentials/credential-access.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { filterCandidates, orderCandidates } from '../endpoints/endpoint-order.js';
import type { Candidate } from '../endpoints/endpoint-order.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { RerankTarget } from '../endpoint-target.js';
import { refusalOf, withGuardrails, withinGuardrails } from '../guardrails/guardrails.js';
import { UnlistedModels } from '../chat/unlisted-models.js';
import { ProviderNames } from '../provider-names.js';
import { sentMembers } from '../sent-members.js';
import { noAllowedProviders, unconfiguredError } from '../unreachable-models.js';

/** The endpoints that may serve a call, best first; at least one. All are of one model: models have different scales. */
export interface RerankRoute {
  /** The account of the call. */
  readonly accountId: string;
  readonly model: RerankModel;
  /** The newest stored revision of the catalogue that its prices come from. */
  readonly catalogueVersion: number;
  readonly targets: readonly RerankTarget[];
}

type RerankCandidate = Candidate<RerankTarget>;

@Injectable()
export class RerankPlanner {
  constructor(
    private readonly catalogue: RerankCatalogue,
    private readonly unlisted: UnlistedModels,
    private readonly names: ProviderNames,
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly access: CredentialAccess,
    private readonly clock: Clock,
  ) {}

  /** Throws the caller's error: the call then reaches no provider and is no generation. */
  async plan(
    { key, guardrails }: GuardedCaller,
    request: RerankRequest,
    preferences: ProviderPreferences,
    limits: SpendLimits,
  ): Promise<RerankRoute> {
    const { model, sort } =
      this.catalogue.find(request.model) ?? this.unlisted.reject(request.model, 'rerank');
    const catalogueVersion = this.catalogue.version;
    const refusal = guardrails && refusalOf(guardrails, model);
    if (refusal) throw refusal;
    const chosen = { ...this.names.resolve(preferences), sort: preferences.sort ?? sort };
    const day = utcDay(this.clock.now());
    const endpoints = endpointsFor(model, request);
    const own = await this.access.credentialsOf(key.workspaceId);
    const priceOf = (endpoint: RerankEndpoint): PicoUsd | null =>
      greatestCostAt(model, endpoint, request, day);
    const configured = this.access
      .candidates(model, endpoints, key, own, priceOf)
      .flatMap(({ target, ...candidate }): RerankCandidate[] => {
        const wire = rerankWireOf(target.provider);
        return wire ? [{ ...candidate, target: { ...target, wire } }] : [];
      });
    if (configured.length === 0) throw unconfiguredError(model, endpoints, this.caller);
    const context = {
      now: performance.now(),
      staysWithin: (bounds: MaxPrices, { endpoint }: RerankTarget) => staysWithin(bounds, endpoint, day),
      random: () => this.health.random(),
      supportsAllParameters: ({ wire, endpoint }: RerankTarget) =>
        sentMembers({ provider: wire, endpoint }, request.extra).dropped.length === 0,
    };
    const permitted = withinGuardrails(configured, guardrails);
    const left = filterCandidates(permitted, chosen, context);
    if (left.length === 0)
      throw withGuardrails(noAllowedProviders(permitted, preferences), guardrails, configured);
    const bounded = withoutPriceProblems(withRoom(left, request), limits, (target) =>
      priceProblem(target, request, limits, day),
    );
    const targets = orderCandidates(bounded, chosen, context).map(({ target }) => target);
    const isOneOnly = !preferences.allowFallbacks && preferences.order.length === 0;
    return {
      accountId: key.accountId,
      model,
      catalogueVersion,
      targets: isOneOnly ? targets.slice(0, 1) : targets,
    };
  }
}

/** The most that a call costs at an endpoint; null: its price is not known. */
export function greatestCostAt(
  model: RerankModel,
  endpoint: RerankEndpoint,
  request: RerankRequest,
  day: string,
): PicoUsd | null {
  const wire = wireAt(endpoint);
  const added = wire ? addedBytes({ provider: wire, endpoint }, request) : 0;
  return greatestCostOfCall(request, { model, endpoint }, day, added);
}

function wireAt({ provider: slug }: RerankEndpoint): RerankWire | undefined {
  const provider = findProvider(slug);
  return provider && rerankWireOf(provider);
}

function endpointsFor(model: RerankModel, { documents }: RerankRequest): RerankEndpoint[] {
  const modalities = modalitiesOf(documents);
  const able = model.endpoints.filter((endpoint) =>
    modalities.every((modality) => endpoint.modalities.includes(modality)),
  );
  if (able.length > 0) return able;
  throw new AppError('invalid_request', { detail: `documents: ${model.id} takes texts only` });
}

/** A model that reads all documents together has room for all of them, or for none: its calls are never split. */
function withRoom(candidates: readonly RerankCandidate[], request: RerankRequest): RerankCandidate[] {
  const count = request.documents.items.length;
  const few = candidates.filter(
    ({ target: { endpoint } }) => endpoint.isPointwise || count <= endpoint.maxDocumentsPerCall,
  );
  const [first] = candidates;
  if (few.length === 0 && first) {
    const most = Math.max(...candidates.map(({ target }) => target.endpoint.maxDocumentsPerCall));
    throw new AppError('payload_too_large', {
      detail: `documents: ${first.target.model.id} takes at most ${most} in a call`,
    });
  }
  const pointwise = few.filter(({ target }) => target.endpoint.isPointwise);
  if (!first || pointwise.length === few.length) return few;
  const { id, contextLength } = first.target.model;
  const tokens = usualTokensOfCall(request);
  if (tokens <= contextLength) return few;
  if (pointwise.length > 0) return pointwise;
  throw new AppError('context_length_exceeded', {
    member: 'documents',
    detail: `${id} reads the query and all documents together, about ${tokens} tokens, and takes at most ${contextLength}`,
  });
}

/** `request` bounds a search unit. */
function staysWithin(bounds: MaxPrices, endpoint: RerankEndpoint, day: string): boolean {
  const price = rowOn(endpoint.prices, day);
  const { prompt, request } = bounds;
  const bound = price?.unit === 'search_unit' ? request : prompt;
  if (price === null) return prompt === undefined && request === undefined;
  return bound === undefined || price.amount <= bound;
}

function priceProblem(
  target: RerankTarget,
  request: RerankRequest,
  { includesByok }: SpendLimits,
  day: string,
): AppError | null {
  const { model, endpoint, credential, wire, provider } = target;
  if (credential !== null && !includesByok) return null;
  const price = rowOn(endpoint.prices, day);
  if (price === null) return credential === null ? noKnownPrice(model.id) : null;
  if (price.amount === 0n) return null;
  return repricedProblem({ provider: wire, endpoint }, request.extra, provider.name);
}
