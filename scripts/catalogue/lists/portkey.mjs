// Portkey's price list (github.com/Portkey-AI/models, MIT): the files of its folder `pricing`, as one object by name of file. US cents
// for one token. Its zeros mean "none" as often as "free", and are not read.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PROVIDERS = {
  anthropic: 'anthropic',
  'azure-openai': 'azure',
  bedrock: 'bedrock',
  cohere: 'cohere',
  deepinfra: 'deepinfra',
  google: 'google',
  jina: 'jina',
  'mistral-ai': 'mistral',
  nomic: 'nomic',
  openai: 'openai',
  'together-ai': 'together',
  'vertex-ai': 'vertex',
};
const SERVICE_TIERS = new Set(['flex', 'priority']);
const AMOUNTS = {
  request_token: 'prompt',
  response_token: 'completion',
  cache_read_input_token: 'cache_read',
  cache_write_input_token: 'cache_write',
  request_audio_token: 'audio_input',
  response_audio_token: 'audio_output',
};

/** Google's names have the length of the prompt behind them: `gemini-3.7-flash-lte-128k`, `gemini-3.7-flash-gt-128k`. */
const LENGTH = /^(?:(.+)-)?(lte|gt)-(\d+)k$/;

export const portkey = {
  name: 'Portkey',
  shift: 4,
  anchors: [
    ['openai', 'gpt-4o', { prompt: '2.5', completion: '10' }],
    ['openai', 'text-embedding-3-large', { prompt: '0.13' }],
    ['google', 'gemini-2.5-flash', { prompt: '0.3', completion: '2.5' }],
  ],

  /** A folder of one file for each provider. */
  load(path) {
    if (!statSync(path).isDirectory()) return undefined;
    const files = readdirSync(path).filter((name) => name.endsWith('.json'));
    return Object.fromEntries(
      files.map((name) => [
        name.slice(0, -'.json'.length),
        JSON.parse(readFileSync(join(path, name), 'utf8')),
      ]),
    );
  },

  *rows(files) {
    for (const [file, models] of Object.entries(files)) {
      const provider = PROVIDERS[file];
      if (provider === undefined) continue;
      for (const [name, entry] of Object.entries(models)) {
        const [, named, side, thousands] = LENGTH.exec(name) ?? [];
        if (name === 'default' || side === 'gt') continue;
        const longer = named && models[`${named}-gt-${thousands}k`];
        const prices = pricesOf(entry, longer && { above: Number(thousands) * 1000, entry: longer });
        yield {
          provider,
          model: named ?? name,
          prices: prices.amounts.prompt ? [{ from: null, ...prices }] : [],
        };
      }
    }
  },
};

function pricesOf({ pricing_config: config, custom_pricing: custom }, longer) {
  const { standard, ...modes } = custom?.regions?.default?.execution_modes ?? {};
  const listed = standard?.context_tiers ? tieredPrices(standard) : listedPrices(config);
  if (longer) addTier(listed, longer.above, listedPrices(longer.entry.pricing_config).amounts);
  const named = Object.entries(modes).filter(([name]) => SERVICE_TIERS.has(name));
  return {
    ...listed,
    serviceTiers: Object.fromEntries(
      named
        .map(([name, mode]) => [
          name,
          mode.context_tiers ? tieredPrices(mode) : listedPrices(mode.pricing_config),
        ])
        .filter(([, { amounts }]) => amounts.prompt && amounts.completion),
    ),
  };
}

function tieredPrices({ context_tiers: lengths }) {
  const prices = { amounts: {}, tiers: [] };
  for (const [length, { pricing_config: config }] of Object.entries(lengths)) {
    const [, , side, thousands] = LENGTH.exec(length) ?? [];
    if (side === 'gt') addTier(prices, Number(thousands) * 1000, amountsOf(config));
    else prices.amounts = amountsOf(config);
  }
  return prices;
}

function listedPrices(config) {
  return { amounts: amountsOf(config), tiers: [] };
}

/** A longer prompt at the same prices is no tier. */
function addTier(prices, above, amounts) {
  const differs = Object.entries(amounts).some(([name, price]) => price !== prices.amounts[name]);
  if (differs) prices.tiers.push({ above, amounts });
}

function amountsOf(config) {
  const rates = config?.pay_as_you_go ?? {};
  return Object.fromEntries(
    Object.entries(AMOUNTS).flatMap(([from, to]) => {
      const price = rates[from]?.price;
      return typeof price === 'number' && price > 0 ? [[to, price]] : [];
    }),
  );
}
