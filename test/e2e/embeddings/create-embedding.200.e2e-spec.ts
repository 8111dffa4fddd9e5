// POST /embeddings: upstream requests and responses of successful calls.
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
import { patternVector, sendJson, toBase64 } from '../../support/upstreams/stub-upstream.js';

const textItem = (...texts: string[]) => ({ content: texts.map((text) => ({ type: 'text', text })) });

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

/** The embedding of one input in its own call. */
const alone = async (model: string, input: unknown): Promise<unknown> =>
  embeddingsOf(await embed(setup.app, { model, input }))[0];

describe('200: the forms of input', () => {
  it.each([
    ['a string', 'one', ['one']],
    ['an array of strings', ['one', 'two', 'three'], ['one', 'two', 'three']],
    ['one array of tokens', [1, 2, 3], [[1, 2, 3]]],
    ['arrays of tokens', [[1, 2, 3], [4]], [[1, 2, 3], [4]]],
    ['multimodal items', [textItem('one', 'two'), textItem('three')], ['one\ntwo', 'three']],
  ])('%s returns one vector for every input from local/hashing, in order', async (_name, input, inputs) => {
    const vectors = embeddingsOf(await embed(setup.app, { model: LOCAL, input }));
    expect(vectors).toHaveLength(inputs.length);
    for (const [index, single] of inputs.entries())
      expect(vectors[index]).toEqual(await alone(LOCAL, single));
    expect(new Set(vectors.map((vector) => JSON.stringify(vector))).size).toBe(inputs.length);
  });

  it.each([
    ['a string', 'one', ['one']],
    ['an array of strings', ['one', 'two'], ['one', 'two']],
    ['one array of tokens', [1, 2, 3], [[1, 2, 3]]],
    ['arrays of tokens', [[1, 2, 3], [4]], [[1, 2, 3], [4]]],
    ['odd text', ['\u0000 \u{1f600} "\\'], ['\u0000 \u{1f600} "\\']],
  ])('%s is sent upstream whole and alone', async (_name, input, inputs) => {
    const vectors = embeddingsOf(await embed(setup.app, { model: SMALL, input }));
    expect(vectors).toEqual(inputs.map((_input, index) => patternVector(index, 1536)));
    const { method, path, body } = setup.upstream.requests[0]!;
    expect({ method, path, body }).toEqual({
      method: 'POST',
      path: '/v1/embeddings',
      body: { model: 'text-embedding-3-small', input: inputs, encoding_format: 'float' },
    });
    expect(setup.upstream.requests).toHaveLength(1);
  });

  it('returns 2048 inputs in their order', async () => {
    const input = Array.from({ length: 2048 }, (_value, index) => `text ${index}`);
    const { data } = answerOf(await embed(setup.app, { model: SMALL, input, dimensions: 2 }));
    expect(data.map(({ index, embedding }) => [index, embedding])).toEqual(
      input.map((_text, index) => [index, patternVector(index, 2)]),
    );
  });
});

