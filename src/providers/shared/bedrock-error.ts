// Reads the errors of Bedrock, whose names are in a header and more precise than their statuses.
import type { ProviderError, UpstreamResponse } from './provider.js';
import { errorText, parseErrorBody, statedStatus } from './wire.js';

export function readBedrockError(response: UpstreamResponse): ProviderError {
  const body = parseErrorBody(response);
  const message = [body['message'], body['Message']].find((found) => typeof found === 'string');
  return {
    message: typeof message === 'string' ? message : errorText(response),
    code: nameOf(response, body['__type']),
    type: null,
    status: statedStatus(body),
  };
}

/** `ThrottlingException:http://...` in the header, `com.amazon.coral.service#ThrottlingException` in the body. */
function nameOf({ headers }: UpstreamResponse, type: unknown): string | null {
  const text = headers['x-amzn-errortype'] ?? type;
  return typeof text === 'string' ? text.replace(/:.*$/s, '').replace(/^.*#/s, '') : null;
}
