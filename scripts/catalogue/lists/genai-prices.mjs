// genai-prices (github.com/pydantic/genai-prices, MIT): the file `dist/index.js` of its npm package, or `prices/data.json` of the
// repository. USD for a million tokens. Its tiers begin above their `start`, as ours do.
import { pathToFileURL } from 'node:url';
import { groupByTier } from './tiers.mjs';

const PROVIDERS = {
  anthropic: 'anthropic',
  aws: 'bedrock',
  azure: 'azure',
  cohere: 'cohere',
  google: 'google',
  mistral: 'mistral',
  openai: 'openai',
  together: 'together',
  voyageai: 'voyage',
};
const AMOUNTS = {
  input_mtok: 'prompt',
  output_mtok: 'completion',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  input_audio_mtok: 'audio_input',
  cache_audio_read_mtok: 'audio_input_cached',
  output_audio_mtok: 'audio_output',
};

export const genaiPrices = {
  name: 'genai-prices',
  isDated: true,
  shift: 0,
  anchors: [
    ['openai', 'gpt-4o', { prompt: '2.5', completion: '10' }],
    ['openai', 'text-embedding-3-large', { prompt: '0.13' }],
    ['google', 'gemini-2.5-flash', { prompt: '0.3', completion: '2.5' }],
  ],

  /** The package computes with its list and does not export it: it is asked provider by provider. */
  async load(path) {
    if (!path.endsWith('.js')) return undefined;
    const { findProvider } = await import(pathToFileURL(path).href);
    return Object.keys(PROVIDERS).flatMap((providerId) => findProvider({ providerId }) ?? []);
  },

  *rows(providers) {
    for (const { id, models } of providers) {
      const provider = PROVIDERS[id];
      if (provider === undefined) continue;
      for (const model of models)
        for (const name of exactNames(model))
          yield {
            provider,
            model: name,
            contextLength: model.context_window,
            prices: datedPrices(model.prices),
          };
    }
  },
};

/** Its patterns match families (`starts_with`, `contains`, `regex`): only names that it spells out count. */
function exactNames({ id, match }) {
  const names = new Set([id]);
  const add = (rule) => {
    if (typeof rule?.equals === 'string') names.add(rule.equals);
    for (const item of rule?.or ?? []) add(item);
  };
  add(match);
  return names;
}

/** Prices that hold at hours of the day have no place in a comparison of rows: the row is left out with its reason. */
function datedPrices(prices) {
  if (!Array.isArray(prices)) return [{ from: null, ...amountsOf(prices) }];
  return prices.map(({ constraint, prices: amounts }) => {
    const { type, start_date: from = null } = constraint ?? {};
    if (constraint && type !== 'start_date') return { problem: 'its prices depend on the hour of the day' };
    return { from, ...amountsOf(amounts) };
  });
}

function amountsOf(prices) {
  const rows = [];
  for (const [member, value] of Object.entries(prices)) {
    const name = AMOUNTS[member];
    // A price of tokens for another number of them is refused with its row, so that it never counts as 0.
    if (name === undefined && /_[a-z]?tok$/.test(member) && !member.endsWith('_mtok'))
      return { problem: `${member} has an unknown unit` };
    if (name === undefined || value === null) continue;
    rows.push([name, typeof value === 'object' ? value.base : value]);
    for (const { start, price } of value.tiers ?? []) rows.push([name, price, start]);
  }
  return groupByTier(rows);
}