describe('200: the upstream request', () => {
  it('has no member that is null', async () => {
    const nothing = { dimensions: null, encoding_format: null, input_type: null, user: null, truncate: null };
    const unsent = { provider: null, session_id: null, trace: null };
    answerOf(await embed(setup.app, { model: SMALL, input: 'a', ...nothing, ...unsent }));
    expect(setup.upstream.requests[0]?.body).toEqual({
      model: 'text-embedding-3-small',
      input: ['a'],
      encoding_format: 'float',
    });
  });

  it("carries the credential of the provider and none of the caller's headers", async () => {
    await embed(setup.app, { model: SMALL, input: 'a' })
      .set('cookie', 'session=1')
      .set('x-session-id', 's-1')
      .set('http-referer', 'https://app.test');
    const { headers } = setup.upstream.requests[0]!;
    expect(headers.authorization).toBe('Bearer upstream-key');
    expect(Object.keys(headers).toSorted()).toEqual(
      ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host'].toSorted(),
    );
  });

  it('contains unknown members unchanged', async () => {
    setup.upstream.answerWith(answerWithEmbeddings(['[1,2]']));
    const unknown = { truncate: 'END', nested: { a: [1, null, 'x'] }, zero: 0, extra: true };
    answerOf(await embed(setup.app, { model: SMALL, input: 'a', dimensions: 2, ...unknown }));
    expect(setup.upstream.requests[0]!.body).toEqual({
      model: 'text-embedding-3-small',
      input: ['a'],
      encoding_format: 'float',
      dimensions: 2,
      ...unknown,
    });
  });

  it('contains the user, and no member for tracing, routing or other providers', async () => {
    answerOf(
      await embed(setup.app, {
        model: SMALL,
        input: 'a',
        user: 'u-1',
        input_type: 'search_query',
        session_id: 's-1',
        trace: { trace_id: 't-1', anything: { a: 1 } },
        provider: { allow_fallbacks: false, order: ['openai'], only: null },
      }),
    );
    expect(setup.upstream.requests[0]!.body).toEqual({
      model: 'text-embedding-3-small',
      input: ['a'],
      encoding_format: 'float',
      user: 'u-1',
    });
  });

  it.each([
    undefined,
    null,
    {},
    { allow_fallbacks: null },
    { allow_fallbacks: true },
    { only: ['OpenAI'], max_price: { prompt: 0.1 * 3, image: '0', completion: '1e-20' } },
    { preferred_max_latency: { p50: 5, p90: null }, preferred_min_throughput: { p99: null } },
  ])('is unchanged by the routing preferences %j', async (provider) => {
    answerOf(await embed(setup.app, { model: SMALL, input: 'a', provider }));
    expect(setup.upstream.requests).toHaveLength(1);
  });
});

describe('200: the form of the vectors', () => {
  const values = [0.1, -2.5, 1e-7];
  const floats = '[0.10000000149011612, -2.50,1e-7 ]';
  const base64 = toBase64(values);
  const ask = async (format: string | undefined, given: string): Promise<string> => {
    setup.upstream.answerWith(answerWithEmbeddings([given, given]));
    const response = await embed(setup.app, {
      model: SMALL,
      input: ['a', 'b'],
      dimensions: 3,
      ...(format === undefined ? {} : { encoding_format: format }),
    });
    expect(answerOf(response).data).toHaveLength(2);
    expect(setup.upstream.requests.at(-1)!.body['encoding_format']).toBe(format ?? 'float');
    return response.text;
  };
  const written = (embedding: string): string =>
    `"data":[{"object":"embedding","index":0,"embedding":${embedding}},` +
    `{"object":"embedding","index":1,"embedding":${embedding}}]`;

  it.each([undefined, 'float'])(
    "is the upstream's text of the numbers, to the byte, with the format %s",
    async (format) => {
      expect(await ask(format, floats)).toContain(written(floats));
    },
  );

  it('returns upstream base64 unchanged, to the byte', async () => {
    expect(await ask('base64', `"${base64}"`)).toContain(written(`"${base64}"`));
  });

  it('converts upstream numbers to base64', async () => {
    expect(await ask('base64', floats)).toContain(written(`"${base64}"`));
  });

  it('converts base64 upstream vectors to floats losslessly', async () => {
    const text = await ask('float', `"${base64}"`);
    const { data } = JSON.parse(text) as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => toBase64(embedding))).toEqual([base64, base64]);
  });

  it('is the same in both formats for local/hashing', async () => {
    const ofFormat = async (format: string) =>
      embeddingsOf(await embed(setup.app, { model: LOCAL, input: 'a text', encoding_format: format }))[0];
    expect(await ofFormat('base64')).toBe(toBase64((await ofFormat('float')) as number[]));
  });
});

