// The proposals of `npm run catalogue:update`, and those that it holds for a person (docs/catalogue.md).
import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadUpdateScripts } from '../../support/catalogue/update-scripts.js';
import type { Proposal, ReadList, UpdateScripts } from '../../support/catalogue/update-scripts.js';

let scripts: UpdateScripts;

const TODAY = '2026-08-20';
const ANCHORS = {
  openai: {
    'gpt-4o': { input: 2.5, output: 10 },
    'text-embedding-3-large': { input: 0.13, output: 0 },
  },
  google: { 'gemini-2.5-flash': { input: 0.3, output: 2.5 } },
  mistral: { 'mistral-large-2512': { input: 0.5, output: 1.5 } },
};

type Cost = Record<string, unknown>;

beforeAll(async () => {
  scripts = await loadUpdateScripts();
});

/** models.dev's form; `models`: by provider and name. */
function modelsDev(models: Record<string, Record<string, Cost>>, limit = {}): ReadList {
  const providers = { ...ANCHORS, ...models };
  const list = Object.fromEntries(
    Object.keys(providers).map((provider) => [
      provider,
      {
        models: Object.fromEntries(
          Object.entries({
            ...(ANCHORS as Record<string, Record<string, Cost>>)[provider],
            ...models[provider],
          }).map(([id, cost]) => [id, { id, cost, limit, modalities: { output: ['text'] } }]),
        ),
      },
    ]),
  );
  return scripts.readList(scripts.listOf('models.dev'), list);
}

/** genai-prices' form, of OpenAI's models and Google's. */
function genaiPrices(models: Record<string, unknown>): ReadList {
  const all: Record<string, unknown> = {
    'gpt-4o': { input_mtok: 2.5, output_mtok: 10 },
    'text-embedding-3-large': { input_mtok: 0.13 },
    ...models,
  };
  const list = Object.entries(all).map(([id, prices]) => ({ id, match: { equals: id }, prices }));
  const google = { id: 'gemini-2.5-flash', match: {}, prices: { input_mtok: 0.3, output_mtok: 2.5 } };
  return scripts.readList(scripts.listOf('genai-prices'), [
    { id: 'openai', models: list },
    { id: 'google', models: [google, ...list.filter(({ id }) => id.startsWith('gemini'))] },
    { id: 'aws', models: list.filter(({ id }) => id.includes('anthropic')) },
  ]);
}

function shipped(
  provider: string,
  model: string,
  prices: unknown,
  others: object = {},
): ReturnType<UpdateScripts['shippedOf']> {
  const kind = typeof prices === 'number' ? 'models' : 'chat_models';
  const row = { effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: prices, ...others };
  return scripts.shippedOf([
    { [kind]: [{ id: `vendor/${model}`, endpoints: [{ provider, upstream_model: model, prices: [row] }] }] },
  ]);
}

function about(proposals: readonly Proposal[], model: string): Proposal[] {
  return proposals.filter(({ key }) => key.endsWith(` ${model}`));
}

function reasons(proposals: readonly Proposal[]): string[] {
  return proposals.flatMap(({ holds }) => holds.map(({ reason }) => reason));
}

const GPT = { prompt: 1, completion: 4 };

