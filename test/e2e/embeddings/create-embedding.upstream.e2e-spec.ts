// POST /embeddings: errors for provider failures. Contract: docs/contract.md#errors.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import {
  answerOf,
  answerWithEmbeddings,
  embed,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { startStubUpstream, toBase64 } from '../../support/upstreams/stub-upstream.js';
import type { StubHandler } from '../../support/upstreams/stub-upstream.js';

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

const BODY = { model: SMALL, input: ['a', 'b'], dimensions: 2 };

async function answerTo(handler: StubHandler, body: object = BODY): Promise<Response> {
  setup.upstream.answerWith(handler);
  return embed(setup.app, body);
}

/** Every failure of a provider names the provider, the id of its generation and no secret. */
function expectProviderError(response: Response, status: number, message: string, errorType: string): void {
  expect(response.status).toBe(status);
  expectError(response, status, new RegExp(`^${message}: .`));
  expect(response.body).toMatchObject({
    error: { metadata: { error_type: errorType, provider_name: 'OpenAI' } },
  });
  expect(response.headers['x-generation-id']).toMatch(/^gen-[0-9a-f]{32}$/);
  expect(response.text).not.toContain('upstream-key');
}

function expectBadGateway(response: Response): void {
  expectProviderError(response, 502, 'Provider returned error', 'provider_unavailable');
}

const withData = (data: unknown): StubHandler =>
  rejectWith(200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } });
const NAN = toBase64([Number.NaN, 1]);

describe('502: an unusable response', () => {
  it.each([
    ['no JSON', rejectWith(200, '<html></html>')],
    ['nothing', rejectWith(200, '')],
    ['JSON that ends early', rejectWith(200, '{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embed')],
    ['another shape', rejectWith(200, { embeddings: [[1, 2]] })],
    ['no content', (_request, response) => void response.writeHead(204).end()],
    ['no vector', answerWithEmbeddings([])],
    ['too few vectors', answerWithEmbeddings(['[1,2]'])],
    ['too many vectors', answerWithEmbeddings(['[1,2]', '[1,2]', '[1,2]'])],
    ['a vector that is too short', answerWithEmbeddings(['[1,2]', '[1]'])],
    ['a vector that is too long', answerWithEmbeddings(['[1,2]', '[1,2,3]'])],
    ['an empty vector', answerWithEmbeddings(['[1,2]', '[]'])],
    ['a number that is NaN', answerWithEmbeddings(['[1,2]', '[NaN,1]'])],
    ['a number that is null', answerWithEmbeddings(['[1,2]', '[null,1]'])],
    ['a number that is text', answerWithEmbeddings(['[1,2]', '["1",1]'])],
    ['a number that float32 cannot hold', answerWithEmbeddings(['[1,2]', '[1e39,1]'])],
    ['a vector of vectors', answerWithEmbeddings(['[1,2]', '[[1],[2]]'])],
    ['base64 that holds NaN', answerWithEmbeddings([`"${toBase64([1, 2])}"`, `"${NAN}"`])],
    ['base64 that is cut', answerWithEmbeddings(['[1,2]', `"${toBase64([1, 2]).slice(0, 6)}"`])],
    ['text that is not base64', answerWithEmbeddings(['[1,2]', '"hello there!"'])],
    ['a vector of zeros', answerWithEmbeddings(['[1,2]', '[0,-0.0e5]'])],
    ['base64 of zeros', answerWithEmbeddings(['[1,2]', `"${toBase64([0, -0])}"`])],
    ['an index twice', withData([0, 0].map((index) => ({ index, embedding: [1, 2] })))],
    ['an index beyond the inputs', withData([0, 2].map((index) => ({ index, embedding: [1, 2] })))],
    ['more bytes than so many vectors can have', rejectWith(200, ' '.repeat(3_000_000))],
  ] satisfies [string, StubHandler][])('is returned for a response with %s', async (_name, handler) => {
    expectBadGateway(await answerTo(handler));
  });

  it.each([
    ['shorter', '[1,2]'],
    ['null', 'null'],
  ])('is returned for a vector of the native width that is %s', async (_name, embedding) => {
    expectBadGateway(await answerTo(answerWithEmbeddings([embedding]), { model: SMALL, input: 'a' }));
  });
});

