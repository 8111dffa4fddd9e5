// POST /embeddings: what each class of provider failures leads to, through the whole service.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { Response } from 'supertest';
import { ask } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { answerOf, embed, rejectWith, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import {
  patternVector,
  sendJson,
  startStubUpstream,
  toBase64,
} from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest, StubHandler, StubUpstream } from '../../support/upstreams/stub-upstream.js';

const endpoint = (provider: string, upstreamModel: string, tokens: number) => ({
  provider,
  upstream_model: upstreamModel,
  max_inputs_per_call: 32,
  max_tokens_per_input: tokens,
  prices: [{ effective_from: '2026-01-01', usd_per_million_tokens: 1, source: 'test' }],
  data_policy: { retains_prompts: false, trains: false },
});
const model = (id: string, endpoints: readonly object[]) => ({
  id,
  created_at: '2026-01-01',
  native_dimensions: 4,
  context_length: 8192,
  endpoints,
});
const CATALOGUE = JSON.stringify({
  models: [
    model('acme/two', [endpoint('tei', 'two', 512), endpoint('openai-compatible', 'two', 8192)]),
    model('acme/local', [endpoint('ollama', 'canary-deployment', 512)]),
  ],
});
/** One endpoint, so that its retries show. */
const ONE = { provider: { only: ['openai'], allow_fallbacks: false } };
const HI = { model: SMALL, input: 'hi', ...ONE };
/** USD of one answer: 3 tokens. */
const USD = 6e-8;

let first: StubUpstream;
let second: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  first = await startStubUpstream(serve);
  second = await startStubUpstream(serve);
  app = await withCatalogueFile(CATALOGUE, (file) =>
    createTestApp({
      environment: {
        OPENAI_API_KEY: 'up',
        OPENAI_BASE_URL: `${first.origin}/v1`,
        AZURE_API_KEY: 'az',
        AZURE_BASE_URL: second.origin,
        GOOGLE_API_KEY: 'g',
        GOOGLE_BASE_URL: first.origin,
        TEI_BASE_URL: first.origin,
        OLLAMA_BASE_URL: first.origin,
        OPENAI_COMPATIBLE_BASE_URL: `${second.origin}/v1`,
        CATALOGUE_FILE: file,
        PROVIDER_RETRY_BASE_DELAY_MS: '1',
      },
    }),
  );
});
afterEach(() => {
  // A refused credential rests for a minute at most.
  app.clock.advance(60_000);
  for (const upstream of [first, second]) {
    upstream.answerWith(null);
    upstream.requests.length = 0;
  }
});
afterAll(async () => {
  await app.close();
  await first.close();
  await second.close();
});

/** Answers like each of the wires behind the stubs, 3 tokens for an input. */
function serve({ path, body }: ReceivedRequest, response: Parameters<StubHandler>[1]): void {
  if (path.includes(':batchEmbedContents')) {
    const requests = body['requests'] as readonly { readonly outputDimensionality?: number }[];
    const embeddings = requests.map(({ outputDimensionality = 3072 }, at) => ({
      values: patternVector(at, outputDimensionality),
    }));
    const usageMetadata = { promptTokenCount: 3 * requests.length, totalTokenCount: 3 * requests.length };
    sendJson(response, 200, { embeddings, usageMetadata });
    return;
  }
  const { input } = body;
  const count = Array.isArray(input) ? input.length : 1;
  const width = /3-small/.test(String(body['model'])) ? 1536 : 4;
  const vectors = Array.from({ length: count }, (_value, at) => patternVector(at, width));
  if (path === '/api/embed') {
    sendJson(response, 200, { embeddings: vectors, prompt_eval_count: 3 * count });
    return;
  }
  const data = vectors.map((vector, index) => ({
    index,
    embedding: body['encoding_format'] === 'base64' ? toBase64(vector) : vector,
  }));
  sendJson(response, 200, { data, usage: { prompt_tokens: 3 * count, total_tokens: 3 * count } });
}

/** The handlers answer one request each, then the stub answers as usual. */
function script(upstream: StubUpstream, ...handlers: readonly StubHandler[]): void {
  const left = [...handlers];
  upstream.answerWith((request, response) => (left.shift() ?? serve)(request, response));
}

