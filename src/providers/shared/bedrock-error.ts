// Reads the errors of Bedrock, whose names are in a header and more precise than their statuses.
import type { FailureKind, ProviderError, UpstreamResponse } from './provider.js';
import { errorText, parseErrorBody } from './wire.js';

const KINDS: Readonly<Record<string, FailureKind>> = {
  ThrottlingException: 'overloaded',
  TooManyRequestsException: 'overloaded',
  // 400: a quota of the account is temporarily used up.
  ServiceQuotaExceededException: 'overloaded',
  ServiceUnavailableException: 'overloaded',
  // 429: the model is still loading.
  ModelNotReadyException: 'overloaded',
  // 408.
  ModelTimeoutException: 'timeout',
  AccessDeniedException: 'credential',
  UnrecognizedClientException: 'credential',
  ExpiredTokenException: 'credential',
  InvalidSignatureException: 'credential',
  IncompleteSignatureException: 'credential',
  MissingAuthenticationTokenException: 'credential',
  ValidationException: 'refused',
  ResourceNotFoundException: 'failed',
  // 424.
  ModelErrorException: 'failed',
  InternalServerException: 'failed',
};
// Validation errors that only the operator can fix: a wrong model id, or a model that needs an inference profile here.
const ABOUT_THE_MODEL = /model identifier|on-demand throughput|model ID/i;

export function readBedrockError(response: UpstreamResponse): ProviderError {
  const body = parseErrorBody(response);
  const message = [body['message'], body['Message']].find((found) => typeof found === 'string');
  const code = nameOf(response, body['__type']);
  const kind = code === null ? undefined : KINDS[code];
  const isAboutModel = kind === 'refused' && typeof message === 'string' && ABOUT_THE_MODEL.test(message);
  return {
    message: typeof message === 'string' ? message : errorText(response),
    code,
    ...(kind ? { kind: isAboutModel ? 'failed' : kind } : {}),
  };
}

/** `ThrottlingException:http://...` in the header, `com.amazon.coral.service#ThrottlingException` in the body. */
function nameOf({ headers }: UpstreamResponse, type: unknown): string | null {
  const text = headers['x-amzn-errortype'] ?? type;
  return typeof text === 'string' ? text.replace(/:.*$/s, '').replace(/^.*#/s, '') : null;
}
