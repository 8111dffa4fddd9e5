// The shipped chat models satisfy the rules of a catalogue file.
import { describe, expect, it } from '@jest/globals';
import { endpointTag, idsOf, priceOn } from '../../src/catalogue/catalogue-model.js';
import { chatPricesOn } from '../../src/catalogue/chat-prices.js';
import { findProvider } from '../../src/providers/index.js';
import { readLayer } from '../../src/catalogue/reader/layer.js';
import { parseYaml } from '../../src/catalogue/reader/yaml.js';
import { shippedCatalogue, SHIPPED_RULES } from '../../src/routing/catalogue-source.js';

const { models: MODELS, chatModels: CHAT_MODELS, rerankModels: RERANK_MODELS } = shippedCatalogue();
const TODAY = '2026-11-27';

it('names every model once, among embedding models as well', () => {
  const names = [...CHAT_MODELS, ...MODELS].flatMap(idsOf);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

it('serves models of the vendors at every provider with shipped models', () => {
  const providers = new Set(
    CHAT_MODELS.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)),
  );
  expect([...providers].toSorted()).toEqual(
    [
      'anthropic',
      'azure',
      'bedrock',
      'cohere',
      'deepinfra',
      'google',
      'local',
      'mistral',
      'openai',
      'together',
      'vertex',
    ].toSorted(),
  );
});

describe.each(CHAT_MODELS.map((model) => [model.id, model] as const))('%s', (_id, model) => {
  it('has usable endpoints', () => {
    expect(model.endpoints.length).toBeGreaterThan(0);
    expect(new Set(model.endpoints.map(endpointTag)).size).toBe(model.endpoints.length);
    for (const endpoint of model.endpoints) {
      expect(findProvider(endpoint.provider)?.chat).toBeDefined();
      expect(endpoint.contextLength).toBeLessThanOrEqual(model.contextLength);
      expect(endpoint.maxOutputTokens ?? 1).toBeLessThanOrEqual(endpoint.contextLength);
      expect(endpoint.inputModalities).toContain('text');
      // A moving name changes its price without us.
      expect(endpoint.upstreamModel).not.toMatch(/latest/);
      expect(endpoint.reasoningEfforts.length === 0 || endpoint.isReasoning).toBe(true);
    }
  });

  it('has dated prices with a source, and none that is implausible', () => {
    for (const { prices, ...endpoint } of model.endpoints) {
      for (const { effectiveFrom, source } of prices) {
        expect(new Date(effectiveFrom).toISOString().slice(0, 10)).toBe(effectiveFrom);
        expect(source).not.toBe('');
      }
      const moment = { promptTokens: 10, minuteOfDay: 0, serviceTier: null };
      const on = chatPricesOn({ prices }, TODAY, moment);
      expect(on).not.toBeNull();
      if (!on || endpoint.provider === 'local') continue;
      // Between 0.01 and 200 USD for a million tokens; cached parts are never more expensive.
      for (const price of [on.prompt, on.completion]) {
        expect(price).toBeGreaterThanOrEqual(10_000n);
        expect(price).toBeLessThanOrEqual(200_000_000n);
      }
      expect(on.cacheRead).toBeLessThanOrEqual(on.prompt);
      expect(on.completion).toBeGreaterThanOrEqual(on.prompt);
    }
  });
});

it('prices long prompts and service tiers', () => {
  const priceOf = (id: string, promptTokens: number, serviceTier: string | null) => {
    const [endpoint] = CHAT_MODELS.find((model) => model.id === id)?.endpoints ?? [];
    return endpoint && chatPricesOn(endpoint, TODAY, { promptTokens, minuteOfDay: 0, serviceTier });
  };
  expect(priceOf('google/gemini-2.5-pro', 200_000, null)?.prompt).toBe(1_250_000n);
  expect(priceOf('google/gemini-2.5-pro', 200_001, null)).toMatchObject({
    prompt: 2_500_000n,
    completion: 15_000_000n,
    cacheRead: 250_000n,
  });
  expect(priceOf('openai/gpt-5-mini', 1, 'flex')?.completion).toBe(1_000_000n);
  expect(priceOf('openai/gpt-4o-mini', 1, 'priority')?.cacheRead).toBe(125_000n);
  expect(priceOf('openai/gpt-4o-mini', 1, 'flex')).toBeNull();
});

