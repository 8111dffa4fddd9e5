// The cause of a failed call in words, and the next step: by its error type, and where that has several causes by its
// status and by the last provider's.
import type { Generation } from '../../api/generations';

export interface Cause {
  readonly cause: string;
  readonly advice: string;
}

/** For the column and the filter of the list. */
export const ERROR_NAMES: Readonly<Record<string, string>> = {
  invalid_request: 'Wrong request',
  context_length_exceeded: 'Prompt too long',
  payload_too_large: 'Too large',
  not_found: 'No provider for it',
  payment_required: 'Not paid',
  permission_denied: 'Not permitted',
  rate_limit_exceeded: 'Rate limit',
  provider_overloaded: 'Provider overloaded',
  provider_unavailable: 'Provider failed',
  timeout: 'Timed out',
  client_closed_request: 'Caller left',
  server: 'Fault of signalbox',
};

export const nameOfError = (type: string): string => ERROR_NAMES[type] ?? type;

type Attempt = NonNullable<Generation['provider_responses']>[number];
type Failed = Pick<Generation, 'status' | 'error_type' | 'provider_name'>;

const CAUSES: Readonly<Record<string, Cause>> = {
  invalid_request: {
    cause: 'A member of the request is wrong, or no endpoint of the model supports it.',
    advice: 'Correct the member, or choose another model.',
  },
  context_length_exceeded: {
    cause: 'The prompt is longer than the model takes.',
    advice: 'Send fewer or shorter inputs, or choose a model with a longer context.',
  },
  payload_too_large: {
    cause: 'The call is larger than any endpoint takes.',
    advice: 'Send fewer or shorter inputs.',
  },
  not_found: {
    cause: 'No configured provider serves the model.',
    advice: 'Check the model id, or configure a provider.',
  },
  payment_required: {
    cause: 'The key has reached its limit, or an account has no credits.',
    advice: 'Raise the limit of the key, or buy credits.',
  },
  permission_denied: {
    cause: 'A budget of the workspace is spent.',
    advice: 'Raise the budget, or wait until it resets.',
  },
  rate_limit_exceeded: {
    cause: 'The provider limits the rate of calls.',
    advice: 'Retry later, or add another provider.',
  },
  provider_overloaded: {
    cause: 'The provider is overloaded.',
    advice: 'Retry later, or add another provider.',
  },
  provider_unavailable: {
    cause: 'No endpoint could take the call just now.',
    advice: 'Retry shortly.',
  },
  timeout: { cause: 'The call ran past its deadline.', advice: 'Send fewer inputs in a call.' },
  client_closed_request: {
    cause: 'The caller left before an answer began.',
    advice: 'The tokens that the provider bills are charged.',
  },
  server: {
    cause: 'The service itself failed.',
    advice: 'The log of the service has the request id below.',
  },
};

const PROVIDER_TIMEOUT = 524;
const BAD_GATEWAY = 502;

/** `attempts`: the calls to providers, in their order; null: they are not known. */
export function causeOf(failed: Failed, attempts: readonly Attempt[] | null): Cause {
  const { status, error_type: type, provider_name: provider } = failed;
  if (attempts?.length !== 0 && provider !== null) {
    const ofProvider = causeAtProvider(failed, attempts?.at(-1), provider);
    if (ofProvider !== null) return ofProvider;
  }
  return (
    CAUSES[type ?? ''] ?? {
      cause: `The call failed with status ${status}.`,
      advice: 'See the attempts below.',
    }
  );
}

function causeAtProvider(
  { status, error_type: type }: Failed,
  last: Attempt | undefined,
  provider: string,
): Cause | null {
  if (type === 'invalid_request')
    return {
      cause: `${provider} refused the request.`,
      advice: 'Correct the request, or choose another model.',
    };
  if (status === PROVIDER_TIMEOUT)
    return { cause: `${provider} did not answer in time.`, advice: 'Retry, or add another provider.' };
  if (status !== BAD_GATEWAY) return null;
  if (last === undefined)
    return {
      cause: `${provider} failed or refused its key.`,
      advice: 'The page of the call has the attempts.',
    };
  if (last.status === null)
    return {
      cause: `${provider} could not be reached, or broke off its answer.`,
      advice: 'Check the address of the provider and the network.',
    };
  if (last.status === 401 || last.status === 403)
    return { cause: `${provider} refused its key.`, advice: 'Replace or test the key of the provider.' };
  if (last.status === 402)
    return { cause: `The account at ${provider} has no money.`, advice: 'Pay it, or add another provider.' };
  return last.status >= 400
    ? { cause: `${provider} failed with status ${last.status}.`, advice: 'Retry, or add another provider.' }
    : { cause: `${provider} gave an answer that cannot be used.`, advice: 'Retry, or add another provider.' };
}
