// The endpoints that a call, or a slice of one, may still try, and the error that its caller receives without them
// (docs/contract.md#routing).
import { AppError } from '../../domain/errors.js';
import type { CallCredentials } from '../credentials/call-credentials.js';
import type { ServingTarget } from '../endpoint-target.js';
import type { EndpointFailure } from '../failures/endpoint-failure.js';
import { outranks } from './retry-policy.js';

interface CallersError {
  readonly error: AppError;
  readonly rank: number;
}

// About the request and this model: another model may take it.
const OF_MODEL = /^(content_filter|content_policy_violation|unsupported_(parameter|value))$/i;

/** Immutable: slices of one call fall back independently. */
export class RemainingEndpoints<Target extends ServingTarget> {
  private constructor(
    /** Those of the route, then again those that were skipped because they had no free permit. */
    private readonly targets: readonly Target[],
    private readonly routeLength: number,
    private readonly index: number,
    /** The endpoint before the present one; null for the first. */
    readonly previous: Target | null,
    /** The error of the worst failure until now; null: none. */
    private readonly worst: CallersError | null,
    /** A failure has left one more to try. */
    private readonly hasNextOnce: boolean,
  ) {}

  static of<Target extends ServingTarget>(targets: readonly Target[]): RemainingEndpoints<Target> {
    return new RemainingEndpoints(targets, targets.length, 0, null, null, false);
  }

  /** The present endpoint. Throws `unavailable` for an empty route. */
  get target(): Target {
    const target = this.targets[this.index];
    if (!target) throw new AppError('unavailable', { detail: 'no endpoint is left' });
    return target;
  }

  get isLast(): boolean {
    return this.index + 1 >= this.targets.length;
  }

  /** Whether to wait for a permit of the present endpoint: no other one is left that could have a free one. */
  get mayWait(): boolean {
    return this.isLast || this.index >= this.routeLength;
  }

  /** When the present endpoint's credential may not be used. Throws the caller's error at the last endpoint. */
  skip(credentials: CallCredentials): RemainingEndpoints<Target> {
    if (this.isLast) throw this.worst?.error ?? credentials.passedOverError(this.target);
    return this.moveTo(this.index + 1, this.targets, this.worst);
  }

  /** When the present endpoint has failed. Throws the caller's error when no other endpoint may help. */
  after(failure: EndpointFailure, credentials: CallCredentials): RemainingEndpoints<Target> {
    const worst = this.worstWith(failure, credentials);
    const isOnce = failure.consequences.next === 'once';
    const next = isOnce && this.hasNextOnce ? null : this.indexAfter(failure);
    if (this.isLast || next === null) throw worst.error;
    // An endpoint without a free permit is able to serve: it is waited for when no other one serves.
    return failure.failureClass === 'saturated'
      ? this.moveTo(next, [...this.targets, this.target], this.worst)
      : this.moveTo(next, this.targets, worst, this.hasNextOnce || isOnce);
  }

  private worstWith(failure: EndpointFailure, credentials: CallCredentials): CallersError {
    const withdrawn = credentials.withdrawnError(failure, this.target);
    // Any other failure explains more: then not all endpoints are gone.
    const rank = withdrawn ? 0 : failure.consequences.rank;
    if (this.worst !== null && outranks(this.worst, { rank })) return this.worst;
    return { error: withdrawn ?? credentials.errorOf(failure, this.target), rank };
  }

  /** Null: no other endpoint may help. */
  private indexAfter({ consequences, providerCode }: EndpointFailure): number | null {
    if (consequences.next !== false) return this.index + 1;
    if (!OF_MODEL.test(providerCode ?? '')) return null;
    const { model } = this.target;
    const other = this.targets.findIndex((target, at) => at > this.index && target.model !== model);
    return other === -1 ? null : other;
  }

  private moveTo(
    index: number,
    targets: readonly Target[],
    worst: CallersError | null,
    hasNextOnce = this.hasNextOnce,
  ): RemainingEndpoints<Target> {
    return new RemainingEndpoints(targets, this.routeLength, index, this.target, worst, hasNextOnce);
  }
}