describe('502: a failed connection', () => {
  const start = (response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write('{"data":[{"index":0,"embedding":[1,2]},');
  };

  it.each([
    ['before the answer', (_request, response) => void response.socket?.resetAndDestroy()],
    [
      'in the midst of the answer',
      (_request, response) => {
        start(response);
        setImmediate(() => response.socket?.resetAndDestroy());
      },
    ],
    [
      'before the announced length',
      (_request, response) => {
        start(response, { 'content-length': '1000' });
        setImmediate(() => response.socket?.end());
      },
    ],
  ] satisfies [string, StubHandler][])('is returned when it breaks %s', async (_name, handler) => {
    expectBadGateway(await answerTo(handler));
  });

  it('is returned while the provider does not listen, and the next call succeeds once it does', async () => {
    const gone = await startStubUpstream();
    const { origin } = gone;
    await gone.close();
    const lonely = await startWithUpstream({ OPENAI_BASE_URL: `${origin}/v1` });
    try {
      expectBadGateway(await embed(lonely.app, BODY));
    } finally {
      await lonely.close();
    }
  });

  it('is followed by a successful call', async () => {
    expectBadGateway(await answerTo((_request, response) => void response.socket?.resetAndDestroy()));
    setup.upstream.answerWith(null);
    answerOf(await embed(setup.app, BODY));
  });
});

