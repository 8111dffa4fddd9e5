// Errors of Google's APIs: one object, or a list of one. Reason and delay are in a list of details.
import type { ProviderError, UpstreamResponse } from '../upstream.js';
import { asObject, errorText, parseErrorBody, statedStatus } from '../wire.js';

export function readGoogleError(response: UpstreamResponse): ProviderError {
  const body = parseErrorBody(response);
  const error = asObject(body['error']);
  const details = (Array.isArray(error['details']) ? error['details'] : []).map(asObject);
  const reason = details.map((detail) => detail['reason']).find((found) => typeof found === 'string');
  const { message, status } = error;
  const name = typeof status === 'string' ? status : null;
  return {
    message: typeof message === 'string' ? message : errorText(response),
    code: typeof reason === 'string' ? reason : name,
    type: name,
    status: statedStatus(body),
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
