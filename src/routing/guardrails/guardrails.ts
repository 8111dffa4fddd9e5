// Applies the guardrails of a caller to a call: its models before they are planned, its endpoints with the caller's preferences
// (docs/contract.md#guardrails).
import { Injectable } from '@nestjs/common';
import { endpointTag } from '../../catalogue/catalogue-model.js';
import { AppError } from '../../domain/errors.js';
import type { Guardrail, GuardrailRef } from '../../domain/guardrails/guardrail.js';
import { CallHits } from '../../domain/guardrails/guardrail-hit.js';
import {
  inForce,
  permitsEndpoint,
  permitsModel,
  permitsRegion,
  shownGuardrail,
} from '../../domain/guardrails/guardrails-in-force.js';
import type {
  AppliedGuardrail,
  GuardedEndpoint,
  GuardedModel,
  GuardrailsInForce,
} from '../../domain/guardrails/guardrails-in-force.js';
import type { ApiKey, Caller, GuardedCaller } from '../../domain/keys/api-key.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { NotifiedCache } from '../../persistence/database/notified-cache.js';
import { GuardrailsRepository } from '../../persistence/guardrails/guardrails.repository.js';
import type { ServingTarget } from '../endpoint-target.js';
import { keepsNothing } from '../endpoints/endpoint-order.js';
import type { Candidate } from '../endpoints/endpoint-order.js';

// Each has at most 2,000 names.
const MAX_CACHED = 2_000;

interface Resolved {
  readonly found: readonly (Guardrail | null)[];
  readonly inForce: GuardrailsInForce | null;
}

@Injectable()
export class Guardrails {
  /** By id. */
  private readonly cache: NotifiedCache<Guardrail>;
  /** By the list of a cached caller. */
  private readonly resolved = new WeakMap<readonly GuardrailRef[], Resolved>();

  constructor(repository: GuardrailsRepository, notifications: Notifications) {
    this.cache = new NotifiedCache(notifications, { channel: 'guardrail_changed', max: MAX_CACHED }, (id) =>
      repository.findForCalls(id),
    );
  }

  /** Those that govern a caller; null: none. A deleted one governs nothing. The same object until one of them changes. */
  async inForce(refs: readonly GuardrailRef[]): Promise<GuardrailsInForce | null> {
    const found = await Promise.all(refs.map(({ id }) => this.cache.find(id)));
    const known = this.resolved.get(refs);
    if (known && known.found.every((guardrail, index) => guardrail === found[index])) return known.inForce;
    const applied = refs.map(({ scope }, index): AppliedGuardrail | null => {
      const guardrail = found[index];
      return guardrail ? { ...guardrail, scope } : null;
    });
    const resolved = inForce(applied.filter((one) => one !== null));
    this.resolved.set(refs, { found, inForce: resolved });
    return resolved;
  }

  /** The caller of one call. Throws `guardrail_region` where guardrails do not allow the region of this service. */
  callerOf({ key, guardrails: refs }: Caller): GuardedCaller | Promise<GuardedCaller> {
    return refs === null ? { key, guardrails: null } : this.guarded(key, refs);
  }

  private async guarded(key: ApiKey, refs: readonly GuardrailRef[]): Promise<GuardedCaller> {
    const guardrails = await this.inForce(refs);
    if (guardrails !== null && !permitsRegion(guardrails.rules)) throw regionRefused(guardrails);
    return guardrails === null ? { key, guardrails } : { key, guardrails, hits: new CallHits() };
  }
}

/** Null: it may be called. */
export function refusalOf(guardrails: GuardrailsInForce, model: GuardedModel): AppError | null {
  if (permitsModel(guardrails.rules, model)) return null;
  return refusedBy(guardrails, (guardrail) => !permitsModel(guardrail, model));
}

/** The candidates that guardrails leave; preferences can only narrow them further. */
export function withinGuardrails<One extends Candidate>(
  candidates: readonly One[],
  guardrails: GuardrailsInForce | null,
): readonly One[] {
  if (guardrails === null) return candidates;
  return candidates.filter(({ target, price }) =>
    permitsEndpoint(guardrails.rules, guardedEndpoint(target, price)),
  );
}

export function guardedEndpoint(
  target: Pick<ServingTarget, 'endpoint' | 'credential' | 'model'>,
  price: bigint | null,
): GuardedEndpoint {
  const { endpoint, model } = target;
  return {
    modelId: model.id,
    tag: endpointTag(endpoint),
    trains: endpoint.dataPolicy.trains,
    keepsNothing: keepsNothing(target),
    isFree: price === null ? null : price === 0n,
  };
}

/** Adds the guardrails that have excluded one of the candidates. */
export function withGuardrails(
  error: AppError,
  guardrails: GuardrailsInForce | null,
  candidates: readonly Candidate[],
): AppError {
  if (guardrails === null || withinGuardrails(candidates, guardrails).length === candidates.length)
    return error;
  const endpoints = candidates.map(({ target, price }) => guardedEndpoint(target, price));
  const excludes = (guardrail: AppliedGuardrail): boolean =>
    endpoints.some((endpoint) => !permitsEndpoint(guardrail, endpoint));
  return refusedBy(guardrails, excludes, error.metadata);
}

function refusedBy(
  { guardrails }: GuardrailsInForce,
  excludes: (guardrail: AppliedGuardrail) => boolean,
  metadata: Readonly<Record<string, unknown>> = { available_providers: [], requested_providers: [] },
): AppError {
  const excluding = guardrails.filter(excludes);
  return new AppError('guardrail_excluded', {
    detail: `excluded by guardrail ${namesOf(excluding)}`,
    metadata: { ...metadata, guardrails: excluding.map(shownGuardrail) },
  });
}

function regionRefused({ guardrails }: GuardrailsInForce): AppError {
  const refusing = guardrails.filter((guardrail) => !permitsRegion(guardrail));
  return new AppError('guardrail_region', {
    detail: `excluded by guardrail ${namesOf(refusing)}`,
    metadata: { guardrails: refusing.map(shownGuardrail) },
  });
}

function namesOf(guardrails: readonly AppliedGuardrail[]): string {
  return guardrails.map(({ name }) => name).join(', ');
}
