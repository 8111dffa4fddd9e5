// Spend limits: the owners and sums that a call is checked against before it is made.
import type { PicoUsd } from './money.js';
import type { SpendLease, SpendOwner, SpendOwnerKind } from './spend-lease.js';
import { NO_SPEND, spendTowardWindow, windowEnd } from './spend.js';
import type { AccountCredits, KeySpend, SpendLimit, WindowedSpend } from './spend.js';

export interface SpendLimitWindow {
  readonly window: keyof WindowedSpend;
  readonly limit: PicoUsd;
  readonly includeByok: boolean;
}

/** A limit with the spend that counts towards it. */
export interface SpentLimit extends SpendLimitWindow {
  readonly spend: KeySpend;
}

/** A call that did not fit a limit. */
export interface LimitShortfall {
  readonly owner: SpendOwner;
  /** The tightest limit; null: the limits have been lifted since. */
  readonly tightest: SpendLimitWindow | null;
  /** The maximum cost of the call. */
  readonly needed: PicoUsd;
  /** The remainder of the tightest limit. */
  readonly unspent: PicoUsd;
  /** Null: the limit does not reset. */
  readonly resetsAt: Date | null;
  /** Of a chat without a token limit: the longest answer that fits. Null: another call. */
  readonly affordableTokens: number | null;
}

/** A limit that refused a call, of those that budget alerts cover. */
export interface RefusingLimit
  extends Pick<SpendOwner, 'id' | 'workspaceId'>, Pick<SpendLimitWindow, 'window'> {
  readonly kind: Exclude<SpendOwnerKind, 'guardrail'>;
}

/** The wire's name of a window. */
export function limitWindowName({ window }: Pick<SpendLimitWindow, 'window'>): string {
  return window === 'total' ? 'lifetime' : window;
}

/** A part of a lease to release, by the settlement of its call or separately. */
export class SpendRelease {
  private isHandedOver = false;

  constructor(
    readonly lease: SpendLease,
    readonly amount: PicoUsd,
  ) {}

  /** From here on a statement may have released it. */
  handOver(): void {
    this.isHandedOver = true;
  }

  get wasHandedOver(): boolean {
    return this.isHandedOver;
  }
}

/** The maximum cost of a call. */
export interface SpendBound {
  readonly cost: PicoUsd;
  /** Including the cost through own provider keys. */
  readonly costWithByok: PicoUsd;
}

/** Whether calls of a key count towards a limit of the key, its guardrails, its workspace or its account. */
export interface SpendLimits {
  readonly isLimited: boolean;
  /** Whether calls through own provider keys count as well. */
  readonly includesByok: boolean;
}

export const NO_LIMITS: SpendLimits = { isLimited: false, includesByok: false };

/** The part of a bound that counts towards an owner's limits. */
export function amountToward(limits: readonly SpendLimitWindow[], bound: SpendBound): PicoUsd {
  return limits.some((limit) => limit.includeByok) ? bound.costWithByok : bound.cost;
}

/** The limits above a key: its workspace's budgets and its account's credits. */
export interface SharedLimits {
  readonly budgets: readonly SpendLimitWindow[];
  readonly workspaceSpend: KeySpend;
  readonly credits: AccountCredits;
}

/** The limit that stops a key first. */
export interface EffectiveLimit {
  readonly source: 'key' | 'guardrail' | 'workspace' | 'account';
  readonly window: keyof WindowedSpend;
  readonly limit: PicoUsd;
  readonly spent: PicoUsd;
  /** Null: the limit does not reset. */
  readonly resetsAt: Date | null;
}

/** A limit of a guardrail by itself. */
export function guardrailLimitOf({ spend, limit, ...window }: SpentLimit, now: Date): EffectiveLimit {
  return {
    source: 'guardrail',
    window: window.window,
    limit,
    spent: spendTowardWindow(spend, window),
    resetsAt: windowEnd(window.window, now),
  };
}

/** Whether one of the limits above the keys refuses their calls. */
export function isStopped(shared: SharedLimits, now: Date): boolean {
  const unlimited = { limit: null, limitReset: null, includeByokInLimit: false };
  const first = effectiveLimitOf(unlimited, NO_SPEND, shared, now);
  return first !== null && first.spent >= first.limit;
}

/**
 * Null: the key has no limit. Several reached limits refuse calls together: the one that resets last counts, and the key's own
 * of equals.
 */
export function effectiveLimitOf(
  own: SpendLimit,
  spend: KeySpend,
  { budgets, workspaceSpend, credits }: SharedLimits,
  now: Date,
  guardrails: readonly SpentLimit[] = [],
): EffectiveLimit | null {
  const windows = [
    ...(own.limit === null
      ? []
      : [
          {
            source: 'key' as const,
            of: spend,
            window: own.limitReset ?? ('total' as const),
            limit: own.limit,
            includeByok: own.includeByokInLimit,
          },
        ]),
    ...guardrails.map(({ spend: of, ...limit }) => ({ source: 'guardrail' as const, of, ...limit })),
    ...budgets.map((budget) => ({ source: 'workspace' as const, of: workspaceSpend, ...budget })),
  ];
  const limits: EffectiveLimit[] = windows.map(({ source, of, window, limit, includeByok }) => ({
    source,
    window,
    limit,
    spent: spendTowardWindow(of, { window, includeByok }),
    resetsAt: windowEnd(window, now),
  }));
  if (credits.bought !== null) {
    limits.push({
      source: 'account',
      window: 'total',
      limit: credits.bought,
      spent: credits.spent,
      resetsAt: null,
    });
  }
  const left = ({ limit, spent }: EffectiveLimit): PicoUsd => (spent < limit ? limit - spent : 0n);
  const reset = ({ resetsAt }: EffectiveLimit): number => resetsAt?.getTime() ?? Number.MAX_VALUE;
  const [first, ...others] = limits.toSorted((one, other) => Number(left(one) - left(other)));
  if (first === undefined || left(first) > 0n) return first ?? null;
  return others
    .filter((limit) => left(limit) === 0n)
    .reduce((latest, limit) => (reset(limit) > reset(latest) ? limit : latest), first);
}
