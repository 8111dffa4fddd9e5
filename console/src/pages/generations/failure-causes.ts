// The cause of a failed call in one sentence, and the next step, by its status.

interface Cause {
  readonly cause: string;
  readonly advice: string;
}

const CAUSES: Readonly<Record<number, Cause>> = {
  400: { cause: 'The request was refused.', advice: 'Correct the member that the message names.' },
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

export function causeOf(status: number): Cause {
  return (
    CAUSES[status] ?? { cause: `The call failed with status ${status}.`, advice: 'See the attempts below.' }
  );
}
