// Helpers for the shipped chat models: prices and the parameters that wires share.
//
// Sources, read 2026-11-27: the lists of Portkey (commit f654307e), LiteLLM (00035b69), models.dev (f3fc6922) and genai-prices
// (47df840a), OpenRouter's list of 2026-08-01, and the documentation of OpenAI, Mistral, Cohere, Together and DeepInfra. The
// vendor decides. Where the lists differ, the price is the highest that is not outdated, the context the shortest, and an
// effort or parameter is in all of them.
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

/** A row of one list, Portkey's unless said otherwise. */
export function listedChatPrices(listed: ListedPrices, source = PORTKEY_PRICES): readonly DatedChatPrices[] {
  return [{ effectiveFrom: '2026-08-21', source, ...chatPrices(listed) }];
}

export const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'];
export const TOOL_PARAMETERS = ['tools', 'tool_choice'];
export const FORMAT_PARAMETERS = ['response_format', 'structured_outputs'];
export const REASONING_PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'];
export const REASONING_WITHOUT_EFFORTS = ['reasoning', 'include_reasoning'];
export const SAMPLING_PARAMETERS = ['temperature', 'top_p', 'stop', 'seed'];
export const PENALTY_PARAMETERS = ['frequency_penalty', 'presence_penalty'];
