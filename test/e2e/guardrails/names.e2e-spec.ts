// Models by each of their names, and endpoints by their data policy, before two providers.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { createGovernedKey, postAs } from '../../support/guardrails/governed.js';
import { answerChat } from '../../support/upstreams/chat-upstream.js';
import { startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

const endpointAt = (provider: string, retainsPrompts: boolean): object => ({
  provider,
  upstream_model: 'served',
  data_policy: { retains_prompts: retainsPrompts, trains: false },
  supported_parameters: ['max_tokens'],
  prices: [
    { effective_from: '2020-01-01', source: 'a test', usd_per_million_tokens: { prompt: 1, completion: 1 } },
  ],
});
const modelOf = (id: string, members: object, ...endpoints: readonly object[]): object => ({
  id,
  created_at: '2026-01-01',
  context_length: 100_000,
  tokenizer: 'o200k',
  ...members,
  endpoints,
});
const ONE = ['acme/one', 'acme/uno', 'acme/one-20260101', 'one', 'acme/one:nitro'];
const TWO = ['acme/two', 'acme/due', 'acme/two-20260101', 'two', 'acme/two:nitro', 'acme/due:floor'];
const CATALOGUE = {
  chat_models: [
    modelOf(
      'acme/one',
      { canonical_slug: 'acme/one-20260101', aliases: ['acme/uno'] },
      endpointAt('vllm', false),
    ),
    modelOf(
      'acme/two',
      { canonical_slug: 'acme/two-20260101', aliases: ['acme/due'] },
      endpointAt('vllm', false),
    ),
    modelOf('openai/kept', {}, endpointAt('openai', true), endpointAt('vllm', false)),
    modelOf('acme/kept', {}, endpointAt('openai', true)),
  ],
};

let keeping: StubUpstream;
let forgetting: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  [keeping, forgetting] = [await startStubUpstream(answerChat), await startStubUpstream(answerChat)];
  app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        OPENAI_API_KEY: 'upstream-key',
        OPENAI_BASE_URL: `${keeping.origin}/v1`,
        VLLM_BASE_URL: `${forgetting.origin}/v1`,
        CATALOGUE_FILE: file,
        RATE_LIMIT_CHANGES_PER_MINUTE: '10000',
      },
    }),
  );
});
beforeEach(() => {
  keeping.requests.length = forgetting.requests.length = 0;
});
afterAll(async () => {
  await app?.close();
  await keeping?.close();
  await forgetting?.close();
});

const chat = (key: { readonly secret: string }, model: string, members: object = {}) =>
  postAs(app, key, 'chat/completions', {
    model,
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 5,
    ...members,
  });

it.each(ONE)(
  'refuses a model outside of an allow-list by each of its names, and serves the model that %s names (V1)',
  async (allowed) => {
    const name = allowed.replace(/:.*/, '');
    const key = await createGovernedKey(app, { allowed_models: [name === 'one' ? 'acme/one' : name] });
    for (const model of TWO) expect([model, (await chat(key, model)).status]).toEqual([model, 404]);
    expect(forgetting.requests).toEqual([]);
    for (const model of ONE) expect([model, (await chat(key, model)).status]).toEqual([model, 200]);
    expect(forgetting.requests).toHaveLength(ONE.length);
  },
);

it("calls the only endpoint that retains nothing under zero data retention of the model's vendor (V32)", async () => {
  const key = await createGovernedKey(app, { enforce_zdr_openai: true });
  const free = await app.createKey();
  expect((await chat(free, 'openai/kept', { provider: { only: ['openai'] } })).status).toBe(200);
  expect(keeping.requests).toHaveLength(1);
  for (const members of [{}, { provider: { order: ['openai', 'vllm'] } }])
    expect((await chat(key, 'openai/kept', members)).status).toBe(200);
  expect((await chat(key, 'openai/kept', { provider: { only: ['openai'] } })).status).toBe(404);
  expect([keeping.requests.length, forgetting.requests.length]).toEqual([1, 2]);
  expect((await chat(key, 'acme/kept')).status).toBe(200);
});
