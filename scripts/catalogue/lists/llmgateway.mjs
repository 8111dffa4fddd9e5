// LLM Gateway's models (github.com/theopenco/llmgateway): `dist/index.js` of the npm package `@llmgateway/models`. USD for one token, as
// text. Its names of Bedrock lack the profile, which it chooses by region: they are not read.
import { pathToFileURL } from 'node:url';

const PROVIDERS = {
  anthropic: 'anthropic',
  azure: 'azure',
  deepinfra: 'deepinfra',
  'google-ai-studio': 'google',
  'google-vertex': 'vertex',
  mistral: 'mistral',
  openai: 'openai',
  'together-ai': 'together',
  'vertex-anthropic': 'vertex',
};
const AMOUNTS = {
  inputPrice: 'prompt',
  outputPrice: 'completion',
  cachedInputPrice: 'cache_read',
  cacheWriteInputPrice: 'cache_write',
  cacheWriteInputPrice1h: 'cache_write_1h',
};

export const llmgateway = {
  name: 'llmgateway',
  shift: 6,
  anchors: [
    ['openai', 'gpt-4o', { prompt: '2.5', completion: '10' }],
    ['mistral', 'mistral-large-2512', { prompt: '0.5', completion: '1.5' }],
    ['google', 'gemini-2.5-flash', { prompt: '0.3', completion: '2.5' }],
  ],

  async load(path) {
    if (!path.endsWith('.js')) return undefined;
    const { models } = await import(pathToFileURL(path).href);
    return models;
  },

  *rows(models) {
    const seen = new Set();
    for (const { releasedAt, deactivatedAt, providers } of models)
      for (const listed of providers) {
        const provider = PROVIDERS[listed.providerId];
        const name = `${provider} ${listed.externalId}`;
        // Free and paid access of one model are two of its rows, the paid one first or alone with a price.
        if (provider === undefined || seen.has(name) || !(Number(listed.inputPrice) > 0)) continue;
        seen.add(name);
        yield {
          provider,
          model: listed.externalId,
          released: releasedAt?.toISOString().slice(0, 10),
          isDeprecated: (listed.deactivatedAt ?? deactivatedAt) !== undefined,
          contextLength: listed.contextSize,
          maxOutputTokens: listed.maxOutput,
          prices: [{ from: null, ...amountsOf(listed) }],
        };
      }
  },
};

/** Tiers are of another form, and compared by hand. */
function amountsOf(listed) {
  const amounts = Object.entries(AMOUNTS).flatMap(([from, to]) =>
    listed[from] === undefined ? [] : [[to, listed[from]]],
  );
  return { amounts: Object.fromEntries(amounts), tiers: [] };
}
