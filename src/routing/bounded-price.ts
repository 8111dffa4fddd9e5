// Excludes endpoints whose price has no bound from calls that count toward a limit.
import { priceOn } from '../catalogue/catalogue-model.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { modalitiesOf } from '../domain/embeddings/modality.js';
import type { Modality } from '../domain/embeddings/modality.js';
import type { MaxPrices } from '../domain/providers/provider-preferences.js';
import type { SpendLimits } from '../domain/spend/spend-limit.js';
import { repricedMember } from './billed-members.js';
import type { EndpointTarget } from './endpoint-target.js';

/**
 * The candidates whose price is known for the input and not changed by members of the body. An own provider key costs
 * the account nothing and needs no known price. Where own keys count toward a limit, a known price must hold.
 * Throws `invalid_request` when a member excludes the last candidate, else `not_found`: more credits or a higher
 * limit would not help.
 */
export function withBoundedPrice<Item extends { readonly target: EndpointTarget }>(
  candidates: readonly Item[],
  request: EmbeddingRequest,
  limits: SpendLimits,
  day: string,
): readonly Item[] {
  return withoutPriceProblems(candidates, limits, (target) => priceProblem(target, request, limits, day));
}

/** The candidates without a problem, for calls that count toward a limit. Throws as withBoundedPrice(). */
export function withoutPriceProblems<Item extends { readonly target: object }>(
  candidates: readonly Item[],
  limits: SpendLimits,
  problemOf: (target: Item['target']) => AppError | null,
): readonly Item[] {
  if (!limits.isLimited) return candidates;
  let problem: AppError | null = null;
  const left = candidates.filter(({ target }) => {
    const found = problemOf(target);
    // A caller can omit a member but cannot add a price, so the error about the member wins.
    if (found !== null && problem?.code !== 'invalid_request') problem = found;
    return found === null;
  });
  if (left.length === 0 && problem) throw problem;
  return left.length === candidates.length ? candidates : left;
}

/** The caller's own bounds; a price that is not known may be above any bound. */
export function staysWithin(
  bounds: MaxPrices,
  { endpoint }: EndpointTarget,
  day: string,
  modalities: readonly Modality[],
): boolean {
  return modalities.every((modality) =>
    [bounds.prompt, bounds[modality]].every((bound) => {
      if (bound === undefined) return true;
      const price = priceOn(endpoint, day, modality);
      return price !== null && price <= bound;
    }),
  );
}

function priceProblem(
  target: EndpointTarget,
  { input, extra }: EmbeddingRequest,
  { includesByok }: SpendLimits,
  day: string,
): AppError | null {
  const { model, endpoint, provider, credential } = target;
  if (credential !== null && !includesByok) return null;
  let isFree = true;
  for (const modality of modalitiesOf(input)) {
    const price = priceOn(endpoint, day, modality);
    if (price === null) return credential === null ? noKnownPrice(model.id) : null;
    if (price > 0n) isFree = false;
  }
  return isFree ? null : repricedProblem(target, extra, provider.name);
}

/** Null: no member of the body changes the price. */
export function repricedProblem(
  endpoint: Parameters<typeof repricedMember>[0],
  extra: EmbeddingRequest['extra'],
  providerName: string,
): AppError | null {
  const member = repricedMember(endpoint, extra);
  if (member === null) return null;
  return new AppError('invalid_request', {
    detail: `${shownName(member)}: changes what ${providerName} charges, so that a call that counts toward a limit cannot have it; leave it out`,
  });
}

export function noKnownPrice(model: string): AppError {
  return new AppError('not_found', {
    detail: `model: no endpoint of ${model} has a known price for this input, and calls that count toward a limit need one; use another model, an own provider key, or a key without a limit`,
  });
}

const MAX_SHOWN_LENGTH = 100;

function shownName(path: string): string {
  return path.slice(0, MAX_SHOWN_LENGTH).replace(/[^\x20-\x7e]/g, '?');
}
