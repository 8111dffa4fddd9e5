// The parts of the cost of a call: the tokens of each class at the price of the call.
import type { Generation } from '../../api/generations';

export interface CostPart {
  readonly label: string;
  readonly tokens: number;
  /** USD; null: no price is known. */
  readonly amount: number | null;
  /** USD for one token; null: none is known, or the amount has more than tokens. */
  readonly price: number | null;
}

type Part = NonNullable<Generation['cost_parts']>[number]['part'];

const LABELS: Readonly<Record<Part, string>> = {
  prompt: 'Prompt',
  cached: 'Prompt, read from the cache',
  cache_write: 'Prompt, written to the cache',
  cache_write_1h: 'Prompt, written for an hour',
  completion: 'Answer',
  reasoning: 'Answer, reasoning',
};
/** Of the APIs whose caches live for five minutes or an hour. */
const SHORT_LIVED = 'Prompt, written for 5 minutes';
const TIMED_CACHES: ReadonlySet<string | null> = new Set(['messages', 'converse']);

export function costParts(generation: Generation): readonly CostPart[] {
  const { cost_parts: parts, provider_wire: wire } = generation;
  if (parts === null) return inputPart(generation);
  return parts.map(({ part, tokens, cost }) => ({
    label: part === 'cache_write' && TIMED_CACHES.has(wire) ? SHORT_LIVED : LABELS[part],
    tokens,
    amount: cost,
    price: part === 'prompt' && hasMedia(generation) ? null : priceOf(tokens, cost),
  }));
}

export function hasMedia({ num_media_prompt: media, num_input_audio_prompt: audio }: Generation): boolean {
  return (media ?? 0) + (audio ?? 0) > 0;
}

function inputPart({
  usage,
  is_byok: isByok,
  upstream_inference_cost: upstream,
  tokens_prompt: tokens,
  search_units: units,
}: Generation) {
  // The price of a search unit is none of tokens.
  if (tokens === null || tokens === 0 || units !== null) return [];
  const amount = isByok || upstream === null ? upstream : usage;
  return [{ label: 'Input', tokens, amount, price: priceOf(tokens, amount) }];
}

const priceOf = (tokens: number, amount: number | null): number | null =>
  amount === null || tokens === 0 ? null : amount / tokens;