interface Shown {
  readonly total_cost: number;
  readonly upstream_inference_cost: number;
}

async function generationOf(response: Response): Promise<Shown> {
  const id = String(response.headers['x-generation-id']);
  const { body } = await ask(app, 'get', `/generation?id=${id}`, { key: app.apiKey });
  return (body as { data: Shown }).data;
}

const retired = { detail: 'reached its end of life' };

describe('an endpoint that cannot serve the model', () => {
  it.each([404, 409, 410, 423, 425, 426, 451])('with status %d is followed by the next', async (status) => {
    first.answerWith(rejectWith(status, retired));
    const response = await embed(app, { model: SMALL, input: 'hi', provider: { order: ['openai'] } });
    expect(answerOf(response).provider).toBe('Azure OpenAI');
    expect(first.requests).toHaveLength(1);
  });

  it.each([
    [410, retired, 'reached its end of life'],
    [400, { error: { message: 'The model `m` does not exist', code: 'model_not_found' } }, 'does not exist'],
    [422, { detail: 'This model has been deprecated.' }, 'has been deprecated'],
  ])('with status %d and %j is the operator’s matter when it is the last', async (status, body, words) => {
    first.answerWith(rejectWith(status, body));
    const response = await embed(app, HI);
    expect(expectError(response, 502, /^Provider returned error: /)).toContain(words);
    expect(response.headers['x-should-retry']).toBe('false');
    expect(first.requests).toHaveLength(1);
  });

  it.each([302, 307, 405])(
    'at a wrong address (%d) names the variable, and is asked once',
    async (status) => {
      first.answerWith(rejectWith(status, {}, { location: 'http://10.9.8.7/inner' }));
      const response = await embed(app, HI);
      expectError(
        response,
        502,
        `Provider returned error: OpenAI serves no embeddings at the address in OPENAI_BASE_URL (HTTP ${status})`,
      );
      expect(response.text).not.toMatch(/10\.9\.8\.7|127\.0\.0\.1/);
      expect(first.requests).toHaveLength(1);
    },
  );
});

describe('an input that is too long for one endpoint', () => {
  const tooLong = { error: 'inputs must have less than 512 tokens. Given: 1038', error_type: 'Validation' };

  it('goes to the next', async () => {
    first.answerWith(rejectWith(413, tooLong));
    const response = await embed(app, { model: 'acme/two', input: 'x', provider: { order: ['tei'] } });
    expect(answerOf(response).provider).toBe('OpenAI-compatible');
  });

  it('is the caller’s error when no other is left', async () => {
    first.answerWith(rejectWith(413, tooLong));
    const response = await embed(app, { model: 'acme/two', input: 'x', provider: { only: ['tei'] } });
    expectError(response, 400, `Provider returned error: ${tooLong.error}`);
    expect(response.body).toMatchObject({
      error: {
        metadata: { error_type: 'context_length_exceeded', provider_name: 'TEI', raw: tooLong.error },
      },
    });
  });

  it('is no outage, however often', async () => {
    first.answerWith(rejectWith(413, tooLong));
    for (let call = 0; call < 8; call++)
      await embed(app, { model: 'acme/two', input: 'x', provider: { only: ['tei'] } });
    const { body } = await ask(app, 'get', '/models/acme/two/endpoints', { key: app.apiKey });
    expect(body).toMatchObject({ data: { endpoints: [{ status: 0 }, { status: 0 }] } });
  });
});

describe('a credential that is refused', () => {
  it.each([401, 402])('with %d rests, while another endpoint serves every call', async (status) => {
    first.answerWith(rejectWith(status, { error: { message: 'Incorrect API key' } }));
    for (let call = 0; call < 20; call++)
      answerOf(await embed(app, { model: SMALL, input: 'hi', provider: { order: ['openai'] } }));
    expect(first.requests.length).toBeLessThan(5);
    expect(second.requests).toHaveLength(20);
  });
});

