// One call on its way through routing, and its outcome.
import type { Cancellation } from '../concurrency/cancellation.js';
import type { EmbeddingInput } from '../domain/embeddings/embedding.js';
import type { PassedOverKey } from '../domain/providers/routing-metadata.js';
import type { AppError } from '../domain/errors.js';
import type { GenerationAttempt } from '../domain/generations/generation.js';
import type { UnpaidReason } from '../domain/spend/charge.js';
import type { ProviderAnswer, ReportedUsage } from '../providers/shared/provider.js';
import type { Slice } from './call-splitter.js';
import type { CallCredentials } from './credentials/call-credentials.js';
import type { PermitOwner } from './endpoints/endpoint-permits.js';
import type { CallLimits } from './endpoints/endpoint-caller.js';
import type { EndpointTarget, ServingTarget } from './endpoint-target.js';
import type { EndpointFailure } from './failures/endpoint-failure.js';

/** A part of the call with the usage that an endpoint reports for it. */
export interface BilledSlice<Target extends ServingTarget = EndpointTarget> extends Slice, ReportedUsage {
  readonly target: Target;
}

export interface WastedSlice<Target extends ServingTarget = EndpointTarget> extends BilledSlice<Target> {
  /** Absent: the answer was broken. */
  readonly reason?: UnpaidReason;
}

/** The members of every answer to a part of a call. */
export interface SliceAnswer extends ReportedUsage {
  readonly upstreamId: string | null;
}

/** A served part of the call. */
export type ServedSlice<
  Target extends ServingTarget = EndpointTarget,
  Answer extends SliceAnswer = ProviderAnswer,
> = BilledSlice<Target> &
  Answer & {
    /** Names of unknown members that the endpoint did not get; absent: none. */
    readonly droppedMembers?: readonly string[];
    /** Served in an earlier call that failed without a charge: the record of that call has the provider's bill. */
    readonly isKept?: true;
  };

export interface RoutedCall<
  Target extends ServingTarget = EndpointTarget,
  Answer extends SliceAnswer = ProviderAnswer,
> {
  /**
   * In the order of the inputs. For a failed call: the slices that were served, and that the provider charges for.
   */
  readonly served: readonly ServedSlice<Target, Answer>[];
  /** Slices that providers charge for without a usable result. */
  readonly wasted: readonly WastedSlice<Target>[];
  readonly attempts: readonly GenerationAttempt[];
  /** Own provider keys that the operator's credential replaced; mostly none. */
  readonly passedOver: readonly PassedOverKey[];
  /** Null when every input was served. */
  readonly error: AppError | null;
}

/** The outcome where no provider was called. */
export const NOTHING_ROUTED: RoutedCall = {
  served: [],
  wasted: [],
  attempts: [],
  passedOver: [],
  error: null,
};

/** The outcome of a call whose inputs were routed in two parts. */
export function joinRouted(one: RoutedCall, other: RoutedCall): RoutedCall {
  return {
    served: [...one.served, ...other.served],
    wasted: [...one.wasted, ...other.wasted],
    attempts: [...one.attempts, ...other.attempts],
    passedOver: [...one.passedOver, ...other.passedOver],
    error: one.error ?? other.error,
  };
}

/** A call of any operation while it tries endpoints. */
export interface AttemptingCall {
  /** A separate object: permits of endpoints must not keep the vectors of a call alive. */
  readonly owner: PermitOwner;
  /** performance.now() */
  readonly deadline: number;
  /** Ends its waits, and starts no further attempt. */
  readonly ending: Cancellation;
  readonly attempts: GenerationAttempt[];
}

/** A call of any operation while it falls back from one endpoint to the next. */
export interface FallbackCall extends Pick<AttemptingCall, 'deadline' | 'ending'> {
  readonly credentials: CallCredentials;
  /** A request was sent more than once, to one endpoint or to several. */
  hasRetried: boolean;
  /** Milliseconds; a failure with a longer delay is not repeated. */
  maxRetryDelay: number;
  /** Whether the endpoint may receive the same request again; absent: after each failure of a class that passes. */
  readonly isRepeatable?: (failure: EndpointFailure) => boolean;
}

/** How an operation has a part of a call served by one endpoint. */
export interface SliceOperation<Target extends ServingTarget, Answer extends SliceAnswer> {
  /** Also the name of the spans of its attempts. */
  readonly name: 'embeddings' | 'rerank';
  /** Names of the caller's unknown members that the endpoint does not get. */
  droppedMembers(target: Target): readonly string[];
  /** Throws EndpointFailure. */
  send(target: Target, input: EmbeddingInput, limits: CallLimits): Promise<Answer>;
}

/** The state of one call whose parts endpoints serve. */
export interface Run<
  Target extends ServingTarget = EndpointTarget,
  Answer extends SliceAnswer = ProviderAnswer,
>
  extends AttemptingCall, FallbackCall {
  readonly operation: SliceOperation<Target, Answer>;
  readonly targets: readonly Target[];
  /** Ends waiting slices and starts no new one, because a slice has failed. Slices in flight may still be served. */
  readonly ending: Cancellation;
  /** Ends what is in flight as well. */
  readonly cancellation: Cancellation;
  /** The failures of the call in order of time: the first ended it, and cancelled slices follow. */
  readonly failures: unknown[];
  readonly served: ServedSlice<Target, Answer>[];
  readonly wasted: WastedSlice<Target>[];
}
