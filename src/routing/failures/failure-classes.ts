// The classes of provider failures, and the only place that decides what follows from each (docs/contract.md#routing).
import { ruleOf } from '../../domain/ending.js';
import type { ErrorCode, Payer } from '../../domain/errors.js';

export interface FailureConsequences {
  /** Whether the next endpoint is tried. `once`: after the first failure of this class only. */
  readonly next: boolean | 'once';
  /** Repeats at the same endpoint when no other one is left: none, one, or `PROVIDER_RETRIES`. */
  readonly repeat: 'never' | 'once' | 'configured';
  /**
   * The circuit that it counts against: the endpoint's, the credential's, or the credential's at this endpoint only (of
   * the operator's credential for this account only).
   */
  readonly circuit: 'none' | 'endpoint' | 'credential' | 'credential_here';
  /** The caller's error when no endpoint is left. */
  readonly error: ErrorCode;
  /** The caller's error instead, where an own provider key was used. */
  readonly ownKeyError?: ErrorCode;
  /** Pays the parts of the call that were served before. */
  readonly payer: Payer;
  /** Whether the same request can succeed later without a change by anyone: clients must not repeat others. */
  readonly passes: boolean;
  /** When several endpoints fail, a failure of the highest rank becomes the caller's error: it explains most. */
  readonly rank: number;
  /** The provider's words may repeat a part of the credential: they stay here. */
  readonly hidesWords?: true;
}

/** An endpoint that could have taken the input. */
export const HIGHEST_RANK = 2;

const PROVIDER_FAULT = { next: true, circuit: 'endpoint', payer: 'operator', rank: HIGHEST_RANK } as const;
const CALLERS_FAULT = {
  next: false,
  repeat: 'never',
  circuit: 'none',
  payer: 'caller',
  passes: false,
  rank: HIGHEST_RANK,
} as const;
const ABOUT_THIS_INPUT = { ...CALLERS_FAULT, next: true, rank: 1 } as const;
const OPERATORS_FAULT = {
  ...PROVIDER_FAULT,
  repeat: 'never',
  passes: false,
  error: 'provider_error',
} as const;
const CREDENTIALS_FAULT = { ...OPERATORS_FAULT, hidesWords: true } as const;

export const FAILURE_CLASSES = {
  /** Not sent: this provider cannot do what the request needs. */
  unsupported: { ...ABOUT_THIS_INPUT, rank: 0, error: 'invalid_request' },
  /** The request itself is wrong: another endpoint would answer the same. */
  refused: { ...CALLERS_FAULT, error: 'provider_refused' },
  /** An input is longer than the context of this endpoint. */
  context_length: { ...ABOUT_THIS_INPUT, error: 'provider_context_length' },
  /** The call is larger than this endpoint takes: bytes, inputs or tokens of a batch. */
  too_large: { ...ABOUT_THIS_INPUT, error: 'provider_too_large' },
  /** The model breaks on this input, every time: no outage for others. */
  input: { ...OPERATORS_FAULT, circuit: 'none' },
  /** An answer whose defect may come of this call's inputs or unknown members. */
  unusable: { ...PROVIDER_FAULT, repeat: 'once', circuit: 'none', passes: true, error: 'provider_error' },
  /** An answer without the promised form. */
  broken: { ...PROVIDER_FAULT, repeat: 'once', passes: true, error: 'provider_error' },
  /** This endpoint cannot serve the model: gone, unknown, not deployed, not sold in this location. */
  endpoint: OPERATORS_FAULT,
  /** No embeddings API is at the address that the operator has configured. */
  address: OPERATORS_FAULT,
  /** The provider refuses the credential. */
  credential: { ...CREDENTIALS_FAULT, circuit: 'credential' },
  /** The provider refuses the credential for this model or this request. */
  forbidden: { ...CREDENTIALS_FAULT, circuit: 'credential_here' },
  /** The account of the credential has no money, or no billing. */
  account: { ...CREDENTIALS_FAULT, circuit: 'credential', ownKeyError: 'own_account_exhausted' },
  rate_limited: {
    ...PROVIDER_FAULT,
    repeat: 'configured',
    passes: true,
    error: 'provider_rate_limited',
  },
  overloaded: { ...PROVIDER_FAULT, repeat: 'configured', passes: true, error: 'provider_overloaded' },
  /** Not sent: all permits of the endpoint are in use. */
  saturated: {
    ...PROVIDER_FAULT,
    repeat: 'never',
    circuit: 'none',
    passes: true,
    error: 'provider_overloaded',
  },
  /** No repeat: it has cost the caller enough time already. */
  timeout: { ...PROVIDER_FAULT, repeat: 'never', passes: true, error: 'provider_timeout' },
  /** No answer in the time of this service. The provider may work and bill on: clients must not send it there again. */
  own_timeout: {
    ...PROVIDER_FAULT,
    next: ruleOf('own_timeout').next,
    repeat: 'never',
    passes: false,
    error: 'provider_timeout',
  },
  /** Anything else, the connection included. */
  failed: { ...PROVIDER_FAULT, repeat: 'configured', passes: true, error: 'provider_error' },
} as const satisfies Record<string, FailureConsequences>;

export type FailureClass = keyof typeof FAILURE_CLASSES;

/**
 * A class with its evidence. Words may repeat a caller's text, so they never close an endpoint or a credential to other
 * accounts; statuses and codes may.
 */
export interface FailureFinding {
  readonly failureClass: FailureClass;
  readonly isByWords: boolean;
}

export function consequencesOf({ failureClass, isByWords }: FailureFinding): FailureConsequences {
  const consequences: FailureConsequences = FAILURE_CLASSES[failureClass];
  if (!isByWords) return consequences;
  const { circuit } = consequences;
  if (circuit === 'endpoint') return { ...consequences, circuit: 'none' };
  return circuit === 'credential' ? { ...consequences, circuit: 'credential_here' } : consequences;
}