describe('names', () => {
  it('does not match gpt-4.1-nano with gpt-4, nor a model with its family (G23)', () => {
    const list = genaiPrices({ 'gpt-4': { input_mtok: 30, output_mtok: 60 } });
    expect(scripts.compare(shipped('openai', 'gpt-4.1-nano', GPT), [list], TODAY)).toContainEqual(
      expect.objectContaining({ key: 'openai gpt-4.1-nano', group: 'not listed' }),
    );
  });

  it('takes no price from a pattern: command-a-plus stays without one beside command-a (G22)', () => {
    const list = scripts.readList(scripts.listOf('genai-prices'), [
      {
        id: 'openai',
        models: [
          { id: 'gpt-4o', match: {}, prices: { input_mtok: 2.5, output_mtok: 10 } },
          { id: 'text-embedding-3-large', match: {}, prices: { input_mtok: 0.13 } },
        ],
      },
      {
        id: 'google',
        models: [{ id: 'gemini-2.5-flash', match: {}, prices: { input_mtok: 0.3, output_mtok: 2.5 } }],
      },
      {
        id: 'cohere',
        models: [
          {
            id: 'command-a',
            match: { starts_with: 'command-a' },
            prices: { input_mtok: 2.5, output_mtok: 10 },
          },
        ],
      },
    ]);
    const found = scripts.compare(shipped('cohere', 'command-r-08-2024', GPT), [list], TODAY);
    expect(about(found, 'command-a-plus-05-2026')).toEqual([]);
  });

  it('keeps a regional profile apart from the global one (G25)', () => {
    const list = genaiPrices({ 'anthropic.claude-sonnet-4-6': { input_mtok: 3, output_mtok: 15 } });
    const own = shipped('bedrock', 'us.anthropic.claude-sonnet-4-6', { prompt: 3.3, completion: 16.5 });
    expect(about(scripts.compare(own, [list], TODAY), 'us.anthropic.claude-sonnet-4-6')).toEqual([
      expect.objectContaining({ group: 'not listed', changes: [] }),
    ]);
  });

  it('takes no price of a name that moves for the name of a day, and proposes no such name (G19)', () => {
    const list = modelsDev({ mistral: { 'mistral-medium-latest': { input: 1.5, output: 7.5 } } });
    const own = shipped('mistral', 'mistral-medium-2508', { prompt: 0.4, completion: 2 });
    const found = scripts.compare(own, [list], TODAY);
    expect(about(found, 'mistral-medium-2508')).toEqual([
      expect.objectContaining({ group: 'not listed', changes: [] }),
    ]);
    expect(about(found, 'mistral-medium-latest')).toEqual([]);
  });

  it('takes no row of another provider for a model at Together, listed here or not (G49)', () => {
    const cost = { input: 0.5, output: 2 };
    const list = modelsDev({
      'fireworks-ai': { 'moonshotai/Kimi-K9': cost },
      deepinfra: { 'moonshotai/Kimi-K9': cost },
      togetherai: { 'moonshotai/Kimi-K2': cost },
    });
    const atTogether = (model: string): Proposal[] =>
      about(scripts.compare(shipped('together', model, GPT), [list], TODAY), 'moonshotai/Kimi-K9');
    expect(atTogether('moonshotai/Kimi-K2')).toEqual([]);
    expect(atTogether('moonshotai/Kimi-K9')).toEqual([
      expect.objectContaining({ key: 'together moonshotai/Kimi-K9', group: 'not listed', changes: [] }),
    ]);
  });

  it('leaves a price of 0 at a server of our own, whatever lists have for its name (G18)', () => {
    const cost = { input: 0.15, output: 0.6 };
    const list = modelsDev({ openai: { 'gpt-oss-120b': cost }, togetherai: { 'gpt-oss-120b': cost } });
    const own = shipped('vllm', 'gpt-oss-120b', { prompt: 0, completion: 0 });
    expect(about(scripts.compare(own, [list], TODAY), 'gpt-oss-120b')).toEqual([]);
  });

  it('proposes a snapshot of another price as a model of its own (G24)', () => {
    const cost = { input: 5, output: 15 };
    const lists = [
      modelsDev({ openai: { 'gpt-4o-2024-05-13': cost } }),
      genaiPrices({ 'gpt-4o-2024-05-13': { input_mtok: 5, output_mtok: 15 } }),
    ];
    const found = scripts.compare(shipped('openai', 'gpt-4o', { prompt: 2.5, completion: 10 }), lists, TODAY);
    const written = scripts.writeProposals(scripts.chosenOf(found, ['new'], []), TODAY);
    expect(written).toContain('id: openai/gpt-4o-2024-05-13');
    expect(written).not.toContain('aliases');
  });

  it('never proposes a new embedding, and takes no width from a limit (G41)', () => {
    const lists = [
      modelsDev(
        { mistral: { 'codestral-embed': { input: 0.15, output: 0 } } },
        { context: 8192, output: 40_960 },
      ),
    ];
    const found = scripts.compare(shipped('mistral', 'mistral-embed', 0.1), lists, TODAY);
    expect(about(found, 'codestral-embed')).toEqual([]);
    expect(
      JSON.stringify(found, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).not.toContain('40960');
  });
});

describe('lists', () => {
  it('applies nothing where two lists name two prices (G20)', () => {
    const lists = [
      modelsDev({ openai: { 'gpt-x': { input: 1, output: 4, cache_read: 0.1 } } }),
      genaiPrices({ 'gpt-x': { input_mtok: 1, output_mtok: 4, cache_read_mtok: 0.2 } }),
    ];
    const found = scripts.compare(shipped('openai', 'gpt-x', { ...GPT, cache_read: 0.3 }), lists, TODAY);
    expect(about(found, 'gpt-x')).toEqual([expect.objectContaining({ group: 'lists disagree' })]);
    expect(about(scripts.chosenOf(found, ['new', 'cheaper', 'dearer'], []), 'gpt-x')).toEqual([]);
    expect(scripts.report(found, lists)).toContain('0.1 models.dev, 0.2 genai-prices');
  });

  it('applies nothing of one list alone', () => {
    const found = scripts.compare(
      shipped('openai', 'gpt-x', GPT),
      [modelsDev({ openai: { 'gpt-x': { input: 0.9, output: 4 } } })],
      TODAY,
    );
    expect(about(found, 'gpt-x')).toEqual([expect.objectContaining({ group: 'one list' })]);
    expect(() => scripts.chosenOf(found, ['one list'], [])).toThrow('one list cannot be taken whole');
  });

  it('shows 0.079999999 beside 0.08 and rounds neither (G52)', () => {
    const list = modelsDev({ openai: { 'gpt-x': { input: 1, output: 4, cache_read: 0.079999999 } } });
    const found = scripts.compare(shipped('openai', 'gpt-x', { ...GPT, cache_read: 0.08 }), [list], TODAY);
    expect(scripts.report(found, [list])).toContain('cache_read: 0.08 here; 0.079999999 models.dev');
  });

  it('derives no price of the cached part, neither 0 nor a tenth (G31)', () => {
    const cost = { input: 2.5, output: 10 };
    const own = shipped('openai', 'gpt-x', { prompt: 2.5, completion: 10, cache_read: 1.25 });
    expect(about(scripts.compare(own, [modelsDev({ openai: { 'gpt-x': cost } })], TODAY), 'gpt-x')).toEqual(
      [],
    );
  });
});

describe('bounds', () => {
  const twice = (cost: Cost, prices: Cost) => [
    modelsDev({ openai: { 'gpt-x': cost } }),
    genaiPrices({ 'gpt-x': prices }),
  ];

  it('holds an embedding at a thousand times its price (G28)', () => {
    const lists = twice({ input: 100, output: 0 }, { input_mtok: 100 });
    const found = about(scripts.compare(shipped('openai', 'gpt-x', 0.1), lists, TODAY), 'gpt-x');
    expect(reasons(found)).toContain('models.dev: prompt changes by a factor of 1000');
    expect(scripts.chosenOf(found, ['dearer'], [])).toEqual([]);
  });

  it.each([
    [
      'output at ten times its price',
      { input: 0.2, output: 6 },
      { input_mtok: 0.2, output_mtok: 6 },
      'completion changes by a factor of 10',
    ],
    [
      'output above 20 times the prompt (G29)',
      { input: 0.2, output: 6 },
      { input_mtok: 0.2, output_mtok: 6 },
      'completion is above 20 times the prompt',
    ],
    [
      'a price that becomes 0',
      { input: 0, output: 0.6 },
      { input_mtok: 0, output_mtok: 0.6 },
      'prompt becomes 0',
    ],
    [
      'a cached part above the prompt',
      { input: 0.2, output: 0.6, cache_read: 0.3 },
      { input_mtok: 0.2, output_mtok: 0.6, cache_read_mtok: 0.3 },
      'cache_read is above prompt',
    ],
  ])('holds %s', (_name, cost, prices, reason) => {
    const own = shipped('openai', 'gpt-x', { prompt: 0.2, completion: 0.6 });
    const found = about(scripts.compare(own, twice(cost, prices), TODAY), 'gpt-x');
    expect(reasons(found).join()).toContain(reason);
    expect(scripts.chosenOf(found, ['new', 'cheaper', 'dearer'], [])).toEqual([]);
  });

  it('holds a read that is stored as a write (G32)', () => {
    const lists = twice(
      { input: 1, output: 4, cache_write: 0.1 },
      { input_mtok: 1, output_mtok: 4, cache_read_mtok: 0.1 },
    );
    const found = about(scripts.compare(shipped('openai', 'gpt-x', GPT), lists, TODAY), 'gpt-x');
    expect(reasons(found)).toContain(
      'models.dev: cache_write is below prompt, and other lists have a cache_read',
    );
  });

  it('holds a tier without the cached part where another list has one (G34)', () => {
    const size = { type: 'context', size: 272_000 };
    const lists = twice(
      { input: 1, output: 4, cache_read: 0.1, tiers: [{ tier: size, input: 2, output: 6 }] },
      {
        input_mtok: { base: 1, tiers: [{ start: 271_999, price: 2 }] },
        output_mtok: 4,
        cache_read_mtok: { base: 0.1, tiers: [{ start: 271_999, price: 0.2 }] },
      },
    );
    const found = about(scripts.compare(shipped('openai', 'gpt-x', GPT), lists, TODAY), 'gpt-x');
    expect(reasons(found)).toContain(
      'models.dev: its tier above 272000 tokens has no cache_read, and another list has one',
    );
  });

  it('takes 272,000 of a list and our 271,999 as one boundary', () => {
    const tiers = [{ min_prompt_tokens: 271_999, usd_per_million_tokens: { prompt: 2 } }];
    const own = shipped('openai', 'gpt-x', GPT, { tiers });
    const tier = { tier: { type: 'context', size: 272_000 }, input: 2 };
    const same = modelsDev({ openai: { 'gpt-x': { input: 1, output: 4, tiers: [tier] } } });
    expect(about(scripts.compare(own, [same], TODAY), 'gpt-x')).toEqual([]);
    const other = modelsDev({ openai: { 'gpt-x': { input: 1, output: 4, tiers: [{ ...tier, input: 3 }] } } });
    expect(about(scripts.compare(own, [other], TODAY), 'gpt-x')).toEqual([
      expect.objectContaining({ group: 'tiers' }),
    ]);
  });

  it('writes a cut of 80 % once its text confirms it, and not with its group (G37)', () => {
    const lists = twice({ input: 0.2, output: 0.8 }, { input_mtok: 0.2, output_mtok: 0.8 });
    const found = about(scripts.compare(shipped('openai', 'gpt-x', GPT), lists, TODAY), 'gpt-x');
    expect(found).toEqual([expect.objectContaining({ group: 'cheaper' })]);
    expect(reasons(found)).toContain('models.dev: prompt changes by a factor of 5');
    expect(scripts.chosenOf(found, ['cheaper'], [])).toEqual([]);
    expect(() => scripts.chosenOf(found, [], ['openai gpt-x: prompt 0.3'])).toThrow('there is no proposal');
    const confirmed = scripts.chosenOf(found, [], ['openai gpt-x: prompt 0.2, completion 0.8']);
    expect(scripts.writeProposals(confirmed, TODAY)).toContain(
      'source: models.dev, genai-prices, read 2026-08-20',
    );
  });
});

it('proposes the removal of a future price that its list has dropped, until its day (G36)', () => {
  const own = scripts.shippedOf([
    {
      chat_models: [
        {
          id: 'vendor/gpt-x',
          endpoints: [
            {
              provider: 'openai',
              upstream_model: 'gpt-x',
              prices: [
                { effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: GPT },
                {
                  effective_from: '2026-09-01',
                  source: 'x',
                  usd_per_million_tokens: { prompt: 3, completion: 15 },
                },
              ],
            },
          ],
        },
      ],
    },
  ]);
  const now = { input_mtok: 1, output_mtok: 4 };
  const rise = {
    constraint: { type: 'start_date', start_date: '2026-09-01' },
    prices: { input_mtok: 3, output_mtok: 15 },
  };
  const found = (prices: unknown) =>
    about(scripts.compare(own, [genaiPrices({ 'gpt-x': prices })], TODAY), 'gpt-x');
  expect(found([{ prices: now }, rise])).toEqual([]);
  expect(found(now)).toEqual([expect.objectContaining({ group: 'remove', day: '2026-09-01' })]);
  const without = shipped('openai', 'gpt-x', GPT);
  const later = scripts.compare(without, [genaiPrices({ 'gpt-x': [{ prices: now }, rise] })], TODAY);
  expect(about(later, 'gpt-x')).toEqual([expect.objectContaining({ group: 'future', day: '2026-09-01' })]);
});
