// Names that are paired by hand, models that a list calls deprecated, and the table of docs/catalogue.md.
import { beforeAll, expect, it } from '@jest/globals';
import { loadUpdateScripts } from '../../support/catalogue/update-scripts.js';
import type { ReadList, UpdateScripts } from '../../support/catalogue/update-scripts.js';

let scripts: UpdateScripts;

const TODAY = '2026-11-29';
const CLAUDE = { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 };

beforeAll(async () => {
  scripts = await loadUpdateScripts();
});

/** models.dev's form; `models`: by provider and name. */
function modelsDev(models: Record<string, Record<string, object>>): ReadList {
  const anchors: typeof models = {
    openai: { 'gpt-4o': { cost: { input: 2.5, output: 10 } } },
    mistral: { 'mistral-large-2512': { cost: { input: 0.5, output: 1.5 } } },
    google: { 'gemini-2.5-flash': { cost: { input: 0.3, output: 2.5 } } },
  };
  const providers = [...new Set([...Object.keys(anchors), ...Object.keys(models)])];
  const list = providers.map((provider) => {
    const named = Object.entries({ ...anchors[provider], ...models[provider] });
    const written = named.map(([id, model]) => [id, { id, modalities: { output: ['text'] }, ...model }]);
    return [provider, { models: Object.fromEntries(written) as object }];
  });
  return scripts.readList(scripts.listOf('models.dev'), Object.fromEntries(list));
}

function shipped(provider: string, model: string, prices: object): ReturnType<UpdateScripts['shippedOf']> {
  const row = { effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: prices };
  const endpoints = [{ provider, upstream_model: model, prices: [row] }];
  return scripts.shippedOf([{ chat_models: [{ id: `vendor/${model}`, endpoints }] }]);
}

it("takes Vertex's name of the one version of a model for ours, and no other version for it", () => {
  const { offers } = modelsDev({
    'google-vertex': {
      'claude-opus-5@default': { cost: CLAUDE },
      'claude-opus-4-5@20251101': { cost: CLAUDE },
    },
  });
  expect([...offers.keys()].filter((key) => key.startsWith('vertex '))).toEqual([
    'vertex claude-opus-5',
    'vertex claude-opus-4-5@20251101',
  ]);
});

it('holds a new model that a list calls deprecated', () => {
  const list = modelsDev({ openai: { 'gpt-x': { cost: { input: 1, output: 4 }, status: 'deprecated' } } });
  const found = scripts.compare(shipped('openai', 'gpt-4o', { prompt: 2.5, completion: 10 }), [list], TODAY);
  const proposal = found.find(({ key }) => key === 'openai gpt-x');
  expect(proposal?.holds).toEqual([{ reason: 'models.dev: it is deprecated', isTyped: true }]);
});

it('refuses a row whose longer prompts cost less', () => {
  const tiers = [{ tier: { type: 'context', size: 200_000 }, input: 0.5, output: 2 }];
  const { problems, offers } = modelsDev({ openai: { 'gpt-x': { cost: { input: 1, output: 4, tiers } } } });
  expect(problems).toEqual([
    expect.objectContaining({
      model: 'gpt-x',
      problem: 'longer prompts than 200000 tokens cost less than shorter ones',
    }),
  ]);
  expect(offers.get('openai gpt-x')?.prices).toEqual([]);
});

it('reads the prices of LLM Gateway, the paid ones where a model is there twice', () => {
  const model = (externalId: string, providerId: string, prices: object) => ({
    id: externalId,
    providers: [{ providerId, externalId, ...prices }],
  });
  const { offers } = scripts.readList(scripts.listOf('llmgateway'), [
    model('gpt-4o', 'openai', { inputPrice: '2.5e-6', outputPrice: '10e-6' }),
    model('mistral-large-2512', 'mistral', { inputPrice: '0.5e-6', outputPrice: '1.5e-6' }),
    model('gemini-2.5-flash', 'google-ai-studio', { inputPrice: '0.3e-6', outputPrice: '2.5e-6' }),
    model('gpt-x', 'openai', { inputPrice: '0', outputPrice: '0' }),
    model('gpt-x', 'openai', { inputPrice: '1e-6', outputPrice: '4e-6', cachedInputPrice: '0.1e-6' }),
    model('anthropic.claude-opus-5', 'aws-bedrock', { inputPrice: '5e-6', outputPrice: '25e-6' }),
  ]);
  expect(offers.get('openai gpt-x')?.prices[0]?.amounts).toEqual({
    prompt: 10n ** 12n,
    completion: 4n * 10n ** 12n,
    cache_read: 10n ** 11n,
  });
  expect([...offers.keys()].filter((key) => key.startsWith('bedrock'))).toEqual([]);
});

it('counts the models of a year that are still sold, by provider, and the prices that both have alike', () => {
  const year = { release_date: '2026-05-01', cost: { input: 1, output: 4 } };
  const list = modelsDev({
    openai: {
      'gpt-x': year,
      'gpt-y': year,
      'gpt-latest': year,
      'gpt-old': { ...year, release_date: '2025-05-01' },
      'gpt-gone': { ...year, status: 'deprecated' },
      'gpt-image': { ...year, modalities: { output: ['image'] } },
    },
    'amazon-bedrock': { 'eu.gpt-x': year },
  });
  const coverage = scripts.coverageOf(
    new Map([
      ...shipped('openai', 'gpt-x', { prompt: 1, completion: 4 }),
      ...shipped('openai', 'gpt-4o', { prompt: 2.5, completion: 9 }),
    ]),
    [list],
    TODAY,
    '2026',
  );
  const table = scripts.tableOf(coverage, '2026');
  expect(table).toContain('| openai | 2 | 1 |');
  expect(table).toContain('| **all** | **2** | **1** |');
  expect(table).toContain('| models.dev | 2 | 1 |');
  const page = 'text\n\n<!-- coverage -->\n\n| old |\n\n<!-- /coverage -->\n\nmore\n';
  expect(scripts.replaceTable(page, table)).toMatch(
    /^text\n\n<!-- coverage -->\n\n\| Provider [^]*<!-- \/coverage -->\n\nmore\n$/,
  );
  expect(() => scripts.replaceTable('text', table)).toThrow('the page lacks');
});
