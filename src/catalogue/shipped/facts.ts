// What the shipped models are written with: the makers of prices, and what is known of the providers' handling of data.
import { parseUsdPerMillion } from '../../domain/spend/money.js';
import type { DataPolicy, DatedPrice } from '../catalogue-model.js';

export const RETRIEVAL_TYPES = ['search_query', 'search_document'] as const;
export const TYPES_WITHOUT_SIMILARITY = [...RETRIEVAL_TYPES, 'classification', 'clustering'] as const;

export const PORTKEY_PRICES = 'Price list of Portkey, github.com/Portkey-AI/models, read 2026-08-21';

/** One price, from a day on; that is the day of the source where the vendor's own is not known. */
export function usdPerMillion(amount: string, effectiveFrom: string, source: string): readonly DatedPrice[] {
  return [{ effectiveFrom, perToken: parseUsdPerMillion(amount), source }];
}

/** Read in Portkey's list. */
export function listedAt(amount: string): readonly DatedPrice[] {
  return usdPerMillion(amount, '2026-08-21', PORTKEY_PRICES);
}

/** No source was found. Calls that count toward a limit are not sent there, but through own provider keys. */
export const UNPRICED: readonly DatedPrice[] = [];

/**
 * Inputs are kept for a time against abuse and never trained on. Sources, 2026-08: OpenAI "Your data", Microsoft "Data,
 * privacy, and security", Google "Gemini API terms" for paid use, Mistral's commercial terms, AWS "Data retention" for
 * Bedrock.
 */
export const KEPT_NOT_TRAINED_ON: DataPolicy = { retainsPrompts: true, trains: false };

/** No source was found: the worse is taken for true, so that nobody's refusal of it is passed over. */
export const POLICY_NOT_KNOWN: DataPolicy = { retainsPrompts: true, trains: true };
