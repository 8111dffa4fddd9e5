// The limits above a key, and those of its guardrails, as a statement reads them.
import { parseUsd } from '../../domain/spend/money.js';
import type { SharedLimits, SpendLimitWindow, SpentLimit } from '../../domain/spend/spend-limit.js';
import { readSpend } from './spend-row.js';
import type { SpendJson } from './spend-row.js';

/** Amounts are texts, since numbers of JSON are floating-point. */
export interface SharedLimitsJson {
  readonly includeByok: boolean;
  /** Null: there are none, and the spend of the workspace was not read. */
  readonly budgets: readonly { readonly interval: string; readonly limit: string }[] | null;
  readonly spend: SpendJson | null;
  readonly credits: string | null;
  readonly creditsSpent: string | null;
}

/** Of the guardrails of a key; null: none. */
export type GuardrailLimitsJson =
  | readonly {
      readonly interval: string;
      readonly limit: string;
      readonly includeByok: boolean;
      readonly spend: SpendJson | null;
    }[]
  | null;

const WINDOWS = { daily: 'daily', weekly: 'weekly', monthly: 'monthly', lifetime: 'total' } as const;

export function windowOf(interval: string): SpendLimitWindow['window'] {
  return WINDOWS[interval as keyof typeof WINDOWS];
}

/** With the spend in the windows of `now`. */
export function readGuardrailLimits(limits: GuardrailLimitsJson, now: Date): readonly SpentLimit[] {
  return (limits ?? []).map(({ interval, limit, includeByok, spend }) => ({
    window: windowOf(interval),
    limit: parseUsd(limit),
    includeByok,
    spend: readSpend(spend, now),
  }));
}

/** With the spend of the workspace in the windows of `now`. */
export function readSharedLimits(limits: SharedLimitsJson, now: Date): SharedLimits {
  const { includeByok, budgets, spend, credits, creditsSpent } = limits;
  return {
    budgets: (budgets ?? []).map(({ interval, limit }) => ({
      window: windowOf(interval),
      limit: parseUsd(limit),
      includeByok,
    })),
    workspaceSpend: readSpend(spend, now),
    credits: { bought: credits === null ? null : parseUsd(credits), spent: parseUsd(creditsSpent ?? '0') },
  };
}
