// Reads the errors of Google's APIs, which have their reason and delay in a list of details.
import type { ProviderError, UpstreamResponse } from './provider.js';
import { asObject, errorText, parseErrorBody } from './wire.js';

/** Reasons and statuses whose HTTP status is misleading. */
const KINDS: Readonly<Record<string, ProviderError['kind'] & string>> = {
  // 400.
  API_KEY_INVALID: 'credential',
  API_KEY_EXPIRED: 'credential',
  // 400: the country of the server, or an account without billing.
  FAILED_PRECONDITION: 'credential',
  RESOURCE_EXHAUSTED: 'overloaded',
  // 499.
  CANCELLED: 'failed',
};

export function readGoogleError(response: UpstreamResponse): ProviderError {
  const error = asObject(parseErrorBody(response)['error']);
  const details = (Array.isArray(error['details']) ? error['details'] : []).map(asObject);
  const reason = details.map((detail) => detail['reason']).find((found) => typeof found === 'string');
  const code = typeof reason === 'string' ? reason : error['status'];
  const kind = KINDS[String(reason)] ?? KINDS[String(error['status'])];
  return {
    message: typeof error['message'] === 'string' ? error['message'] : errorText(response),
    code: typeof code === 'string' ? code : null,
    ...(kind ? { kind } : {}),
    ...retryDelayOf(details),
  };
}

/** google.rpc.RetryInfo: seconds as "33s" or "1.5s". */
function retryDelayOf(
  details: readonly Readonly<Record<string, unknown>>[],
): Pick<ProviderError, 'retryAfter'> {
  const delay = details.map((detail) => detail['retryDelay']).find((found) => typeof found === 'string');
  const match = /^(\d+(?:\.\d+)?)s$/.exec(String(delay));
  return match ? { retryAfter: Number(match[1]) } : {};
}