describe("a provider's rate limit", () => {
  it('is 429 with its Retry-After after the repeats', async () => {
    first.answerWith(rejectWith(429, { error: { message: 'slow down' } }, { 'retry-after': '0.02' }));
    const response = await embed(app, HI);
    expectError(response, 429, 'Provider returned error: slow down');
    expect(response.headers).toMatchObject({ 'retry-after': '1', 'x-should-retry': 'false' });
    expect(response.body).toMatchObject({
      error: { metadata: { error_type: 'rate_limit_exceeded', provider_name: 'OpenAI', raw: 'slow down' } },
    });
    expect(first.requests).toHaveLength(3);
  });

  it.each([503, 529])('is no %d, which is 529', async (status) => {
    first.answerWith(rejectWith(status, { error: { message: 'busy' } }));
    const response = await embed(app, HI);
    expectError(response, 529, 'Provider returned error: busy');
    expect(response.headers['x-should-retry']).toBe('false');
  });
});

describe('an error inside a success', () => {
  const error = { message: 'upstream is rate limited', code: 429, metadata: { provider_name: 'X' } };

  it('is repeated by its own code', async () => {
    script(first, rejectWith(200, { error }));
    answerOf(await embed(app, HI));
    expect(first.requests).toHaveLength(2);
  });

  it.each([
    [SMALL, 'openai', { error }, 429, 'upstream is rate limited'],
    [SMALL, 'openai', { error: { message: 'no key', code: 401 } }, 502, 'OpenAI refused'],
    [SMALL, 'openai', { error: { message: 'not valid', code: 'invalid_request_error' } }, 400, 'not valid'],
    [SMALL, 'openai', { error: 'went wrong' }, 502, 'went wrong'],
    ['acme/two', 'tei', { error: 'Model is overloaded', error_type: 'overloaded' }, 529, 'overloaded'],
    ['acme/local', 'ollama', { error: 'the input length exceeds the context length' }, 400, 'context length'],
    [
      'google/gemini-embedding-001',
      'google',
      { error: { code: 503, message: 'The model is busy.', status: 'UNAVAILABLE' } },
      529,
      'The model is busy.',
    ],
  ])('of %s at %s %j is %d with its words', async (id, provider, body, status, words) => {
    first.answerWith(rejectWith(200, body));
    const response = await embed(app, { model: id, input: 'hi', provider: { only: [provider] } });
    expect(expectError(response, status)).toContain(words);
  });
});

