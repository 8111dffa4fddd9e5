// models.dev (github.com/anomalyco/models.dev, MIT): its `api.json`. USD for a million tokens. A tier's `size` is the vendor's word, so
// that whether it begins at or above it is unknown; widths of embeddings stand in `limit.output`, and are never read.
const PROVIDERS = {
  'amazon-bedrock': 'bedrock',
  anthropic: 'anthropic',
  azure: 'azure',
  cohere: 'cohere',
  deepinfra: 'deepinfra',
  google: 'google',
  'google-vertex': 'vertex',
  mistral: 'mistral',
  openai: 'openai',
  togetherai: 'together',
};
const AMOUNTS = {
  input: 'prompt',
  output: 'completion',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  input_audio: 'audio_input',
  output_audio: 'audio_output',
};

export const modelsDev = {
  name: 'models.dev',
  shift: 0,
  anchors: [
    ['openai', 'gpt-4o', { prompt: '2.5', completion: '10' }],
    ['mistral', 'mistral-large-2512', { prompt: '0.5', completion: '1.5' }],
    ['google', 'gemini-2.5-flash', { prompt: '0.3', completion: '2.5' }],
  ],

  *rows(list) {
    for (const [id, { models }] of Object.entries(list)) {
      const provider = PROVIDERS[id];
      if (provider === undefined) continue;
      for (const model of Object.values(models)) {
        const isText = model.modalities?.output?.join() === 'text';
        yield {
          provider,
          model: model.id,
          released: model.release_date,
          isChat: isText,
          isDeprecated: model.status === 'deprecated',
          ...(isText && { contextLength: model.limit?.context, maxOutputTokens: model.limit?.output }),
          prices: model.cost ? [{ from: null, ...amountsOf(model.cost), serviceTiers: fastOf(model) }] : [],
        };
      }
    }
  },
};

function amountsOf(cost) {
  const amounts = named(cost);
  const tiers = (cost.tiers ?? []).map(({ tier, ...prices }) =>
    tier.type === 'context'
      ? { above: tier.size, amounts: named(prices) }
      : { problem: 'a tier of another kind' },
  );
  return { amounts, tiers };
}

function named(cost) {
  return Object.fromEntries(
    Object.entries(AMOUNTS).flatMap(([from, to]) =>
      typeof cost[from] === 'number' ? [[to, cost[from]]] : [],
    ),
  );
}

/** A mode is a service tier only if its body says so. */
function fastOf({ experimental }) {
  const tiers = {};
  for (const { cost, provider } of Object.values(experimental?.modes ?? {})) {
    const tier = provider?.body?.service_tier;
    if (cost && typeof tier === 'string') tiers[tier] = { amounts: named(cost), tiers: [] };
  }
  return tiers;
}
