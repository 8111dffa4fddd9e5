// The parts of the cost of a call: tokens of each kind at the price of the endpoint that served it.
import type { Generation } from '../../api/generations';
import type { ModelEndpoint } from '../../api/providers';

export interface CostPart {
  readonly label: string;
  readonly tokens: number;
  /** USD for one token; null: the prices of the day of the call are not those of today. */
  readonly price: number | null;
}

type Pricing = ModelEndpoint['pricing'];

// The service stores twelve decimals.
const EPSILON = 1e-12;

/**
 * With prices when those of an endpoint of the provider, which are today's, give the cost of the call. Prices of the day of
 * the call may have differed.
 */
export function costParts(
  generation: Generation,
  endpoints: readonly Pick<ModelEndpoint, 'provider_name' | 'pricing'>[],
): readonly CostPart[] {
  const cost = generation.usage + (generation.overrun ?? 0);
  const candidates = endpoints
    .filter(({ provider_name: name }) => name === generation.provider_name)
    .map(({ pricing }) => pricedParts(generation, pricing));
  return (
    candidates.find((parts) => Math.abs(sumOf(parts) - cost) < EPSILON) ?? pricedParts(generation, null)
  ).filter(({ tokens }) => tokens > 0);
}

export const sumOf = (parts: readonly CostPart[]): number =>
  parts.reduce((sum, { tokens, price }) => sum + tokens * (price ?? 0), 0);

function pricedParts(generation: Generation, pricing: Pricing | null): readonly CostPart[] {
  const { tokens_prompt: prompt, tokens_completion: completion, api_type: operation } = generation;
  const cached = generation.native_tokens_cached ?? 0;
  const written = generation.native_tokens_cache_write ?? 0;
  const reasoning = generation.native_tokens_reasoning ?? 0;
  const at = (price: string | undefined, fallback?: string): number | null =>
    pricing === null ? null : Number(price ?? fallback ?? 0);
  const isChat = operation === 'completions';
  return [
    {
      label: isChat ? 'Prompt' : 'Input',
      tokens: (prompt ?? 0) - cached - written,
      price: at(pricing?.prompt),
    },
    { label: 'Prompt, cached', tokens: cached, price: at(pricing?.input_cache_read, pricing?.prompt) },
    {
      label: 'Prompt, written to the cache',
      tokens: written,
      price: at(pricing?.input_cache_write, pricing?.prompt),
    },
    { label: 'Answer', tokens: (completion ?? 0) - reasoning, price: at(pricing?.completion) },
    {
      label: 'Answer, reasoning',
      tokens: reasoning,
      price: at(pricing?.internal_reasoning, pricing?.completion),
    },
  ];
}
