// Helpers for the shipped models: prices, and the providers' data policies.
import type { DataPolicy } from '../../domain/data-policy.js';
import { parseUsdPerMillion } from '../../domain/spend/money.js';
import type { DatedPrice } from '../catalogue-model.js';

export const RETRIEVAL_TYPES = ['search_query', 'search_document'] as const;
export const TYPES_WITHOUT_SIMILARITY = [...RETRIEVAL_TYPES, 'classification', 'clustering'] as const;

export const PORTKEY_PRICES = 'Price list of Portkey, github.com/Portkey-AI/models, read 2026-08-21';

/** One price from a day on; the day of the source if the vendor's own day is unknown. */
export function usdPerMillion(amount: string, effectiveFrom: string, source: string): readonly DatedPrice[] {
  return [{ effectiveFrom, perToken: parseUsdPerMillion(amount), source }];
}

/** A price from Portkey's list. */
export function listedAt(amount: string): readonly DatedPrice[] {
  return usdPerMillion(amount, '2026-08-21', PORTKEY_PRICES);
}

/** No source was found. Calls that count towards a limit use such endpoints through own provider keys only. */
export const UNPRICED: readonly DatedPrice[] = [];

/**
 * Inputs are kept for a time against abuse, and never used for training. Sources, 2026-08: OpenAI "Your data",
 * Microsoft "Data, privacy, and security", Google "Gemini API terms" for paid use, Mistral's commercial terms, AWS
 * "Data retention" for Bedrock.
 */
export const KEPT_NOT_TRAINED_ON: DataPolicy = { retainsPrompts: true, trains: false };

/** No source was found: the worst case is assumed, so that no caller's data policy is violated. */
export const POLICY_NOT_KNOWN: DataPolicy = { retainsPrompts: true, trains: true };
