// Decides, before anything is sent, which endpoints may serve a call.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, InputForm } from '../catalogue/catalogue-model.js';
import { priceOn, widthProblem } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import type { ProviderPreferences } from '../domain/provider-preferences.js';
import { utcDay } from '../domain/spend.js';
import { findEmbeddingProvider } from '../embedding-providers/index.js';
import { EndpointCaller } from './endpoint-caller.js';
import { filterCandidates, orderCandidates } from './endpoint-order.js';
import type { Candidate, OrderingContext } from './endpoint-order.js';
import type { EndpointTarget } from './endpoint-target.js';
import { HealthBoard } from './health-board.js';

/** The endpoints that may serve a call, best first; at least one. */
export interface Route {
  readonly model: CatalogueModel;
  readonly targets: readonly EndpointTarget[];
}

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
    private readonly health: HealthBoard,
    private readonly clock: Clock,
  ) {}

  /** Throws `not_found`, `invalid_request` or `unavailable`: the call then reaches no provider and is no generation. */
  plan(request: EmbeddingRequest, preferences: ProviderPreferences): Route {
    const model = this.catalogue.find(request.model);
    if (!model) throw new AppError('not_found', { detail: `there is no embedding model ${request.model}` });
    const problem = request.dimensions === undefined ? null : widthProblem(model, request.dimensions);
    if (problem !== null) throw new AppError('invalid_request', { detail: `dimensions: ${problem}` });
    refuseImpossibleInput(model, request.input.form);
    const configured = this.candidatesOf(model, request);
    if (configured.length === 0) {
      throw new AppError('unavailable', { detail: `no provider of ${model.id} is configured` });
    }
    const context: OrderingContext = {
      now: performance.now(),
      random: () => this.health.random(),
      supportsAllParameters: (target) => supportsAllParameters(target, request),
    };
    const left = filterCandidates(configured, preferences, context);
    if (left.length === 0) {
      throw new AppError('unavailable', {
        detail: `provider: no endpoint of ${model.id} satisfies these preferences`,
      });
    }
    const targets = orderCandidates(left, preferences, context).map(({ target }) => target);
    // Without fallbacks only the first serves, or those that the caller has listed (already all that is left).
    const isOneOnly = !preferences.allowFallbacks && preferences.order.length === 0;
    return { model, targets: isOneOnly ? targets.slice(0, 1) : targets };
  }

  private candidatesOf(model: CatalogueModel, request: EmbeddingRequest): Candidate[] {
    const day = utcDay(this.clock.now());
    return model.endpoints.flatMap((endpoint) => {
      const provider = findEmbeddingProvider(endpoint.provider);
      const isAble = endpoint.inputForms.includes(request.input.form);
      if (!provider || !isAble || !this.caller.isConfigured(provider)) return [];
      const target: EndpointTarget = { model, endpoint, provider, credential: null };
      return [{ target, health: this.health.of(target), price: priceOn(endpoint, day) }];
    });
  }
}

function refuseImpossibleInput(model: CatalogueModel, form: InputForm): void {
  const forms = new Set(model.endpoints.flatMap((endpoint) => endpoint.inputForms));
  if (forms.has(form)) return;
  const names = [...forms].map((known) => FORM_NAMES[known]).join(' or ');
  throw new AppError('invalid_request', { detail: `input: ${model.id} takes ${names}` });
}

/** A width that has to be cut here, an input type that is dropped: not every endpoint does everything itself. */
function supportsAllParameters({ endpoint, model }: EndpointTarget, request: EmbeddingRequest): boolean {
  const { dimensions } = request;
  return dimensions === undefined || dimensions === model.nativeDimensions || endpoint.takesDimensions;
}
