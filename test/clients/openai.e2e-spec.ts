// The real client openai 6 against the listening service. It requests base64 by default, and accepts any response.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { LOCAL, rejectWith, SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';
import { patternVector } from '../support/upstreams/stub-upstream.js';

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

const clientWith = (apiKey: string): OpenAI =>
  new OpenAI({ apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });

async function failureOf(call: PromiseLike<unknown>): Promise<APIError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(APIError);
  return outcome as APIError;
}

describe('embeddings', () => {
  it("are requested as base64 end to end with the client's defaults, and decoded", async () => {
    const answer = await clientWith(setup.app.apiKey).embeddings.create({ model: SMALL, input: 'one' });
    expect(setup.upstream.requests[0]!.body['encoding_format']).toBe('base64');
    expect(answer).toMatchObject({
      object: 'list',
      model: SMALL,
      data: [{ object: 'embedding', index: 0, embedding: patternVector(0, 1536) }],
      usage: { prompt_tokens: 5, total_tokens: 5, cost: 1e-7, is_byok: false },
    });
  });

  it("are complete with the client's defaults when the provider returns numbers only", async () => {
    const numbers = patternVector(0, 1536);
    setup.upstream.answerWith(rejectWith(200, { data: [{ index: 0, embedding: numbers }], usage: {} }));
    const { data } = await clientWith(setup.app.apiKey).embeddings.create({ model: SMALL, input: 'one' });
    expect(data[0]!.embedding).toEqual(numbers);
  });

  it('as float equal the numbers that the defaults decode', async () => {
    const client = clientWith(setup.app.apiKey);
    const [decoded, plain] = await Promise.all([
      client.embeddings.create({ model: LOCAL, input: 'some text' }),
      client.embeddings.create({ model: LOCAL, input: 'some text', encoding_format: 'float' }),
    ]);
    expect(Float32Array.from(plain.data[0]!.embedding)).toEqual(
      Float32Array.from(decoded.data[0]!.embedding),
    );
    expect(plain.data[0]!.embedding).toHaveLength(1024);
  });

  it('of an array have the order of the inputs', async () => {
    const input = Array.from({ length: 50 }, (_value, index) => `text ${index}`);
    const { data } = await clientWith(setup.app.apiKey).embeddings.create({ model: SMALL, input });
    expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(
      input.map((_text, index) => [index, index + 1]),
    );
  });

  it.each([
    ['one array of tokens', [1, 2, 3], 1],
    ['arrays of tokens', [[1, 2], [3]], 2],
  ])('of %s are returned', async (_name, input, expected) => {
    const { data } = await clientWith(setup.app.apiKey).embeddings.create({ model: LOCAL, input });
    expect(data).toHaveLength(expected);
  });

  it.each([1, 256, 1536])('have the width of dimensions %d', async (dimensions) => {
    const client = clientWith(setup.app.apiKey);
    const { data } = await client.embeddings.create({ model: SMALL, input: 'one', dimensions });
    expect(data[0]!.embedding).toEqual(patternVector(0, dimensions));
  });

  it('carry the request id that the client exposes, and members that it does not know', async () => {
    const body = { model: SMALL, input: 'one', provider: { allow_fallbacks: false }, session_id: 's-1' };
    const answer = await clientWith(setup.app.apiKey).embeddings.create(body);
    expect((answer as { _request_id?: string | null })._request_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('errors', () => {
  const ask = (client: OpenAI, model = SMALL): Promise<APIError> =>
    failureOf(client.embeddings.create({ model, input: 'a' }));

  it('with 400 are a BadRequestError', async () => {
    const failure = await ask(clientWith(setup.app.apiKey), 'open ai');
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure.message).toContain('model: must have the form vendor/model');
  });

  it('with 401 are an AuthenticationError', async () => {
    expect(await ask(clientWith('sk-sb-v1-unknown'))).toBeInstanceOf(AuthenticationError);
    expect(await ask(clientWith(setup.app.managementKey))).toBeInstanceOf(AuthenticationError);
  });

  it('with 402 are an APIError with its status and its reason', async () => {
    const { secret } = await setup.app.createKey({ limit: 0n });
    const failure = await ask(clientWith(secret));
    expect(failure.status).toBe(402);
    expect(failure.message).toContain('API key limit exceeded');
  });

  it('with 404 are a NotFoundError', async () => {
    expect(await ask(clientWith(setup.app.apiKey), 'openai/unknown')).toBeInstanceOf(NotFoundError);
  });

  it('with 429 are a RateLimitError with Retry-After', async () => {
    const limited = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '1' });
    try {
      const client = new OpenAI({ apiKey: limited.app.apiKey, baseURL: limited.app.baseUrl, maxRetries: 0 });
      await client.embeddings.create({ model: LOCAL, input: 'a' });
      const failure = await ask(client, LOCAL);
      expect(failure).toBeInstanceOf(RateLimitError);
      expect(failure.headers?.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await limited.close();
    }
  });

  it.each([
    [413, 413],
    [502, 401],
    [524, 504],
    [529, 503],
  ])('with %d keep their status, message and request id', async (status, upstreamStatus) => {
    // A rejected credential rests for a minute at most.
    setup.app.clock.advance(60_000);
    setup.upstream.answerWith(rejectWith(upstreamStatus, {}, { 'retry-after': '90' }));
    const failure = await ask(clientWith(setup.app.apiKey));
    expect(failure.status).toBe(status);
    expect(failure.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(failure.error).toMatchObject({ code: status, message: expect.any(String) });
    expect(failure instanceof InternalServerError).toBe(status >= 500);
  });
});
