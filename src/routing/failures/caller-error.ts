// The caller's error for a provider's failure (docs/contract.md#errors).
import { deprecationHeaders, mayBeGone } from '../../domain/deprecation.js';
import { AppError } from '../../domain/errors.js';
import { boundedText } from '../../domain/text/bounded-text.js';
import type { AppErrorOptions } from '../../domain/errors.js';
import type { ServingTarget } from '../endpoint-target.js';
import { addressProblem } from './address-problem.js';
import { errorTypeOfCode } from './error-types.js';
import { FAILURE_CLASSES } from './failure-classes.js';
import type { FailureClass, FailureConsequences } from './failure-classes.js';
import { passesNatively } from './native-error.js';
import type { EndpointFailure, UnsupportedMember } from './endpoint-failure.js';
import { inOneLine, withoutMarkup } from './provider-words.js';

// Longer texts help no reader, and a provider may echo the input.
const MAX_MESSAGE_LENGTH = 300;
const MAX_RAW_LENGTH = 1_000;
const MAX_CODE_LENGTH = 100;
/** A body that says nothing. */
const WORDLESS = /^[\s{}[\]"]*$|^null$/i;
/** Seconds. `openai` obeys no longer delay. */
const LONGEST_RETRY_AFTER = 59;

const REMEDY = 'check it at the provider, or replace it with PATCH /byok/{id}';

/** Requests that clients do not repeat the call: `openai` obeys. */
export const NO_RETRY = { 'x-should-retry': 'false' } as const;

/** The deadline of the call: a repeat would meet it again. */
export function deadlineError(cause?: unknown): AppError {
  return new AppError('operation_timeout', { cause, headers: NO_RETRY });
}

/** The caller's error for the last failure. */
export function toCallerError(failure: EndpointFailure, target: ServingTarget): AppError {
  const { consequences, failureClass, unsupported, retryAfter } = failure;
  const isUnsent = failureClass === 'unsupported';
  const raw = withoutMarkup(failure.message);
  const hasRaw = !isUnsent && consequences.hidesWords !== true && raw !== '';
  const problem = unsupported && { ...errorPosition(unsupported.at), detail: unsupported.rule };
  return new AppError(codeOf(consequences, target), {
    ...(problem ?? { detail: detailOf(failure, target) }),
    metadata: {
      ...describe(target, failureClass),
      ...(hasRaw ? { raw: boundedText(raw, MAX_RAW_LENGTH) } : {}),
      ...(failure.providerCode === null
        ? {}
        : { provider_code: boundedText(failure.providerCode, MAX_CODE_LENGTH) }),
      ...(retryAfter === null ? {} : { retry_after_seconds: retryAfterSeconds(retryAfter) }),
    },
    headers: {
      ...(retryAfter === null ? {} : { 'Retry-After': String(retryAfterSeconds(retryAfter)) }),
      ...(consequences.passes ? {} : NO_RETRY),
    },
    // Only of a request that the provider refuses: other codes are about its own state.
    ...(consequences.error === 'provider_refused' && { errorType: errorTypeOfCode(failure.providerCode) }),
    native: passesNatively(failureClass) ? failure.native : null,
    payer: consequences.payer,
    isQuoted: true,
    cause: failure,
  });
}

/** The caller's error where no endpoint has the model any more. Null: that is not expected yet, or the failure says otherwise. */
export function withdrawnError(
  { failureClass, consequences }: EndpointFailure,
  { model }: ServingTarget,
  day: string,
): AppError | null {
  if (failureClass !== 'endpoint' || !mayBeGone(model, day)) return null;
  const successor = model.successor === undefined ? '' : `; successor: ${model.successor}`;
  return new AppError('not_found', {
    detail: `${model.id} has been withdrawn${successor}`,
    headers: { ...deprecationHeaders(model), ...NO_RETRY },
    payer: consequences.payer,
  });
}

/** The caller's error where every credential that is left rests after a refusal. `rest`: seconds. */
export function openCircuitError(target: ServingTarget, rest: number, failureClass: FailureClass): AppError {
  const consequences: FailureConsequences = FAILURE_CLASSES[failureClass];
  const isOwn = target.credential !== null;
  const remedy = isOwn && failureClass !== 'account' ? `; ${REMEDY}` : '';
  return new AppError(codeOf(consequences, target), {
    detail: `${describeRefusal(failureClass, target)}, which is retried in ${rest} s${remedy}`,
    metadata: describe(target, failureClass),
    headers: { 'Retry-After': String(retryAfterSeconds(rest)) },
    payer: consequences.payer,
  });
}

/** The caller's error for the last refusal of several own keys, after which no other one is tried. */
export function tooManyRejections(failure: EndpointFailure, target: ServingTarget, count: number): AppError {
  return new AppError(codeOf(failure.consequences, target), {
    detail: `providers refused ${count} own keys of the workspace, and a call tries no more than ${count}; ${REMEDY}`,
    metadata: describe(target, failure.failureClass),
    headers: NO_RETRY,
    payer: failure.consequences.payer,
    cause: failure,
  });
}

function errorPosition(
  at: UnsupportedMember['at'],
): Pick<AppErrorOptions, 'member' | 'inputIndex' | 'inputPath'> {
  return typeof at === 'string' ? { member: at } : { inputIndex: at.index, inputPath: at.path };
}

function codeOf({ error, ownKeyError }: FailureConsequences, { credential }: ServingTarget) {
  return credential === null ? error : (ownKeyError ?? error);
}

function describe(
  { provider, credential }: ServingTarget,
  failureClass: FailureClass,
): Record<string, unknown> {
  return {
    provider_name: provider.name,
    ...(credential === null ? {} : { is_byok: true }),
    ...(credential !== null && failureClass === 'account' ? { limit_source: 'provider_account' } : {}),
  };
}

function detailOf({ failureClass, status, message }: EndpointFailure, target: ServingTarget): string {
  const { provider, credential } = target;
  switch (failureClass) {
    case 'unsupported':
      return message;
    case 'timeout':
    case 'own_timeout':
      return `${provider.name} did not answer in time`;
    case 'saturated':
      return `too many calls to ${provider.name} are in flight here`;
    case 'address':
      return addressProblem(target, status, message).text;
    case 'credential':
    case 'forbidden':
    case 'account': {
      const remedy = credential !== null && failureClass !== 'account' ? `; ${REMEDY}` : '';
      return `${describeRefusal(failureClass, target)}${remedy}`;
    }
    default: {
      const line = inOneLine(message);
      return WORDLESS.test(line)
        ? `${provider.name} answered with HTTP ${status}`
        : boundedText(line, MAX_MESSAGE_LENGTH);
    }
  }
}

function describeRefusal(failureClass: FailureClass, { provider, credential }: ServingTarget): string {
  if (failureClass === 'account' && credential !== null)
    return `your provider account at ${provider.name} is used up or without billing; ${provider.name} refused the workspace's own key`;
  const owner = credential === null ? "the operator's credential" : "the workspace's own key";
  return `${provider.name} refused ${owner}`;
}

function retryAfterSeconds(seconds: number): number {
  return Math.min(LONGEST_RETRY_AFTER, Math.max(1, Math.ceil(seconds)));
}
