// Vectors bought from providers for inputs of a call: what they may cost is reserved before anybody is asked.
import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../domain/keys/api-key.js';
import type { EmbeddingInput, EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { EmbeddingRouter } from '../routing/embedding-router.js';
import type { RoutedCall } from '../routing/embedding-router.js';
import type { EndpointTarget } from '../routing/endpoints/endpoint-target.js';
import type { Route } from '../routing/route-planner.js';
import { isAboutMoney, SpendLimiter } from '../spend/spend-limiter.js';
import type { Reservation } from '../spend/spend-limiter.js';
import { boundsOf } from './charges/call-bound.js';

/** Reserved, and not yet asked for. */
export interface VectorPurchase {
  readonly route: Route;
  /** The inputs that are bought, by their places in the call, in order. */
  readonly indexes: readonly number[];
  /** With these inputs alone. */
  readonly request: EmbeddingRequest;
  readonly reservation: Reservation;
}

@Injectable()
export class VectorPurchases {
  constructor(
    private readonly router: EmbeddingRouter,
    private readonly spendLimiter: SpendLimiter,
  ) {}

  /**
   * Throws where the money is not there: for the shared endpoints, and then for own provider keys neither. Where there are
   * own keys nobody waits for money that other calls have reserved.
   */
  async reserve(
    key: ApiKey,
    route: Route,
    call: EmbeddingRequest,
    indexes: readonly number[],
    priceDay: string,
  ): Promise<VectorPurchase> {
    const isWhole = indexes.length === call.input.items.length;
    const request = isWhole ? call : { ...call, input: inputsAt(call.input, indexes) };
    const bounds = boundsOf(route, request, priceDay);
    if (!route.targets.some(isOwn) || route.targets.every(isOwn)) {
      return { route, indexes, request, reservation: await this.spendLimiter.reserve(key, bounds) };
    }
    try {
      return { route, indexes, request, reservation: await this.spendLimiter.reserve(key, bounds, 0) };
    } catch (error) {
      if (!isAboutMoney(error)) throw error;
      const own = { ...route, targets: route.targets.filter(isOwn) };
      const reservation = await this.spendLimiter.reserve(key, boundsOf(own, request, priceDay));
      return { route: own, indexes, request, reservation };
    }
  }

  /** Never throws, as routing does not. `deadline`: performance.now() */
  async run({ route, indexes, request }: VectorPurchase, deadline: number): Promise<RoutedCall> {
    const routed = await this.router.run(route, request, deadline);
    if (routed.error) nameInputsOfCall(routed.error, indexes);
    return routed;
  }
}

const isOwn = ({ credential }: EndpointTarget): boolean => credential !== null;

function inputsAt(input: EmbeddingInput, indexes: readonly number[]): EmbeddingInput {
  if (indexes.length === input.items.length) return input;
  const wanted = new Set(indexes);
  return {
    form: input.form,
    items: input.items.filter((_item, index) => wanted.has(index)),
  } as EmbeddingInput;
}

/** Our own words name an input by its place among those that were bought; the caller knows it by its place in the call. */
function nameInputsOfCall(error: AppError, indexes: readonly number[]): void {
  if (error.code !== 'invalid_request') return;
  error.message = error.message.replace(
    /(?<=: )input\[(\d+)\]/,
    (_text, index) => `input[${indexes[Number(index)]}]`,
  );
}