it('prices prompts of 272,000 tokens as long ones at OpenAI, and shorter ones not (G35)', () => {
  const promptPrice = (id: string, promptTokens: number) => {
    const [endpoint] = CHAT_MODELS.find((model) => model.id === id)?.endpoints ?? [];
    const moment = { promptTokens, minuteOfDay: 0, serviceTier: null };
    return endpoint && chatPricesOn(endpoint, TODAY, moment)?.prompt;
  };
  expect(promptPrice('openai/gpt-5.5', 271_999)).toBe(5_000_000n);
  expect(promptPrice('openai/gpt-5.5', 272_000)).toBe(10_000_000n);
  const longPrompts = CHAT_MODELS.flatMap(({ endpoints }) => endpoints).flatMap(({ provider, prices }) =>
    provider === 'openai' || provider === 'azure' ? prices.flatMap(({ tiers = [] }) => tiers) : [],
  );
  expect(new Set(longPrompts.map(({ minPromptTokens }) => minPromptTokens))).toEqual(new Set([271_999]));
});

it('keeps the price of a snapshot apart from that of its successor (G24)', () => {
  const priceOf = (id: string) => {
    const [endpoint] = CHAT_MODELS.find((model) => idsOf(model).includes(id))?.endpoints ?? [];
    const moment = { promptTokens: 1, minuteOfDay: 0, serviceTier: null };
    return endpoint && chatPricesOn(endpoint, TODAY, moment);
  };
  expect(priceOf('openai/gpt-4o-2024-05-13')).toMatchObject({ prompt: 5_000_000n, completion: 15_000_000n });
  expect(priceOf('openai/gpt-4o')).toMatchObject({ prompt: 2_500_000n, completion: 10_000_000n });
});

it('names no upstream model by a name that moves to another one (G19)', () => {
  const upstreams = [...CHAT_MODELS, ...MODELS, ...RERANK_MODELS].flatMap(({ endpoints }) =>
    endpoints.map(({ upstreamModel }) => upstreamModel),
  );
  expect(upstreams.filter((name) => /latest/i.test(name))).toEqual([]);
  // Lists have 1.5 and 7.5 USD at mistral-medium-latest, which is another model by now.
  const medium = CHAT_MODELS.find(({ id }) => id === 'mistralai/mistral-medium-3.1')?.endpoints[0];
  expect(medium?.upstreamModel).toBe('mistral-medium-2508');
  const moment = { promptTokens: 1, minuteOfDay: 0, serviceTier: null };
  expect(chatPricesOn(medium!, TODAY, moment)).toMatchObject({ prompt: 400_000n, completion: 2_000_000n });
});

it("prices the five classes of tokens of Anthropic's models, in long prompts of one as well", () => {
  const pricesOf = (id: string, promptTokens: number) => {
    const [endpoint] = CHAT_MODELS.find((model) => idsOf(model).includes(id))!.endpoints;
    return chatPricesOn(endpoint!, '2026-11-29', { promptTokens, minuteOfDay: 0, serviceTier: null });
  };
  expect(pricesOf('anthropic/claude-opus-5-5', 900_000)).toMatchObject({
    prompt: 4_000_000n,
    cacheRead: 200_000n,
    cacheWrite: 5_000_000n,
    cacheWrite1h: 8_000_000n,
    completion: 20_000_000n,
  });
  expect(pricesOf('anthropic/claude-haiku-5.5', 100_000)).toMatchObject({
    prompt: 100_000n,
    cacheWrite1h: 200_000n,
  });
  expect(pricesOf('anthropic/claude-haiku-5.5', 100_001)).toMatchObject({
    prompt: 500_000n,
    cacheRead: 50_000n,
    completion: 2_500_000n,
  });
  expect(pricesOf('anthropic/claude-haiku-4-5-20251001', 1)?.cacheWrite1h).toBe(2_000_000n);
});

it("names the price of each class of cached tokens of Claude, at every cloud as at Anthropic's own API", () => {
  const claudes = CHAT_MODELS.filter(({ id }) => id.startsWith('anthropic/'));
  const rows = claudes.flatMap(({ endpoints }) => endpoints.flatMap(({ prices }) => prices));
  expect(new Set(claudes.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)))).toEqual(
    new Set(['anthropic', 'bedrock', 'vertex']),
  );
  for (const { cacheRead, cacheWrite, cacheWrite1h } of rows) {
    expect(cacheRead).toBeGreaterThan(0n);
    expect(cacheWrite).toBeGreaterThan(cacheRead!);
    expect(cacheWrite1h).toBeGreaterThan(cacheWrite!);
  }
});

