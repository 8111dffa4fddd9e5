// Chooses the endpoint that serves a call, and the next one when it fails.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, InputForm, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { AppConfig } from '../config/app-config.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import type { GenerationAttempt } from '../domain/generation.js';
import type { ProviderAnswer } from '../embedding-providers/embedding-provider.js';
import { findEmbeddingProvider } from '../embedding-providers/index.js';
import { EndpointCaller } from './endpoint-caller.js';
import type { EndpointTarget } from './endpoint-caller.js';
import { EndpointFailure, toCallerError } from './endpoint-failure.js';

/** The endpoints that may serve a call, best first. */
export interface Route {
  readonly model: CatalogueModel;
  readonly targets: readonly EndpointTarget[];
}

export interface RoutedCall {
  /** The endpoint that served, or the last one tried. */
  readonly target: EndpointTarget;
  readonly attempts: readonly GenerationAttempt[];
  readonly outcome: { readonly answer: ProviderAnswer } | { readonly error: AppError };
}

const FORM_NAMES: Readonly<Record<InputForm, string>> = {
  texts: 'text',
  tokens: 'token arrays',
  multimodal: 'multimodal items',
};

@Injectable()
export class EmbeddingRouter {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly caller: EndpointCaller,
    private readonly config: AppConfig,
  ) {}

  /** Throws `not_found`, `invalid_request` or `unavailable`: the call then reaches no provider and is no generation. */
  plan(request: EmbeddingRequest): Route {
    const model = this.catalogue.find(request.model);
    if (!model) throw new AppError('not_found', { detail: `there is no embedding model ${request.model}` });
    refuseImpossibleWidth(model, request.dimensions);
    const { form } = request.input;
    const able = model.endpoints.filter((endpoint) => endpoint.inputForms.includes(form));
    if (able.length === 0) {
      const forms = [...new Set(model.endpoints.flatMap((endpoint) => endpoint.inputForms))];
      const names = forms.map((known) => FORM_NAMES[known]).join(' or ');
      throw new AppError('invalid_request', { detail: `input: ${model.id} takes ${names}` });
    }
    const targets = able.flatMap((endpoint) => this.toTarget(model, endpoint));
    if (targets.length === 0) {
      throw new AppError('unavailable', { detail: `no provider of ${model.id} is configured` });
    }
    return { model, targets };
  }

  /** Tries the targets in turn. Never throws for what a provider did: every call is a generation, failures too. */
  async run(route: Route, request: EmbeddingRequest): Promise<RoutedCall> {
    const deadline = performance.now() + this.config.operationDeadline;
    const attempts: GenerationAttempt[] = [];
    const targets = request.allowFallbacks ? route.targets : route.targets.slice(0, 1);
    let last: { target: EndpointTarget; error: AppError } | null = null;
    for (const target of targets) {
      const startedAt = performance.now();
      const timeout = Math.min(this.config.providerTimeout, deadline - startedAt);
      if (timeout <= 0) break;
      try {
        const answer = await this.caller.call(target, request, timeout);
        attempts.push(describeAttempt(target, 200, null, startedAt));
        return { target, attempts, outcome: { answer } };
      } catch (failure) {
        if (!(failure instanceof EndpointFailure)) throw failure;
        attempts.push(describeAttempt(target, failure.status, failure.kind, startedAt));
        last = { target, error: toCallerError(failure, target.provider.name) };
        if (!failure.isWorthAnother) break;
      }
    }
    const target = last?.target ?? targets[0];
    if (!target)
      throw new AppError('unavailable', { detail: `no provider of ${route.model.id} is configured` });
    const isOverdue = performance.now() >= deadline;
    const error = isOverdue || !last ? new AppError('operation_timeout') : last.error;
    return { target, attempts, outcome: { error } };
  }

  private toTarget(model: CatalogueModel, endpoint: ModelEndpoint): EndpointTarget[] {
    const provider = findEmbeddingProvider(endpoint.provider);
    return provider && this.caller.isConfigured(provider) ? [{ model, endpoint, provider }] : [];
  }
}

function refuseImpossibleWidth(model: CatalogueModel, dimensions: number | undefined): void {
  const { nativeDimensions, otherDimensions } = model;
  if (dimensions === undefined || dimensions === nativeDimensions) return;
  if (otherDimensions && dimensions >= otherDimensions.least && dimensions <= otherDimensions.most) return;
  const possible = otherDimensions
    ? `can have ${otherDimensions.least} to ${Math.max(otherDimensions.most, nativeDimensions)}`
    : `has ${nativeDimensions} only`;
  throw new AppError('invalid_request', { detail: `dimensions: ${model.id} ${possible}` });
}

function describeAttempt(
  { provider, endpoint }: EndpointTarget,
  status: number | null,
  errorType: string | null,
  startedAt: number,
): GenerationAttempt {
  return {
    provider: provider.slug,
    endpoint: `${provider.slug}/${endpoint.upstreamModel}`,
    status,
    errorType,
    durationMs: Math.round(performance.now() - startedAt),
  };
}
