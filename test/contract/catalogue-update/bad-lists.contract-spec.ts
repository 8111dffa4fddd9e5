// Lists that `npm run catalogue:update` refuses whole, with the reason.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadUpdateScripts } from '../../support/catalogue/update-scripts.js';
import type { ReadList, UpdateScripts } from '../../support/catalogue/update-scripts.js';

let scripts: UpdateScripts;
const folder = mkdtempSync(join(tmpdir(), 'lists-'));

beforeAll(async () => {
  scripts = await loadUpdateScripts();
});
afterAll(() => rmSync(folder, { recursive: true }));

const costs = (factor = 1) => ({
  'gpt-4o': {
    input_cost_per_token: 2.5e-6 * factor,
    output_cost_per_token: 1e-5 * factor,
    litellm_provider: 'openai',
  },
  'text-embedding-3-large': { input_cost_per_token: 1.3e-7 * factor, litellm_provider: 'openai' },
  'gemini/gemini-2.5-flash': {
    input_cost_per_token: 3e-7 * factor,
    output_cost_per_token: 2.5e-6 * factor,
    litellm_provider: 'gemini',
  },
});

const litellm = (map: object, before = 0): ReadList =>
  scripts.readList(scripts.listOf('LiteLLM'), map, before);

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

it.each([
  ['a million', 1e6],
  ['a thousand', 1e3],
  ['a hundredth, as of cents', 0.01],
])('refuses a list whose prices are %s times what they were (G26)', (_name, factor) => {
  expect(() => litellm(costs(factor))).toThrow(
    'gpt-4o has not its known prompt price of 2.5 USD; has the unit changed?',
  );
});

it('refuses a row in an unknown unit, and does not read it as 0 (G27)', () => {
  const model = (id: string, prices: object) => ({ id, match: {}, prices });
  const { offers, problems } = scripts.readList(scripts.listOf('genai-prices'), [
    {
      id: 'openai',
      models: [
        model('gpt-4o', { input_mtok: 2.5, output_mtok: 10 }),
        model('text-embedding-3-large', { input_mtok: 0.13 }),
        model('gpt-x', { input_ktok: 0.0025, output_ktok: 0.01 }),
      ],
    },
    { id: 'google', models: [model('gemini-2.5-flash', { input_mtok: 0.3, output_mtok: 2.5 })] },
  ]);
  expect(problems).toEqual([
    expect.objectContaining({ model: 'gpt-x', problem: 'input_ktok has an unknown unit' }),
  ]);
  expect(offers.get('openai gpt-x')?.prices).toEqual([]);
});

it.each([
  [{ input_cost_per_token: -1e-6 }, 'is not a decimal number that is not negative'],
  [{ input_cost_per_token: '1 EUR' }, undefined],
  [{ input_cost_per_token: 0.01 }, 'prompt is above 1,000 USD for a million tokens'],
])('counts no price of a row with %j', (prices, problem) => {
  const { offers, problems } = litellm({ ...costs(), 'gpt-x': { ...prices, litellm_provider: 'openai' } });
  if (problem) expect(problems[0]?.problem).toContain(problem);
  expect(offers.get('openai gpt-x')?.prices[0]?.amounts['prompt']).toBeUndefined();
});

it('counts no price of a name that is there twice with two prices (G20)', () => {
  const map = {
    ...costs(),
    'command-r': { input_cost_per_token: 1e-6, litellm_provider: 'cohere' },
    // One provider under two of the list's names.
    'cohere/command-r': { input_cost_per_token: 2e-6, litellm_provider: 'cohere_chat' },
  };
  const rows = function* () {
    yield { provider: 'openai', model: 'x', prices: [{ amounts: { prompt: 1 } }] };
    yield { provider: 'openai', model: 'x', prices: [{ amounts: { prompt: 2 } }] };
  };
  const { offers, problems } = scripts.readList({ name: 'made', shift: 0, anchors: [], rows }, map);
  expect(problems[0]?.problem).toBe('is there twice, with two prices');
  expect(offers.get('openai x')?.prices).toEqual([]);
});

it('refuses a list that lost a third of its models (G40)', () => {
  expect(() => litellm(costs(), 4)).toThrow('has 3 models, below 80 % of the 4 of the last reading');
});

it('refuses a list that is cut off (G38)', async () => {
  const path = fileOf('cut.json', JSON.stringify(costs()).slice(0, -40));
  await expect(scripts.readListFile(scripts.listOf('LiteLLM'), path)).rejects.toThrow(
    /^LiteLLM: .*cut\.json: .*JSON/,
  );
});

it('refuses a file of 300 MB before it reads it', async () => {
  const path = fileOf('large.json', '');
  truncateSync(path, 300 * 2 ** 20);
  await expect(scripts.readListFile(scripts.listOf('models.dev'), path)).rejects.toThrow(
    'and the most are 16777216',
  );
});
