// The reasons of refused calls in words, and what helps.
import type { RefusalReason } from '../../api/refusals';

interface ReasonWords {
  readonly name: string;
  readonly advice: string;
}

export const REASONS: Readonly<Record<RefusalReason, ReasonWords>> = {
  key_limit: {
    name: 'Limit of the key',
    advice: 'Raise the limit, or set max_tokens: a chat without it reserves the longest answer of its model.',
  },
  workspace_limit: {
    name: 'Budget of the workspace',
    advice:
      'Raise the budget, or set max_tokens: a chat without it reserves the longest answer of its model.',
  },
  account_limit: {
    name: 'Credits of the account',
    advice: 'Add credits, or set max_tokens: a chat without it reserves the longest answer of its model.',
  },
  rate: {
    name: 'Too many requests',
    advice: 'Spread the calls of the key, and wait as long as Retry-After says.',
  },
  permission: {
    name: 'Not permitted',
    advice: 'Call with an inference key, and leave an endpoint in the provider preferences.',
  },
  guardrail: {
    name: 'Guardrail',
    advice: 'A rule of the workspace refuses such calls, or the limit of a guardrail is reached.',
  },
  validation: { name: 'Wrong request', advice: 'Correct the member or the model that the message names.' },
};
