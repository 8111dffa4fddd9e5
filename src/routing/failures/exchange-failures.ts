// From the end of one exchange with a provider to an EndpointFailure.
import type { EndFacts } from '../../domain/ending.js';
import type { NativeError } from '../../domain/errors.js';
import { retryAfterOf } from '../../domain/retry-after.js';
import {
  ConnectTimeout,
  OutboundFailure,
  OutboundTimeout,
  OversizedAnswer,
} from '../../outbound/http-client.js';
import { OversizedWhenUnpacked } from '../../outbound/exchange/decompress.js';
import { BrokenAnswer, UnsupportedRequest, UnusableVector } from '../../providers/shared/provider.js';
import type {
  HttpProvider,
  ProviderError,
  ReportedUsage,
  UpstreamResponse,
} from '../../providers/shared/provider.js';
import { asObject, parseErrorBody } from '../../providers/shared/wire.js';
import { EndpointFailure } from './endpoint-failure.js';
import { classifyError, classifyTransport } from './failure-rules.js';
import { withoutInnerNames } from './provider-words.js';
import type { InnerNames } from './provider-words.js';

/** The failure that a response with a status outside of 2xx reports. */
export function failureOfResponse(
  provider: Pick<HttpProvider, 'readError'>,
  response: UpstreamResponse,
  names: InnerNames,
  now: Date,
  native: NativeError | null = null,
): EndpointFailure {
  const error = withHeaderDelay(provider.readError(response), response, now);
  return failureOfError(response.status, response.status, error, names, null, native);
}

/** The failure of a 2xx response without usable vectors. `hasUnknownMembers`: the caller's members may be the reason. */
export function failureOfAnswer(
  provider: Pick<HttpProvider, 'readError' | 'readUsage'>,
  response: UpstreamResponse,
  defect: BrokenAnswer,
  names: InnerNames,
  { now, hasUnknownMembers }: { readonly now: Date; readonly hasUnknownMembers: boolean },
): EndpointFailure {
  const usage = usageIn(provider, response);
  if (isErrorBody(response)) {
    const error = withHeaderDelay(provider.readError(response), response, now);
    return failureOfError(error.status ?? response.status, error.status, error, names, usage);
  }
  return failureOfDefect(defect, usage, hasUnknownMembers);
}

/** The failure of an answer that was computed here, or that has vectors and breaks the invariant. */
export function failureOfDefect(
  defect: BrokenAnswer,
  usage: ReportedUsage | null,
  hasUnknownMembers: boolean,
): EndpointFailure {
  const failureClass = hasUnknownMembers || defect instanceof UnusableVector ? 'unusable' : 'broken';
  return new EndpointFailure(failureClass, null, defect.message, { usage, cause: defect });
}

/** The failure of a request that was not sent or not answered; anything else is returned unchanged. */
export function failureOfThrown(thrown: unknown, names: InnerNames): unknown {
  if (thrown instanceof UnsupportedRequest)
    return new EndpointFailure('unsupported', null, withoutInnerNames(thrown.message, names), {
      unsupported: { at: thrown.at, rule: withoutInnerNames(thrown.rule, names) },
    });
  if (thrown instanceof BrokenAnswer) return failureOfDefect(thrown, null, false);
  if (!(thrown instanceof OutboundTimeout || thrown instanceof OutboundFailure)) return thrown;
  const { failureClass } = isOwnTimeout(thrown)
    ? { failureClass: 'own_timeout' as const }
    : classifyTransport(thrown.message, thrown instanceof OutboundTimeout);
  const message = `the connection failed: ${withoutInnerNames(thrown.message, names)}`;
  return new EndpointFailure(failureClass, null, message, { code: null, cause: thrown });
}

/** The limit of this service that has ended an exchange; null: none. */
export function ownLimitOf(thrown: unknown): EndFacts['limit'] {
  const reason = thrown instanceof EndpointFailure ? thrown.cause : thrown;
  if (reason instanceof OversizedAnswer || reason instanceof OversizedWhenUnpacked) return 'bound';
  return isOwnTimeout(reason) ? 'timeout' : null;
}

/** Without a connection nothing was sent, and the provider does not work. */
function isOwnTimeout(reason: unknown): boolean {
  return reason instanceof OutboundTimeout && !(reason instanceof ConnectTimeout);
}

/** Null where an answer reports none. */
export function reportedUsage({
  promptTokens,
  totalTokens,
  tokensByModality,
  searchUnits,
}: ReportedUsage): ReportedUsage | null {
  if (promptTokens === null && totalTokens === null && searchUnits === undefined) return null;
  // Without the vectors: failures are logged.
  return {
    promptTokens,
    totalTokens,
    ...(tokensByModality === undefined ? {} : { tokensByModality }),
    ...(searchUnits === undefined ? {} : { searchUnits }),
  };
}

/** The failure that a response states in its body; `statedStatus`: its own, not that of the response. */
export function failureOfError(
  status: number,
  statedStatus: number | null,
  error: ProviderError,
  names: InnerNames,
  usage: ReportedUsage | null,
  native: NativeError | null = null,
): EndpointFailure {
  const { failureClass, isByWords } = classifyError(statedStatus, error);
  const code = error.code ?? error.type;
  return new EndpointFailure(failureClass, status, withoutInnerNames(error.message, names), {
    code: code === null ? null : withoutInnerNames(code, names),
    retryAfter: error.retryAfter ?? null,
    isByWords,
    usage,
    refusedMember: error.unsupportedMember,
    native,
  });
}

function withHeaderDelay(error: ProviderError, { headers }: UpstreamResponse, now: Date): ProviderError {
  const retryAfter = error.retryAfter ?? retryAfterOf(headers, now);
  return retryAfter === null ? error : { ...error, retryAfter };
}

/** Some upstreams, and proxies before them, answer 200 and put the failure into the body. */
function isErrorBody(response: UpstreamResponse): boolean {
  const body = parseErrorBody(response);
  const has = (name: string): boolean => Boolean(body[name]);
  if (has('error') || has('errors')) return true;
  const hasAnswer = ['data', 'embeddings', 'embedding', 'results', 'scores'].some(
    (name) => asObject(body)[name] !== undefined,
  );
  return !hasAnswer && ['detail', 'message', 'Message', '__type'].some(has);
}

function usageIn(
  provider: Pick<HttpProvider, 'readUsage'>,
  response: UpstreamResponse,
): ReportedUsage | null {
  try {
    return reportedUsage(provider.readUsage(response));
  } catch (error) {
    // A body that is cut or no JSON reports nothing.
    if (error instanceof BrokenAnswer) return null;
    throw error;
  }
}
