// The beginning and the end of a call whose parts endpoints serve.
import { Cancellation } from '../../concurrency/cancellation.js';
import { toAppError } from '../../domain/errors.js';
import type { CallCredentials } from '../credentials/call-credentials.js';
import { passedOverKeys } from '../credentials/passed-over-keys.js';
import type { ServingTarget } from '../endpoint-target.js';
import { NO_RETRY } from '../failures/caller-error.js';
import type { RoutedCall, Run, SliceAnswer, SliceOperation } from '../routed-call.js';
import { MAX_RETRY_DELAY } from './retry-policy.js';

/** `deadline`: performance.now() */
export function beginRun<Target extends ServingTarget, Answer extends SliceAnswer>(
  operation: SliceOperation<Target, Answer>,
  { accountId, targets }: { readonly accountId: string; readonly targets: readonly Target[] },
  credentials: CallCredentials,
  deadline: number,
): Run<Target, Answer> {
  return {
    owner: { accountId },
    operation,
    targets,
    deadline,
    ending: new Cancellation(),
    cancellation: new Cancellation(),
    failures: [],
    attempts: [],
    served: [],
    wasted: [],
    credentials,
    hasRetried: false,
    maxRetryDelay: MAX_RETRY_DELAY,
  };
}

/** The outcome of a run; `failure` undefined: every input was served. */
export function endRun<Target extends ServingTarget, Answer extends SliceAnswer>(
  run: Run<Target, Answer>,
  failure?: unknown,
): RoutedCall<Target, Answer> {
  let error = failure === undefined ? null : toAppError(failure);
  // Retries of clients would multiply those of this service.
  if (error && run.hasRetried) error = error.withHeaders(NO_RETRY);
  const served = run.served.toSorted((one, other) => one.start - other.start);
  return { served, wasted: run.wasted, attempts: run.attempts, passedOver: passedOverKeys(run), error };
}
