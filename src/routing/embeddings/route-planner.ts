// Decides which endpoints may serve a call, before any request is sent.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, InputForm, ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { givesWidth, priceOn, widthProblem } from '../../catalogue/catalogue-model.js';
import { Catalogue } from '../../catalogue/catalogue.js';
import type { GuardedCaller } from '../../domain/keys/api-key.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import { Clock } from '../../domain/clock.js';
import { modalitiesOf } from '../../domain/embeddings/modality.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { AppError } from '../../domain/errors.js';
import { isInputType } from '../../domain/embeddings/embedding.js';
import { NO_LIMITS } from '../../domain/spend/spend-limit.js';
import type { SpendLimits } from '../../domain/spend/spend-limit.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { utcDay } from '../../domain/spend/spend.js';
import { staysWithin, withBoundedPrice } from '../bounded-price.js';
import { splitProblem } from '../call-splitter.js';
import { CredentialAccess } from '../credentials/credential-access.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { filterCandidates, orderCandidates } from '../endpoints/endpoint-order.js';
import type { Candidate, OrderingContext } from '../endpoints/endpoint-order.js';
import { embeds } from '../../providers/shared/provider.js';
import type { EndpointTarget, ServingTarget } from '../endpoint-target.js';
import { withRoomForInputs } from '../endpoints/input-room.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { refusalOf, withGuardrails, withinGuardrails } from '../guardrails/guardrails.js';
import { UnlistedModels } from '../chat/unlisted-models.js';
import { ProviderNames } from '../provider-names.js';
import { sentMembers } from '../sent-members.js';
import { noAllowedProviders, unconfiguredError } from '../unreachable-models.js';

/** The endpoints that may serve a call, best first; at least one. */
export interface Route {
  /** The account of the call. */
  readonly accountId: string;
  readonly model: CatalogueModel;
  /** The newest stored revision of the catalogue that its prices come from. */
  readonly catalogueVersion: number;
  readonly targets: readonly EndpointTarget[];
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

function isOfEmbeddings(
  candidate: Candidate<ServingTarget & Pick<EndpointTarget, 'model' | 'endpoint'>>,
): candidate is Candidate<EndpointTarget> {
  return embeds(candidate.target.provider);
}

@Injectable()
export class RoutePlanner {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly unlisted: UnlistedModels,
    private readonly names: ProviderNames,
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly access: CredentialAccess,
    private readonly clock: Clock,
  ) {}

  /**
   * Throws `not_found`, `no_allowed_providers`, `guardrail_excluded` or `invalid_request`: the call then reaches no provider
   * and is no generation.
   */
  async plan(
    { key, guardrails }: GuardedCaller,
    request: EmbeddingRequest,
    preferences: ProviderPreferences,
    limits: SpendLimits = NO_LIMITS,
    pace: Pace = NEVER_YIELD,
  ): Promise<Route> {
    const { model, sort } =
      this.catalogue.find(request.model) ?? this.unlisted.reject(request.model, 'embedding');
    const catalogueVersion = this.catalogue.version;
    const refusal = guardrails && refusalOf(guardrails, model);
    if (refusal) throw refusal;
    const chosen = { ...this.names.resolve(preferences), sort: preferences.sort ?? sort };
    const problem = request.dimensions === undefined ? null : widthProblem(model, request.dimensions);
    if (problem !== null) throw new AppError('invalid_request', { detail: `dimensions: ${problem}` });
    rejectImpossibleInput(model, request.input.form);
    rejectTooManyVectors(model, request);
    const day = utcDay(this.clock.now());
    const own = await this.access.credentialsOf(key.workspaceId);
    const endpoints = endpointsFor(model, request);
    const priceOf = (endpoint: ModelEndpoint) => priceOn(endpoint, day);
    const configured = this.access.candidates(model, endpoints, key, own, priceOf).filter(isOfEmbeddings);
    if (configured.length === 0)
      throw unconfiguredError(model, endpoints, this.caller, wantedWidth(model, request));
    const modalities = modalitiesOf(request.input);
    const context: OrderingContext<EndpointTarget> = {
      now: performance.now(),
      staysWithin: (bounds, target) => staysWithin(bounds, target, day, modalities),
      random: () => this.health.random(),
      supportsAllParameters: (target) => supportsAllParameters(target, request),
    };
    const whole = withoutSplitProblem(configured, request);
    const permitted = withinGuardrails(whole, guardrails);
    const left = filterCandidates(permitted, chosen, context);
    if (left.length === 0)
      throw withGuardrails(noAllowedProviders(permitted, preferences), guardrails, whole);
    const withRoom = withRoomForInputs(left, request, pace);
    const able = withRoom instanceof Promise ? await withRoom : withRoom;
    const bounded = withBoundedPrice(able, request, limits, day);
    const targets = orderCandidates(bounded, chosen, context).map(({ target }) => target);
    // Without fallbacks only the first serves, or those that the caller has listed (the only ones left by then).
    const isOneOnly = !preferences.allowFallbacks && preferences.order.length === 0;
    return {
      accountId: key.accountId,
      model,
      catalogueVersion,
      targets: isOneOnly ? targets.slice(0, 1) : targets,
    };
  }
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
function withoutSplitProblem(
  candidates: readonly Candidate<EndpointTarget>[],
  request: EmbeddingRequest,
): Candidate<EndpointTarget>[] {
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

/** False when the service would have to cut the width, or drop the input type or an unknown member. */
function supportsAllParameters(
  target: EndpointTarget,
  { dimensions, inputType, extra }: EmbeddingRequest,
): boolean {
  const { endpoint, model } = target;
  return (
    sentMembers(target, extra).dropped.length === 0 &&
    (dimensions === undefined || dimensions === model.nativeDimensions || endpoint.takesDimensions) &&
    (inputType === undefined || distinguishes(endpoint, inputType))
  );
}

/** Other values are in the upstream's own words, and the upstream accepts or rejects them. */
function distinguishes({ inputTypes }: ModelEndpoint, inputType: string): boolean {
  return inputTypes !== undefined && (!isInputType(inputType) || inputTypes.includes(inputType));
}

/** For the error about endpoints that are not configured. */
function wantedWidth({ nativeDimensions }: CatalogueModel, { dimensions = 0 }: EmbeddingRequest): string {
  return dimensions > nativeDimensions ? ` that gives vectors of ${dimensions}` : '';
}
