// Helpers for the shipped chat models: prices and the parameters that wires share.
//
// Sources. Prices: the list of Portkey, compared with LiteLLM's model_prices_and_context_window.json (commit 00035b69,
// read 2026-11-27) for OpenAI and Google; a price in which the two differ is left out, unless the vendor's own page was
// read. Context lengths, outputs and efforts: the same file of LiteLLM, and the models' own cards for open weights.
import type { ChatPrices, DatedChatPrices } from '../../../domain/chat/chat-model.js';
import { parseUsdPerMillion } from '../../../domain/spend/money.js';
import { PORTKEY_PRICES } from '../facts.js';

/** USD for a million tokens. */
export type ListedPrices = { readonly [Name in keyof ChatPrices]: string };

export const LITELLM_PRICES =
  'LiteLLM model_prices_and_context_window.json, commit 00035b69, read 2026-11-27';

export function chatPrices(listed: ListedPrices): ChatPrices {
  const prices = Object.entries(listed).map(([name, usd]) => [name, parseUsdPerMillion(usd)] as const);
  return Object.fromEntries(prices) as unknown as ChatPrices;
}

/** A row of Portkey's list. */
export function listedChatPrices(listed: ListedPrices): readonly DatedChatPrices[] {
  return [{ effectiveFrom: '2026-08-21', source: PORTKEY_PRICES, ...chatPrices(listed) }];
}

export const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'];
export const TOOL_PARAMETERS = ['tools', 'tool_choice'];
export const FORMAT_PARAMETERS = ['response_format', 'structured_outputs'];
export const REASONING_PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'];
export const SAMPLING_PARAMETERS = ['temperature', 'top_p', 'stop', 'seed'];
export const PENALTY_PARAMETERS = ['frequency_penalty', 'presence_penalty'];