describe('a broken answer', () => {
  const broken = {
    data: [{ object: 'embedding', index: 0, embedding: null }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };

  it('is requested once more; the caller pays one answer, and both bills are recorded', async () => {
    script(first, rejectWith(200, broken));
    const response = await embed(app, HI);
    expect(answerOf(response).usage).toMatchObject({ cost: USD });
    expect(first.requests).toHaveLength(2);
    expect(await generationOf(response)).toMatchObject({ total_cost: USD, upstream_inference_cost: 2 * USD });
  });

  it('twice is a 502 that costs nothing, and both bills are recorded', async () => {
    first.answerWith(rejectWith(200, broken));
    const response = await embed(app, HI);
    expectError(response, 502, /^Provider returned error: a vector is neither/);
    expect(first.requests).toHaveLength(2);
    expect(await generationOf(response)).toMatchObject({ total_cost: 0, upstream_inference_cost: 2 * USD });
  });
});

describe('an input that breaks the model', () => {
  it('is sent once, is a 502 with the words, and is no outage for others', async () => {
    const error = 'failed to encode response: json: unsupported value: NaN';
    first.answerWith(rejectWith(500, { error }));
    for (let call = 1; call <= 6; call++) {
      const response = await embed(app, { model: 'acme/local', input: 'poison' });
      expectError(response, 502, `Provider returned error: ${error}`);
      expect(response.headers['x-should-retry']).toBe('false');
      expect(first.requests).toHaveLength(call);
    }
    const { body } = await ask(app, 'get', '/models/acme/local/endpoints', { key: app.apiKey });
    expect(body).toMatchObject({ data: { endpoints: [{ status: 0 }] } });
  });
});

describe('retries', () => {
  it('of a client do not multiply those of the service', async () => {
    first.answerWith(rejectWith(500, {}));
    const client = new OpenAI({ apiKey: app.apiKey, baseURL: app.baseUrl });
    await expect(client.embeddings.create(HI as never)).rejects.toThrow('Provider returned error');
    expect(first.requests).toHaveLength(3);
  });
});

describe('a slice with a Retry-After', () => {
  const input = Array.from({ length: 250 }, (_value, at) => `n${at}`);
  const body = { model: 'google/gemini-embedding-001', input };
  const isLast = ({ body: sent }: ReceivedRequest): boolean => JSON.stringify(sent).includes('"n249"');
  const quota = (retryDelay: string): StubHandler =>
    rejectWith(429, {
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'quota', details: [{ retryDelay }] },
    });
  const rejectLast =
    (handler: StubHandler): StubHandler =>
    (request, response) =>
      (isLast(request) ? handler : serve)(request, response);

  it('waits as long as the call may take, since the others are paid for', async () => {
    let isRejected = false;
    first.answerWith((request, response) => {
      const rejects = isLast(request) && !isRejected;
      isRejected ||= rejects;
      return (rejects ? quota('5.1s') : serve)(request, response);
    });
    expect(answerOf(await embed(app, body)).data).toHaveLength(250);
    expect(first.requests).toHaveLength(4);
  });

  it('leaves what the others were served to the retry of the same key, which pays it once', async () => {
    first.answerWith(rejectLast(quota('90s')));
    const { secret } = await app.createKey();
    const failed = [await embed(app, body, secret), await embed(app, body, secret)];
    for (const response of failed) {
      expectError(response, 429, 'Provider returned error: quota');
      expect(response.headers['retry-after']).toBe('59');
    }
    expect(first.requests).toHaveLength(3 + 1);
    first.answerWith(null);
    const served = answerOf(await embed(app, body, secret));
    expect(first.requests).toHaveLength(3 + 1 + 1);
    expect(served.data.map(({ index }) => index)).toEqual([...input.keys()]);
    expect(served.usage).toMatchObject({ prompt_tokens: 750 });
    const rows = await app.sql<{ cost: string; upstream: string }>(
      `SELECT cost::text, upstream_cost::text AS upstream FROM generations
        WHERE api_key_id = (SELECT api_key_id FROM generations WHERE id = $1::uuid) ORDER BY cost`,
      [served.id.replace('embd-', '')],
    );
    const whole = Number(served.usage['cost']);
    const sumOf = (amounts: readonly string[]): number =>
      amounts.reduce((sum, amount) => sum + Number(amount), 0);
    expect(rows).toHaveLength(3);
    expect(rows.slice(0, 2).map(({ cost }) => Number(cost))).toEqual([0, 0]);
    // Every token was billed once by the provider and paid once by the caller.
    expect(sumOf(rows.map(({ cost }) => cost))).toBeCloseTo(whole, 12);
    expect(sumOf(rows.map(({ upstream }) => upstream))).toBeCloseTo(whole, 12);
    // Another key, or the same one again, has nothing left.
    await embed(app, body, secret);
    expect(first.requests).toHaveLength(5 + 3);
  });
});

describe("a provider's words", () => {
  it.each([400, 500, 503])('of status %d have no inner name and no secret, and are cut', async (status) => {
    const inner =
      'canary-deployment at http://vllm-7b:8000 (10.1.2.3), arn:aws:iam::123456789012:user/canary-user, org-a1b2c3d4e5';
    first.answerWith(rejectWith(status, { error: `${inner} ${'x'.repeat(5_000)}` }));
    const response = await embed(app, { model: 'acme/local', input: 'hi' });
    expect(response.text).not.toMatch(/canary|vllm-7b|10\.1\.2\.3|123456789012|org-a1/);
    const { message, metadata } = (response.body as { error: { message: string; metadata: { raw: string } } })
      .error;
    expect(message).toMatch(/^Provider returned error: acme\/local at \[address\]/);
    expect(message.length).toBe('Provider returned error: '.length + 300);
    expect(metadata.raw).toHaveLength(1_000);
  });
});
