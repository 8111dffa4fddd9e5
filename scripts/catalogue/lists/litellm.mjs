// LiteLLM's price map (github.com/BerriAI/litellm, MIT): `model_prices_and_context_window.json`. USD for one token.
import { groupByTier } from './tiers.mjs';

const PROVIDERS = {
  anthropic: ['anthropic', ''],
  azure: ['azure', 'azure/'],
  bedrock: ['bedrock', ''],
  bedrock_converse: ['bedrock', ''],
  cohere: ['cohere', ''],
  cohere_chat: ['cohere', ''],
  deepinfra: ['deepinfra', 'deepinfra/'],
  gemini: ['google', 'gemini/'],
  mistral: ['mistral', 'mistral/'],
  openai: ['openai', ''],
  together_ai: ['together', 'together_ai/'],
  vertex_ai: ['vertex', 'vertex_ai/'],
  'vertex_ai-anthropic_models': ['vertex', 'vertex_ai/'],
  'vertex_ai-language-models': ['vertex', ''],
  voyage: ['voyage', 'voyage/'],
};
const AMOUNTS = {
  input_cost_per_token: 'prompt',
  output_cost_per_token: 'completion',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'audio_input',
  cache_read_input_token_cost_per_audio_token: 'audio_input_cached',
  output_cost_per_audio_token: 'audio_output',
};
const SERVICE_TIERS = ['flex', 'priority'];
const TIER = /^(.+)_above_(\d+)k_tokens$/;

export const litellm = {
  name: 'LiteLLM',
  shift: 6,
  anchors: [
    ['openai', 'gpt-4o', { prompt: '2.5', completion: '10' }],
    ['openai', 'text-embedding-3-large', { prompt: '0.13' }],
    ['google', 'gemini-2.5-flash', { prompt: '0.3', completion: '2.5' }],
  ],

  *rows(map) {
    for (const [key, entry] of Object.entries(map)) {
      const [provider, prefix] = PROVIDERS[entry.litellm_provider] ?? [];
      if (provider === undefined || !key.startsWith(prefix)) continue;
      yield {
        provider,
        model: key.slice(prefix.length),
        isDeprecated: isPast(entry.deprecation_date),
        contextLength: wholeNumber(entry.max_input_tokens),
        maxOutputTokens: wholeNumber(entry.max_output_tokens),
        prices: 'input_cost_per_token' in entry ? [{ from: null, ...pricesOf(entry) }] : [],
      };
    }
  },
};

function pricesOf(entry) {
  return {
    ...amountsOf(entry, ''),
    serviceTiers: Object.fromEntries(
      SERVICE_TIERS.flatMap((name) => {
        const prices = amountsOf(entry, `_${name}`);
        return 'prompt' in prices.amounts && 'completion' in prices.amounts ? [[name, prices]] : [];
      }),
    ),
  };
}

function amountsOf(entry, suffix) {
  return groupByTier(
    Object.entries(entry).flatMap(([member, value]) => {
      if (typeof value !== 'number' || !member.endsWith(suffix)) return [];
      const base = member.slice(0, member.length - suffix.length);
      const [, tiered, thousands] = TIER.exec(base) ?? [];
      const name = AMOUNTS[tiered ?? base];
      return name === undefined ? [] : [[name, value, thousands && Number(thousands) * 1000]];
    }),
  );
}

function wholeNumber(value) {
  return Number.isInteger(value) ? value : undefined;
}

function isPast(day) {
  return typeof day === 'string' && day < new Date().toISOString().slice(0, 10);
}