describe('200: the width of the vectors', () => {
  it.each([
    [SMALL, 1536],
    ['openai/text-embedding-3-large', 3072],
    ['openai/text-embedding-ada-002', 1536],
  ])('of %s is %d, and requesting that width sends no dimensions upstream', async (model, native) => {
    for (const dimensions of [undefined, native]) {
      const [vector] = embeddingsOf(await embed(setup.app, { model, input: 'a', dimensions }));
      expect(vector).toHaveLength(native);
      expect(setup.upstream.requests.at(-1)!.body).not.toHaveProperty('dimensions');
    }
  });

  it.each([1, 256, 1535])('of %d is requested from the upstream', async (dimensions) => {
    const [vector] = embeddingsOf(await embed(setup.app, { model: SMALL, input: 'a', dimensions }));
    expect(vector).toHaveLength(dimensions);
    expect(setup.upstream.requests[0]!.body['dimensions']).toBe(dimensions);
  });

  it.each([8, 1024, 4096])('of %d is supported by local/hashing', async (dimensions) => {
    const [vector] = embeddingsOf(await embed(setup.app, { model: LOCAL, input: 'a', dimensions }));
    expect(vector).toHaveLength(dimensions);
    expect(Math.hypot(...(vector as number[]))).toBeCloseTo(1, 6);
  });
});

describe('200: the response', () => {
  it('is complete, with the indexes of the inputs for any upstream order', async () => {
    setup.upstream.answerWith((_request, response) =>
      sendJson(response, 200, {
        data: [
          { index: 1, embedding: [2, 2] },
          { index: 0, embedding: [1, 1] },
        ],
        id: 'upstream-1',
        object: 'something else',
        model: 'text-embedding-3-small-v2',
        usage: { prompt_tokens: 3, total_tokens: 4, cost: 99 },
      }),
    );
    const response = await embed(setup.app, {
      model: 'openai/text-embedding-3-large',
      input: ['a', 'b'],
      dimensions: 2,
    });
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(answerOf(response)).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1, 1] },
        { object: 'embedding', index: 1, embedding: [2, 2] },
      ],
      model: 'openai/text-embedding-3-large',
      id: expect.stringMatching(/^embd-[0-9a-f]{32}$/),
      provider: 'OpenAI',
      usage: { prompt_tokens: 3, total_tokens: 4, cost: 3.9e-7, is_byok: false },
    });
  });

  it('carries the id of the generation in a header as well', async () => {
    const response = await embed(setup.app, { model: LOCAL, input: 'a' });
    const id = /^embd-([0-9a-f]{32})$/.exec(answerOf(response).id)![1];
    expect(response.headers['x-generation-id']).toBe(`gen-${id}`);
  });

  it("carries the caller's request id when it is valid, else a new one", async () => {
    const requestIdFor = async (given: string) =>
      (await embed(setup.app, { model: LOCAL, input: 'a' }).set('x-request-id', given)).headers[
        'x-request-id'
      ];
    expect(await requestIdFor('trace-1.a:b')).toBe('trace-1.a:b');
    for (const insane of ['a b', '<script>', 'x'.repeat(200)])
      expect(await requestIdFor(insane)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    [1, '2e-8'],
    [7, '1.4e-7'],
    [50, '0.000001'],
    [8_191, '0.00016382'],
    [65_536, '0.00131072'],
  ])('for %d tokens has a cost of exactly %s', async (tokens, cost) => {
    // Inputs that may have so many tokens: more are never charged.
    const texts = Math.ceil(tokens / 8_192);
    const input = Array.from({ length: texts }, () => 'a '.repeat(4_096));
    setup.upstream.answerWith(
      answerWithEmbeddings(
        input.map(() => '[1]'),
        { prompt_tokens: tokens, total_tokens: tokens },
      ),
    );
    const response = await embed(setup.app, { model: SMALL, input, dimensions: 1 });
    expect(response.text).toContain(`"prompt_tokens":${tokens},"total_tokens":${tokens},"cost":${cost},`);
  });

  it('charges the total of an upstream that reports the total only', async () => {
    setup.upstream.answerWith(answerWithEmbeddings(['[1]'], { total_tokens: 50 }));
    const body = { model: SMALL, input: 'a'.repeat(50), dimensions: 1 };
    const { usage } = answerOf(await embed(setup.app, body));
    expect(usage).toEqual({ prompt_tokens: 50, total_tokens: 50, cost: 0.000001, is_byok: false });
  });

  it('of local/hashing costs nothing and counts words', async () => {
    const { usage, provider } = answerOf(
      await embed(setup.app, { model: LOCAL, input: 'three short words' }),
    );
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3, cost: 0, is_byok: false });
    expect(provider).toBe('Local');
  });
});
