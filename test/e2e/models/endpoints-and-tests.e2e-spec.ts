// GET /endpoints, GET /providers/health and POST /providers/{slug}/test. Contract: docs/contract.md#models.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import {
  answerWithEmbeddings,
  embed,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

const VECTOR = JSON.stringify(Array(1536).fill(0.5));

let setup: Setup;
let app: TestApp;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRIES: '0' });
  ({ app } = setup);
});
afterEach(() => setup.upstream.answerWith(null));
afterAll(() => setup.close());

interface Endpoints {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total_count: number;
}
const list = (query: string): Promise<Endpoints> => askFor<Endpoints>(200, app, 'get', `/endpoints?${query}`);
const test = (slug: string, body: object = {}) => ask(app, 'post', `/providers/${slug}/test`, { body });

describe('GET /endpoints', () => {
  it('states price, health and last failure of an endpoint', async () => {
    setup.upstream.answerWith(rejectWith(500, {}));
    await embed(app, { model: SMALL, input: 'x' });
    const { data, total_count: total } = await list(`provider=OpenAI&model=${SMALL}`);
    expect(total).toBe(1);
    expect(data).toEqual([
      expect.objectContaining({
        endpoint_id: SMALL,
        tag: 'openai',
        provider: 'openai',
        provider_name: 'OpenAI',
        model: SMALL,
        state: 'serving',
        pricing: { prompt: '0.00000002', completion: '0' },
        price_from: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
        uptime_last_5m: 0,
        last_failure: { at: expect.any(String), class: 'failed', status: 500 },
      }),
    ]);
  });

  it('pages, and leaves out endpoints that are not configured unless they are wanted', async () => {
    const configured = await list('limit=100');
    expect(configured.data.every(({ state }) => state !== 'unconfigured')).toBe(true);
    const all = await list('configured=false&limit=1&offset=1');
    expect(all.data).toHaveLength(1);
    expect(all.total_count).toBeGreaterThan(configured.total_count);
  });

  it.each([
    ['unknown=1', 400],
    ['limit=0', 400],
    ['configured=maybe', 400],
    ['model=no/model', 404],
  ])('rejects %s', async (query, status) => {
    expectError(await ask(app, 'get', `/endpoints?${query}`), status);
  });

  it('returns 403 for an inference key and 401 without one', async () => {
    expectError(await ask(app, 'get', '/endpoints', { key: app.apiKey }), 403);
    expectError(await app.http.get('/api/v1/endpoints'), 401);
  });
});

describe('GET /providers/health', () => {
  it('sums up the endpoints of each provider, with the newest failure', async () => {
    setup.upstream.answerWith(rejectWith(500, {}));
    await embed(app, { model: SMALL, input: 'x' });
    const { data } = await askFor<Endpoints>(200, app, 'get', '/providers/health');
    const { total_count: total } = await list('configured=false&provider=openai');
    expect(data.find(({ provider }) => provider === 'openai')).toEqual({
      provider: 'openai',
      provider_name: 'OpenAI',
      endpoints: total,
      configured_endpoints: total,
      open_endpoints: expect.any(Number),
      latency_last_30m: null,
      last_failure: { at: expect.any(String), class: 'failed', status: 500 },
    });
    expect(data.find(({ provider }) => provider === 'cohere')).toMatchObject({ configured_endpoints: 0 });
  });

  it('returns 403 for an inference key and 401 without one', async () => {
    expectError(await ask(app, 'get', '/providers/health', { key: app.apiKey }), 403);
    expectError(await app.http.get('/api/v1/providers/health'), 401);
  });
});

describe('POST /providers/{slug}/test', () => {
  it('states cost, tokens and status of one small call, which no key pays for', async () => {
    setup.upstream.answerWith(answerWithEmbeddings([VECTOR], { prompt_tokens: 3, total_tokens: 3 }));
    const before = await app.sql('SELECT 1 FROM generations');
    const response = await test('openai', { model: SMALL });
    expect([response.status, response.body]).toEqual([
      200,
      {
        data: {
          ok: true,
          provider: 'openai',
          provider_name: 'OpenAI',
          model: SMALL,
          endpoint_id: SMALL,
          credential: 'shared',
          byok_id: null,
          status: 200,
          reason: null,
          tokens: 3,
          cost: 0.00000006,
          dimensions: 1536,
          latency: expect.any(Number),
        },
      },
    ]);
    expect(await app.sql('SELECT 1 FROM generations')).toHaveLength(before.length);
  });

  it('takes the cheapest model by default', async () => {
    setup.upstream.answerWith(answerWithEmbeddings([VECTOR], { prompt_tokens: 1, total_tokens: 1 }));
    expect((await test('openai')).body).toMatchObject({ data: { ok: true, model: SMALL } });
  });

  it("repeats the provider's words about a failure", async () => {
    setup.upstream.answerWith(rejectWith(401, { error: { message: 'Your account is not active' } }));
    expect((await test('openai')).body).toMatchObject({
      data: { ok: false, status: 401, reason: expect.any(String), cost: null, dimensions: null },
    });
  });

  it('uses a named own key, of this account and provider alone', async () => {
    const own = await askFor<{ data: { id: string } }>(201, app, 'post', '/byok', {
      body: { provider: 'openai', key: 'sk-own-key-of-a-customer' },
    });
    setup.upstream.answerWith(answerWithEmbeddings([VECTOR], { prompt_tokens: 1, total_tokens: 1 }));
    const body = { byok_id: own.data.id };
    expect((await test('openai', body)).body).toMatchObject({
      data: { ok: true, credential: 'byok', byok_id: own.data.id },
    });
    expectError(await test('cohere', body), 404, /byok_id/);
    const stranger = await app.createAccount();
    expectError(
      await ask(app, 'post', '/providers/openai/test', { body, key: stranger.managementKey }),
      404,
      /byok_id/,
    );
  });

  it('uses a disabled own key too, before calls do', async () => {
    const own = await askFor<{ data: { id: string } }>(201, app, 'post', '/byok', {
      body: { provider: 'openai', key: 'sk-own-key-of-a-customer', disabled: true },
    });
    setup.upstream.answerWith(answerWithEmbeddings([VECTOR], { prompt_tokens: 1, total_tokens: 1 }));
    expect((await test('openai', { byok_id: own.data.id })).body).toMatchObject({ data: { ok: true } });
  });

  it('says how to configure a provider', async () => {
    expect((await test('voyage')).body).toMatchObject({
      data: { ok: false, status: null, reason: expect.stringContaining('VOYAGE_API_KEY') },
    });
  });

  it.each([
    ['an unknown provider', 'unknown', {}, 404],
    ['a model of another provider', 'openai', { model: 'cohere/embed-v4.0' }, 404],
    ['a byok_id that is no id', 'openai', { byok_id: '1' }, 400],
    ['another member', 'openai', { input: 'x' }, 400],
  ])('rejects %s', async (_name, slug, body, status) => {
    expectError(await test(slug, body), status);
  });

  it('returns 403 for an inference key and 401 without one', async () => {
    expectError(await ask(app, 'post', '/providers/openai/test', { body: {}, key: app.apiKey }), 403);
    expectError(await app.http.post('/api/v1/providers/openai/test'), 401);
  });

  it('is limited for each account', async () => {
    const account = await app.createAccount();
    const send = () => ask(app, 'post', '/providers/local/test', { body: {}, key: account.managementKey });
    for (let count = 0; count < 10; count++) expect((await send()).status).toBe(200);
    expectError(await send(), 429, /10 provider tests a minute/);
  });
});
