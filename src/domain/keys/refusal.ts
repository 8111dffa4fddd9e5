// Calls that are refused before they become generations (docs/contract.md#refusals).
import type { AppError, ErrorCode } from '../errors.js';
import type { PicoUsd } from '../spend/money.js';
import type { SpendLimitWindow } from '../spend/spend-limit.js';

export const REFUSAL_REASONS = [
  'key_limit',
  'workspace_limit',
  'account_limit',
  'rate',
  'permission',
  'guardrail',
  'validation',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Stands for all keys of a workspace beyond the bound of an account. */
export const OTHER_KEYS = '00000000-0000-0000-0000-000000000000';

/** How many refusals of an account are kept one by one. */
export const NEWEST_REFUSALS = 100;

/** The refusals of one key for one reason within one minute. */
export interface RefusalCount {
  readonly workspaceId: string;
  /** Or OTHER_KEYS. */
  readonly apiKeyId: string;
  readonly reason: RefusalReason;
  readonly minute: Date;
  readonly refusals: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** One refused call. */
export interface Refusal {
  readonly id: string;
  readonly createdAt: Date;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly reason: RefusalReason;
  readonly requestId: string;
  readonly message: string;
  /** Null: no limit refused it. */
  readonly limit: RefusedByLimit | null;
}

/** Amounts of the limit that a refused call did not fit. */
export interface RefusedByLimit extends Pick<SpendLimitWindow, 'window' | 'limit'> {
  /** The maximum cost of the call. */
  readonly needed: PicoUsd;
  readonly left: PicoUsd;
  readonly resetsAt: Date | null;
  /** Of a chat without a token limit: the longest answer that would have fitted. Null: another call. */
  readonly affordableTokens: number | null;
}

/** The refusals of a key in the last day. */
export interface KeyRefusals {
  readonly lastHour: number;
  readonly lastDay: number;
  readonly since: Date;
  readonly lastAt: Date;
  readonly lastReason: RefusalReason;
}

const REASONS: Partial<Record<ErrorCode, RefusalReason>> = {
  // Without a shortfall it is the limit of unpaid bills.
  key_limit_exceeded: 'key_limit',
  rate_limit_exceeded: 'rate',
  management_key_needed: 'permission',
  management_key_refused: 'permission',
  forbidden: 'permission',
  no_allowed_providers: 'permission',
  guardrail_excluded: 'guardrail',
  guardrail_region: 'guardrail',
  guardrail_blocked: 'guardrail',
  invalid_request: 'validation',
  context_length_exceeded: 'validation',
  payload_too_large: 'validation',
  not_found: 'validation',
};

/** Null: the failed request is no refused call. Load shedding and faults are none, and a generation records its own failure. */
export function refusalReasonOf(
  error: AppError,
  { kind }: { readonly kind: 'management' | 'inference' },
  method: string,
): RefusalReason | null {
  if (error.generationId !== null) return null;
  const owner = error.shortfall?.owner;
  if (owner) return owner.kind === 'guardrail' ? 'guardrail' : `${owner.kind}_limit`;
  const reason = REASONS[error.code] ?? null;
  // Calls are POST requests of inference keys; a mistake in another request refuses no call.
  const isOfCall = kind === 'inference' && method === 'POST';
  return reason === 'validation' && !isOfCall ? null : reason;
}