describe('502: a rejection that concerns the operator', () => {
  // A rejected credential rests for a minute at most.
  afterEach(() => setup.app.clock.advance(60_000));

  it.each([401, 402, 403])('hides the text of status %d', async (status) => {
    const message = 'Incorrect API key provided: upstream-key. You have 3 USD of debt.';
    const response = await answerTo(rejectWith(status, { error: { message, code: 'invalid_api_key' } }));
    expectBadGateway(response);
    expect(response.text).not.toMatch(/Incorrect|debt/);
  });

  it("is returned for status 429 when the operator's account is exhausted", async () => {
    const error = { message: 'You exceeded your current quota, see billing.', code: 'insufficient_quota' };
    const response = await answerTo(rejectWith(429, { error }));
    expectBadGateway(response);
    expect(response.text).not.toContain('billing');
  });

  it.each([404, 405, 500, 501, 502])('cuts the text of status %d', async (status) => {
    const response = await answerTo(rejectWith(status, { error: { message: 'x'.repeat(5_000) } }));
    expectBadGateway(response);
    expect(response.body).toMatchObject({ error: { metadata: { raw: 'x'.repeat(1_000) } } });
  });

  it('is returned for a redirect, which is not followed', async () => {
    const elsewhere = await startStubUpstream();
    try {
      const location = `${elsewhere.origin}/v1/embeddings`;
      expectBadGateway(await answerTo(rejectWith(307, {}, { location })));
      expect(elsewhere.requests).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });
});

// Longer than the deadline of a call: no call waits for it here.
describe('429 and 529', () => {
  it.each([
    [429, 429, 'rate_limit_exceeded'],
    [503, 529, 'provider_overloaded'],
    [529, 529, 'provider_overloaded'],
  ])(
    "are returned for the provider's %d, with its Retry-After of at most 59",
    async (upstream, status, errorType) => {
      const body = { error: { message: 'Slow down.' } };
      for (const [given, expected] of [
        ['90', '59'],
        ['7.2', '8'],
        ['999999999999', '59'],
      ] as const) {
        const response = await answerTo(rejectWith(upstream, body, { 'retry-after': given }));
        expectProviderError(response, status, 'Provider returned error', errorType);
        expect(response.headers['retry-after']).toBe(expected);
        expect(response.headers).not.toHaveProperty('x-should-retry');
        expect(response.body).toMatchObject({
          error: {
            message: 'Provider returned error: Slow down.',
            metadata: { raw: 'Slow down.', retry_after_seconds: Number(expected) },
          },
        });
      }
    },
  );

  it('has the seconds until the date that the provider names', async () => {
    const date = new Date(setup.app.clock.now().getTime() + 30_000).toUTCString();
    const response = await answerTo(rejectWith(429, {}, { 'retry-after': date }));
    expectProviderError(response, 429, 'Provider returned error', 'rate_limit_exceeded');
    expect(response.headers['retry-after']).toBe('30');
  });

  it.each(['soon', '-1', ''])('has no Retry-After made of %j', async (given) => {
    const response = await answerTo(rejectWith(429, {}, { 'retry-after': given }));
    expectProviderError(response, 429, 'Provider returned error', 'rate_limit_exceeded');
    expect(response.headers['retry-after'] ?? '1').toMatch(/^\d+$/);
  });
});

describe('524', () => {
  it.each([408, 504, 524])("is returned for the provider's %d", async (status) => {
    const response = await answerTo(rejectWith(status, {}));
    expectProviderError(response, 524, 'Request timed out. Please try again later.', 'timeout');
  });

  it.each([
    ['never answers', () => undefined],
    ['stops in the midst of its answer', (_request, response) => void response.write('{"data":[')],
  ] satisfies [string, StubHandler][])('is returned when the provider %s', async (_name, handler) => {
    const impatient = await startWithUpstream({ PROVIDER_TIMEOUT_MS: '100' });
    try {
      impatient.upstream.answerWith(handler);
      const response = await embed(impatient.app, BODY);
      expectProviderError(response, 524, 'Request timed out. Please try again later.', 'timeout');
    } finally {
      await impatient.close();
    }
  });
});

describe('408', () => {
  it("is returned when the operation exceeds its deadline before the provider's time-out", async () => {
    const impatient = await startWithUpstream({ OPERATION_DEADLINE_MS: '150' });
    try {
      impatient.upstream.answerWith(() => undefined);
      const response = await embed(impatient.app, BODY);
      expect(response.status).toBe(408);
      expectError(response, 408, 'Operation timed out. Please try again later.');
      expect(response.body).toMatchObject({ error: { metadata: { error_type: 'timeout' } } });
      expect(response.headers['x-generation-id']).toMatch(/^gen-[0-9a-f]{32}$/);
    } finally {
      await impatient.close();
    }
  });
});

describe('a call of more inputs than one provider call takes', () => {
  it('is answered with the first failure, and its other slices are cancelled', async () => {
    let leave = (): void => undefined;
    const hasLeft = new Promise<void>((resolve) => (leave = resolve));
    const response = await answerTo(
      (request, answer) => {
        // The first slice would fail in another way if a call waited for it.
        if ((request.body['input'] as unknown[]).length > 1) answer.once('close', leave);
        else void rejectWith(400, { error: { message: 'The last one is too long.' } })(request, answer);
      },
      { model: SMALL, input: Array.from({ length: 2049 }, () => 'a'), dimensions: 2 },
    );
    expectProviderError(response, 400, 'Provider returned error', 'invalid_request');
    expect(response.body).toMatchObject({ error: { metadata: { raw: 'The last one is too long.' } } });
    await hasLeft;
    expect(setup.upstream.requests).toHaveLength(2);
    const [generation] = await setup.app.sql<{ attempts: unknown; cost: string }>(
      "SELECT attempts, cost FROM generations WHERE 'gen-' || replace(id::text, '-', '') = $1",
      [response.headers['x-generation-id']],
    );
    expect(generation).toMatchObject({
      cost: '0.000000000000',
      attempts: [
        { status: 400, errorType: 'refused' },
        { status: null, errorType: 'cancelled' },
      ],
    });
  });
});
