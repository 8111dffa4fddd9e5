// The cause of a failed call in one sentence, and the next step: by the class of its error, else by its status.
import type { Generation } from '../../api/generations';

interface Cause {
  readonly cause: string;
  readonly advice: string;
}

const CAUSES: Readonly<Record<string | number, Cause>> = {
  context_length_exceeded: {
    cause: 'The prompt is longer than the model takes.',
    advice: 'Send fewer or shorter inputs, or choose a model with a longer context.',
  },
  400: {
    cause: 'A member of the request is wrong, or no endpoint of the model supports it.',
    advice: 'The response to the caller names the member.',
  },
  402: {
    cause: 'The key has reached its limit, or the account has no credits.',
    advice: 'Raise the limit of the key, or buy credits.',
  },
  403: { cause: 'A budget of the workspace is spent.', advice: 'Raise the budget, or wait until it resets.' },
  404: {
    cause: 'No configured provider serves the model.',
    advice: 'Check the model id, or configure a provider.',
  },
  408: { cause: 'The call ran past its deadline.', advice: 'Send fewer inputs in a call.' },
  413: { cause: 'The call is larger than any endpoint takes.', advice: 'Send fewer or shorter inputs.' },
  429: { cause: 'The provider limits the rate of calls.', advice: 'Retry later, or add another provider.' },
  499: {
    cause: 'The caller left before an answer began.',
    advice: 'The tokens that the provider bills are charged.',
  },
  502: {
    cause: 'The provider failed or refused its key.',
    advice: 'Check the attempts below and the key of the provider.',
  },
  503: { cause: 'No endpoint could take the call just now.', advice: 'Retry shortly.' },
  524: { cause: 'The provider did not answer in time.', advice: 'Retry, or add another provider.' },
  529: { cause: 'The provider is overloaded.', advice: 'Retry later, or add another provider.' },
};

type Failed = Pick<Generation, 'status' | 'error_type' | 'provider_name'>;

/** `attempts` is the number of calls to providers. */
export function causeOf(
  { status, error_type: type, provider_name: provider }: Failed,
  attempts: number,
): Cause {
  const known = CAUSES[type ?? status] ?? CAUSES[status];
  if (known === undefined)
    return { cause: `The call failed with status ${status}.`, advice: 'See the attempts below.' };
  return known === CAUSES[400] && attempts > 0 && provider !== null
    ? {
        cause: `${provider} refused the request.`,
        advice:
          "The response to the caller has the provider's reason; the content below has it while it is stored.",
      }
    : known;
}
