// POST /embeddings by the names that clients already have in their settings: variants, dated ids, bare names, providers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerOf,
  answerWithEmbeddings,
  embed,
  embeddingsOf,
  LOCAL,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

let setup: Setup;
let google: StubUpstream;
let bedrock: StubUpstream;
beforeAll(async () => {
  google = await startStubUpstream(({ body }, response) => {
    const requests = body['requests'] as unknown[];
    sendJson(response, 200, { embeddings: requests.map(() => ({ values: Array(3072).fill(0.5) })) });
  });
  bedrock = await startStubUpstream((_request, response) =>
    sendJson(response, 200, { embedding: Array(1024).fill(0.5), inputTextTokenCount: 2 }),
  );
  setup = await startWithUpstream({
    GOOGLE_API_KEY: 'upstream-key',
    GOOGLE_BASE_URL: google.origin,
    BEDROCK_API_KEY: 'upstream-key',
    BEDROCK_BASE_URL: bedrock.origin,
  });
});
afterEach(() => {
  setup.upstream.answerWith(null);
  for (const { requests } of [google, bedrock, setup.upstream]) requests.length = 0;
});
afterAll(async () => {
  await setup.close();
  await google.close();
  await bedrock.close();
});

const loggedModel = async (): Promise<unknown> => {
  const rows = await setup.app.sql<{ model: string }>(
    'SELECT model FROM generations ORDER BY id DESC LIMIT 1',
  );
  return rows[0]?.model;
};

describe('the name of a model', () => {
  it.each([
    `${SMALL}:floor`,
    `${SMALL}:nitro`,
    `${SMALL}:exacto`,
    'text-embedding-3-small',
    'text-embedding-3-small:floor',
  ])('%s is answered and recorded with the one id', async (model) => {
    const { data, model: answered } = answerOf(await embed(setup.app, { model, input: 'hi' }));
    expect(data).toHaveLength(1);
    expect(answered).toBe(SMALL);
    expect(await loggedModel()).toBe(SMALL);
  });

  it.each([`${SMALL}:free`, `${SMALL}:online`, `${SMALL}:floor:nitro`])(
    '%s is unknown: other suffixes are names of their own',
    async (model) => {
      const message = `Resource not found: there is no embedding model ${model}`;
      expectError(await embed(setup.app, { model, input: 'hi' }), 404, message);
    },
  );

  it('has no effect on metadata but the request', async () => {
    const response = await embed(setup.app, { model: 'text-embedding-3-small:floor', input: 'hi' }).set(
      'x-openrouter-metadata',
      'enabled',
    );
    expect(response.body).toMatchObject({
      model: SMALL,
      openrouter_metadata: {
        requested: 'text-embedding-3-small:floor',
        endpoints: { available: [{ model: SMALL }] },
        attempts: [{ model: SMALL }],
      },
    });
  });

  it('may be a former one, with the same vectors', async () => {
    const model = 'google/gemini-embedding-2-preview';
    const response = await embed(setup.app, { model, input: 'hi' });
    expect(answerOf(response).model).toBe('google/gemini-embedding-2');
    expect(embeddingsOf(response)).toEqual(
      embeddingsOf(await embed(setup.app, { model: 'google/gemini-embedding-2', input: 'hi' })),
    );
    expect(google.requests.map(({ path }) => path)).toEqual(
      Array(2).fill('/models/gemini-embedding-2:batchEmbedContents'),
    );
  });

  it('does not divide the embedding cache', async () => {
    const ask = (model: string) =>
      embed(setup.app, { model, input: 'one text' }).set('x-embedding-cache', 'on');
    expect((await ask('local/hashing')).headers['x-embedding-cache']).toBe('miss');
    expect((await ask('hashing:floor')).headers['x-embedding-cache']).toBe('hit');
  });
});

describe('dated ids', () => {
  it.each([
    ['mistralai/mistral-embed-2312', 'mistralai/mistral-embed', 'mistral-embed', 1024],
    ['mistralai/codestral-embed-2505', 'mistralai/codestral-embed', 'codestral-embed', 1536],
  ])('%s is %s', async (dated, id, upstreamModel, width) => {
    const upstream = await startStubUpstream(answerWithEmbeddings([JSON.stringify(Array(width).fill(0.5))]));
    const replica = await startWithUpstream({
      MISTRAL_API_KEY: 'upstream-key',
      MISTRAL_BASE_URL: `${upstream.origin}/v1`,
    });
    try {
      const response = await embed(replica.app, { model: dated, input: 'hi' });
      expect(answerOf(response).model).toBe(id);
      expect(upstream.requests.map(({ body }) => body['model'])).toEqual([upstreamModel]);
      const { body } = await replica.app.http.get('/api/v1/embeddings/models');
      expect((body as { data: unknown[] }).data).toContainEqual(
        expect.objectContaining({ id, canonical_slug: dated }),
      );
    } finally {
      await replica.close();
      await upstream.close();
    }
  });
});

