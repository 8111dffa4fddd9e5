// Why a call to a model ended, decided once, and what follows for money, health, routing and clients
// (docs/contract.md#endings).
import type { UnpaidReason } from './spend/charge.js';

interface EndingRule {
  readonly cause: 'completed' | 'provider' | 'caller' | 'service';
  /** Whether the caller pays for the answer as far as it came, within the reservation. */
  readonly isCharged: boolean;
  /** Where the provider reports no usage: whether its work is counted or estimated. */
  readonly isCounted: boolean;
  /** The reason under which the operator pays what the caller does not. */
  readonly unpaid: UnpaidReason;
  /** The outcome that it is for the endpoint's health. A failure class may say less (failure-classes.ts). */
  readonly health: 'success' | 'failure' | 'none';
  /** Whether another endpoint is tried. `once`: only after the first end of this kind. */
  readonly next: boolean | 'once';
}

const UNPAID = { isCharged: false, isCounted: true, health: 'none', next: false } as const;
const PAID = {
  isCharged: true,
  isCounted: true,
  unpaid: 'failed_call',
  health: 'none',
  next: false,
} as const;

export const ENDINGS = {
  /** The whole answer came. Nothing after its last finish reason changes that. */
  completed: { ...PAID, cause: 'completed', health: 'success' },
  provider_before_content: {
    ...UNPAID,
    cause: 'provider',
    isCounted: false,
    unpaid: 'failed_call',
    health: 'failure',
    next: true,
  },
  provider_after_content: { ...UNPAID, cause: 'provider', unpaid: 'failed_call', health: 'failure' },
  caller_left: { ...PAID, cause: 'caller' },
  /** It took less than the least pace, or the provider lost patience while the stream waited for it. */
  caller_too_slow: { ...PAID, cause: 'caller' },
  /** The deadline of the call came in the middle of its content. */
  caller_deadline: { ...PAID, cause: 'caller' },
  /** Bytes, event size, tool calls or choices: the request chooses them. */
  own_bound: { ...PAID, cause: 'service' },
  /** No headers, no first content or no whole answer in the time of this service. */
  own_timeout: { ...UNPAID, cause: 'service', unpaid: 'ended_here', health: 'failure', next: 'once' },
  /** The deadline of the call came before any content. */
  own_deadline: { ...UNPAID, cause: 'service', unpaid: 'ended_here' },
  shutdown_before_content: { ...UNPAID, cause: 'service', unpaid: 'ended_here' },
  shutdown: { ...PAID, cause: 'service' },
  /** The money that was reserved for the call has lapsed. */
  lapse_before_content: { ...UNPAID, cause: 'service', unpaid: 'ended_here' },
  lapse: { ...PAID, cause: 'service' },
  /** The whole answer came, without a stream, and its caller read that it could not be recorded. */
  not_recorded: { ...UNPAID, cause: 'service', unpaid: 'failed_call' },
} as const satisfies Record<string, EndingRule>;

export type Ending = keyof typeof ENDINGS;

export function ruleOf(ending: Ending): EndingRule {
  return ENDINGS[ending];
}

export type CallerGone = 'left' | 'too_slow';
/** The end of a call from outside of its exchange. */
export type CallStop = 'deadline' | 'shutdown' | 'lapse';

export interface EndFacts {
  /** The first content has come. */
  readonly hasContent: boolean;
  /** Every choice has its finish reason. */
  readonly isComplete: boolean;
  /** Null: the caller is still there. */
  readonly caller: CallerGone | null;
  readonly stop: CallStop | null;
  /** A limit of this service ended the exchange. */
  readonly limit: 'bound' | 'timeout' | null;
}

/** The first end counts: a caller that left reads no failure, and one that has the whole answer meets none. */
export function endingOf({ hasContent, isComplete, caller, stop, limit }: EndFacts): Ending {
  if (caller !== null) return caller === 'left' ? 'caller_left' : 'caller_too_slow';
  if (isComplete) return 'completed';
  if (stop === 'shutdown') return hasContent ? 'shutdown' : 'shutdown_before_content';
  if (stop === 'lapse') return hasContent ? 'lapse' : 'lapse_before_content';
  if (stop === 'deadline') return hasContent ? 'caller_deadline' : 'own_deadline';
  if (limit === 'bound') return 'own_bound';
  if (hasContent) return 'provider_after_content';
  return limit === 'timeout' ? 'own_timeout' : 'provider_before_content';
}