it('refuses a price of Claude without that of writes from the catalogue file as well', () => {
  const row = 'effective_from: 2026-11-01, source: our contract, usd_per_million_tokens';
  const layer = (prices: string) =>
    `chat_models: [{id: anthropic/claude-opus-5, endpoints: [{provider: anthropic, prices: [{${row}: ${prices}}]}]}]`;
  const read = (text: string) => readLayer([parseYaml(text, 'a.yaml')], shippedCatalogue(), SHIPPED_RULES);
  expect(() => read(layer('{prompt: 4, completion: 20, cache_read: 0.4}'))).toThrow(
    'usd_per_million_tokens must have cache_write: the endpoint needs it',
  );
  const five = '{prompt: 4, completion: 20, cache_read: 0.4, cache_write: 5, cache_write_1h: 8}';
  expect(read(layer(five)).chatModels).toContainEqual(
    expect.objectContaining({ id: 'anthropic/claude-opus-5' }),
  );
});

it('maps no free variant to a model with a price', () => {
  expect(CHAT_MODELS.flatMap(idsOf).filter((id) => id.includes(':'))).toEqual([]);
});

it('has none of the errors of price lists that were found in them (G22)', () => {
  const upstreams = [...CHAT_MODELS, ...MODELS].flatMap(({ endpoints }) =>
    endpoints.map(({ upstreamModel }) => upstreamModel),
  );
  // A list gives it the price of Command A, and Cohere publishes none.
  expect(upstreams).not.toContain('command-a-plus-05-2026');
  const embeddingPrice = (id: string) =>
    priceOn(MODELS.find((model) => model.id === id)!.endpoints[0]!, TODAY);
  expect(embeddingPrice('cohere/embed-multilingual-light-v3.0')).toBeNull();
  expect(embeddingPrice('amazon/titan-embed-text-v2')).toBe(20_000n);
  const chatPrice = (id: string, day: string) =>
    chatPricesOn(CHAT_MODELS.find((model) => model.id === id)!.endpoints[0]!, day, {
      promptTokens: 1,
      minuteOfDay: 0,
      serviceTier: null,
    });
  // One list has 6 for the answer.
  expect(chatPrice('qwen/qwen3-235b-a22b-2507', TODAY)?.completion).toBe(600_000n);
  // Announced for September 2026, and withdrawn before.
  expect(chatPrice('anthropic/claude-sonnet-5', '2026-10-01')?.prompt).toBe(2_000_000n);
});

it('doubles the introductory prices of Google on the day that it announced', () => {
  const [endpoint] = CHAT_MODELS.find(({ id }) => id === 'google/gemini-4-argon')!.endpoints;
  const promptPrice = (day: string) =>
    chatPricesOn(endpoint!, day, { promptTokens: 1, minuteOfDay: 0, serviceTier: null })?.prompt;
  expect(promptPrice('2026-11-30')).toBe(2_000_000n);
  expect(promptPrice('2026-12-01')).toBe(4_000_000n);
});

it('prices the cached part at Azure by itself', () => {
  const cachedAt = (provider: string) => {
    const nano = CHAT_MODELS.find(({ id }) => id === 'openai/gpt-5-nano');
    const endpoint = nano?.endpoints.find((candidate) => candidate.provider === provider);
    const moment = { promptTokens: 1, minuteOfDay: 0, serviceTier: null };
    return endpoint && chatPricesOn(endpoint, TODAY, moment)?.cacheRead;
  };
  expect(cachedAt('openai')).toBe(5_000n);
  expect(cachedAt('azure')).toBe(10_000n);
});

it('lists efforts and parameters as the providers take them', () => {
  const lists = (id: string, parameter: string): boolean[] | undefined =>
    CHAT_MODELS.find((model) => model.id === id)?.endpoints.map(({ supportedParameters }) =>
      supportedParameters.includes(parameter),
    );
  expect(lists('openai/o3', 'parallel_tool_calls')).toEqual([false, false]);
  expect(lists('openai/gpt-5', 'parallel_tool_calls')).toEqual([true, true]);
  expect(lists('meta-llama/llama-4-maverick', 'tools')).toEqual([true, false, true]);
  expect(lists('deepseek/deepseek-r1-0528', 'reasoning')).toEqual([true]);
  expect(lists('deepseek/deepseek-r1-0528', 'reasoning_effort')).toEqual([false]);
  expect(lists('mistralai/codestral-2508', 'prediction')).toEqual([true]);
  expect(lists('mistralai/mistral-large-2512', 'prediction')).toEqual([false, false]);
});
