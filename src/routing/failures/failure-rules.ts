// From a provider's response or a transport error to the class of the failure. Codes are more precise than words, and words
// more precise than the status.
import type { ProviderError } from '../../providers/shared/provider.js';
import { isAccountProblem, wordsClass } from './failure-words.js';
import type { FailureClass, FailureFinding } from './failure-classes.js';

/** Codes and types of providers that hold with any status, in lower case. */
const CODES = mapOf({
  // OpenAI, Azure and servers with their wire.
  insufficient_quota: 'account',
  billing_not_active: 'account',
  billing_hard_limit_reached: 'account',
  insufficient_balance: 'account',
  account_deactivated: 'credential',
  invalid_api_key: 'credential',
  incorrect_api_key: 'credential',
  authentication_error: 'credential',
  model_not_found: 'endpoint',
  model_not_available: 'endpoint',
  model_deprecated: 'endpoint',
  unknown_model: 'endpoint',
  invalid_model: 'endpoint',
  deploymentnotfound: 'endpoint',
  operationnotsupported: 'endpoint',
  unsupported_country_region_territory: 'endpoint',
  context_length_exceeded: 'context_length',
  exceed_context_size_error: 'context_length',
  max_tokens_per_request: 'too_large',
  // Google.
  api_key_invalid: 'credential',
  api_key_expired: 'credential',
  // 400: the country of the server, or an account without billing.
  failed_precondition: 'endpoint',
  // Its words are those of a used-up account at OpenAI.
  resource_exhausted: 'rate_limited',
  cancelled: 'failed',
  // Bedrock.
  throttlingexception: 'rate_limited',
  toomanyrequestsexception: 'rate_limited',
  // 400: a quota of the account is used up for the moment.
  servicequotaexceededexception: 'rate_limited',
  serviceunavailableexception: 'overloaded',
  // 429: the model is still loading.
  modelnotreadyexception: 'overloaded',
  modeltimeoutexception: 'timeout',
  accessdeniedexception: 'forbidden',
  unrecognizedclientexception: 'credential',
  expiredtokenexception: 'credential',
  invalidsignatureexception: 'credential',
  incompletesignatureexception: 'credential',
  missingauthenticationtokenexception: 'credential',
  resourcenotfoundexception: 'endpoint',
  unknownoperationexception: 'address',
  modelerrorexception: 'failed',
  internalserverexception: 'failed',
});

/** Codes that repeat their status: they decide where there is none, in the body of a success. */
const CODES_WITHOUT_STATUS = mapOf({
  rate_limit_exceeded: 'rate_limited',
  rate_limit_error: 'rate_limited',
  rate_limited: 'rate_limited',
  too_many_requests: 'rate_limited',
  overloaded: 'overloaded',
  overloaded_error: 'overloaded',
  server_overloaded: 'overloaded',
  service_unavailable: 'overloaded',
  unavailable: 'overloaded',
  timeout: 'timeout',
  timeout_error: 'timeout',
  deadline_exceeded: 'timeout',
  invalid_request_error: 'refused',
  invalid_request: 'refused',
  invalid_argument: 'refused',
  validationexception: 'refused',
  validation: 'refused',
  permission_error: 'forbidden',
  permission_denied: 'forbidden',
  unauthenticated: 'credential',
  unauthorized: 'credential',
  not_found: 'endpoint',
  not_found_error: 'endpoint',
});

const STATUSES: Readonly<Record<number, FailureClass>> = {
  400: 'refused',
  401: 'credential',
  402: 'account',
  403: 'forbidden',
  404: 'endpoint',
  405: 'address',
  408: 'timeout',
  413: 'too_large',
  422: 'refused',
  // A server whose model behind it failed.
  424: 'failed',
  429: 'rate_limited',
  // An invalid token, and a request that was cancelled.
  498: 'credential',
  499: 'failed',
  501: 'endpoint',
  503: 'overloaded',
  504: 'timeout',
  505: 'endpoint',
  522: 'timeout',
  524: 'timeout',
  529: 'overloaded',
};

/** The class of a response that is no success. `status` is the body's own one for an error inside a success. */
export function classifyError(status: number | null, error: ProviderError): FailureFinding {
  const codes = [error.code, error.type].flatMap((code) => code?.toLowerCase() ?? []);
  const byCode = codes.map((code) => CODES.get(code)).find((found) => found !== undefined);
  if (byCode !== undefined) return known(byCode);
  // A limit that says when it ends is no used-up account, whatever its words are.
  const mayBeAccount = error.retryAfter === undefined;
  if (status === 429 && mayBeAccount && isAccountProblem(error.message)) return byWords('account');
  // One call that is larger than the limit of a whole minute.
  if (status === 429 && /^request too large\b/i.test(error.message)) return byWords('too_large');
  const found = mayHaveWords(status) ? wordsClass(error.message, status) : null;
  if (found !== null) return byWords(found);
  if (status === 404 && !isAboutModel(error.message)) return known('address');
  if (status !== null) return known(classOfStatus(status));
  const byOwnCode = codes.map((code) => CODES_WITHOUT_STATUS.get(code)).find((other) => other !== undefined);
  return known(byOwnCode ?? 'failed');
}

/** The class of an exchange without a response. `code` is the system's or the library's. */
export function classifyTransport(code: string | null, isTimeout: boolean): FailureFinding {
  if (isTimeout) return known('timeout');
  return known(code !== null && WRONG_ADDRESS.test(code) ? 'address' : 'failed');
}

/** A certificate that does not hold, or a port that does not speak TLS: no repeat can help. */
const WRONG_ADDRESS = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/;

const known = (failureClass: FailureClass): FailureFinding => ({ failureClass, isByWords: false });
const byWords = (failureClass: FailureClass): FailureFinding => ({ failureClass, isByWords: true });

/** A 404 about a model comes from an API. Any other one comes from a server that has no such path. */
function isAboutModel(message: string): boolean {
  return /model|deployment/i.test(message) || wordsClass(message, 404) === 'endpoint';
}

/** Statuses that say less than the words beside them. */
function mayHaveWords(status: number | null): boolean {
  return status === null || [400, 413, 422, 424].includes(status) || (status >= 500 && status !== 503);
}

function classOfStatus(status: number): FailureClass {
  if (status < 400) return 'address';
  // Anything else that a 4xx says is about the address, the headers or the model, which are not the caller's.
  return STATUSES[status] ?? (status < 500 ? 'endpoint' : 'failed');
}

/** A provider chooses the code: the names of an object's own members, such as `constructor`, must find nothing. */
function mapOf(classes: Readonly<Record<string, FailureClass>>): ReadonlyMap<string, FailureClass> {
  return new Map(Object.entries(classes));
}