describe('the name of a provider', () => {
  it.each([
    ['only', ['google-ai-studio']],
    ['only', ['Google AI Studio']],
    ['order', ['Google', 'openai']],
  ])('%s: %j serves by Google', async (list, names) => {
    const body = { model: 'google/gemini-embedding-001', input: 'hi', provider: { [list]: names } };
    expect(answerOf(await embed(setup.app, body)).provider).toBe('Google');
    expect(google.requests).toHaveLength(1);
  });

  it.each(['amazon-bedrock', 'Amazon Bedrock', 'bedrock', 'Amazon-Bedrock'])(
    '%s selects and excludes the same provider',
    async (name) => {
      const body = { model: 'amazon/titan-embed-text-v2', input: 'hi' };
      answerOf(await embed(setup.app, { ...body, provider: { only: [name] } }));
      expect(bedrock.requests).toHaveLength(1);
      const excluded = await embed(setup.app, { ...body, provider: { ignore: [name] } });
      expectError(excluded, 404, 'No allowed providers are available for the selected model.');
      expect(bedrock.requests).toHaveLength(1);
    },
  );

  it.each([
    ['only', ['openai', 'nebius-2'], 'provider.only[1]: no provider has the slug nebius-2'],
    ['order', ['unknown/turbo'], 'provider.order[0]: no provider has the slug unknown/turbo'],
    ['ignore', ['amazon_bedrock'], 'provider.ignore[0]: no provider has the slug amazon_bedrock'],
  ])('%s: %j is rejected by name', async (list, names, message) => {
    const response = await embed(setup.app, { model: SMALL, input: 'hi', provider: { [list]: names } });
    const detail = `${message}; GET /api/v1/providers lists the slugs`;
    expectError(response, 400, `Invalid request parameters: ${detail}`);
    expect(setup.upstream.requests).toEqual([]);
  });

  it.each([
    ['only', ['openai', 'azure/swedencentral'], 'provider.only[1]', 'azure/swedencentral', 'azure'],
    ['order', ['Amazon-Bedrock/eu-west-1'], 'provider.order[0]', 'Amazon-Bedrock/eu-west-1', 'bedrock'],
    ['ignore', ['azure/swedencentral'], 'provider.ignore[0]', 'azure/swedencentral', 'azure'],
    ['ignore', ['openai/'], 'provider.ignore[0]', 'openai/', 'openai'],
  ])('%s: %j names a region that no endpoint has, and is rejected', async (list, names, path, tag, slug) => {
    const response = await embed(setup.app, { model: SMALL, input: 'hi', provider: { [list]: names } });
    const detail = `${path}: no endpoint has the tag ${tag}; use a tag of the model's list of endpoints, or ${slug}`;
    expectError(response, 400, `Invalid request parameters: ${detail}`);
    expect(setup.upstream.requests).toEqual([]);
  });

  it('may be an alias at /byok, which shows the slug of its own', async () => {
    const { app } = setup;
    const created = await app.http
      .post('/api/v1/byok')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ provider: 'google-ai-studio', key: 'own-key-123456', disabled: true });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ data: { provider: 'google' } });
    const listed = await app.http
      .get('/api/v1/byok?provider=google-ai-studio')
      .set('authorization', `Bearer ${app.managementKey}`);
    expect(listed.body).toMatchObject({ total_count: 1 });
  });

  it('is listed with its aliases', async () => {
    const { body } = await setup.app.http.get('/api/v1/providers');
    expect((body as { data: unknown[] }).data).toContainEqual(
      expect.objectContaining({ slug: 'bedrock', aliases: ['amazon-bedrock'] }),
    );
  });
});

describe('404: a model that no endpoint can serve', () => {
  it.each([
    [{ only: ['vLLM'] }, ['vLLM']],
    [{ ignore: ['OpenAI'] }, []],
    [{ order: ['mistral'], allow_fallbacks: false }, ['mistral']],
    [{ max_price: { prompt: '0.019999' } }, []],
    [{ zdr: true }, []],
  ])('because of the preferences %j', async (provider, requested) => {
    const response = await embed(setup.app, { model: SMALL, input: 'a', provider });
    expectError(response, 404, 'No allowed providers are available for the selected model.');
    expect(response.body).toMatchObject({
      error: { metadata: { available_providers: ['openai'], requested_providers: requested } },
    });
    expect(response.headers).not.toHaveProperty('x-generation-id');
    expect(setup.upstream.requests).toEqual([]);
  });

  it.each([
    ['voyage/voyage-4', 'VOYAGE_API_KEY'],
    ['baai/bge-base-en-v1.5', 'TOGETHER_API_KEY, or DEEPINFRA_API_KEY'],
  ])('because no provider of %s is configured', async (model, variables) => {
    const response = await embed(setup.app, { model, input: 'a' });
    const message = `Resource not found: no provider of ${model} is configured; the operator can set ${variables}`;
    expectError(response, 404, message);
    expect(response.headers).not.toHaveProperty('x-generation-id');
    answerOf(await embed(setup.app, { model: LOCAL, input: 'a' }));
  });

  it('names the addresses that providers lack as well', async () => {
    const replica = await startWithUpstream({ OPENAI_API_KEY: '' });
    try {
      const message = 'the operator can set OPENAI_API_KEY, or AZURE_BASE_URL and AZURE_API_KEY';
      expect(expectError(await embed(replica.app, { model: SMALL, input: 'a' }), 404)).toContain(message);
    } finally {
      await replica.close();
    }
  });
});
