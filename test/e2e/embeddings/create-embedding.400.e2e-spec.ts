// POST /embeddings: bodies that this service or the provider rejects.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  embed,
  LOCAL,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

async function expectRejection(body: object | string, expected: string | RegExp): Promise<void> {
  const response = await embed(setup.app, body);
  expect(response.status).toBe(400);
  const message = expectError(response, 400, /^Invalid request parameters: /);
  const detail = message.replace('Invalid request parameters: ', '');
  if (typeof expected === 'string') expect(detail).toBe(expected);
  else expect(detail).toMatch(expected);
  expect(setup.upstream.requests).toEqual([]);
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('400: an invalid member', () => {
  it.each([
    [undefined, 'model: must have the form vendor/model'],
    [null, 'model: must have the form vendor/model'],
    [5, 'model: must have the form vendor/model'],
    [['openai/a'], 'model: must have the form vendor/model'],
    ['', 'model: must have the form vendor/model'],
    ['text-embedding-9-small', 'model: no model has this name; ids have the form vendor/model'],
    ['/text-embedding-3-small', 'model: must have the form vendor/model'],
    ['openai/', 'model: must have the form vendor/model'],
    ['open ai/small', 'model: must have the form vendor/model'],
    ['openai/small\n', 'model: must have the form vendor/model'],
    [`openai/${'a'.repeat(1000)}`, 'model: must have the form vendor/model'],
  ])('rejects the model %j', (model, detail) => expectRejection({ model, input: 'a' }, detail));

  it.each([
    [undefined, /^input: must be a string, an array/],
    [null, /^input: must be a string, an array/],
    ['', 'input: must not be empty'],
    [[], 'input: must not be empty'],
    [['a', ''], 'input[1]: must not be empty'],
    [['a', 1], 'input[1]: must be a string like the other inputs'],
    [[1, -1], 'input[1]: must be a token, a whole number from 0'],
    [[[1], []], 'input[1]: must not be empty'],
    [[{ content: [] }], 'input[0].content: must not be empty'],
    [['a', '\ud800'], 'input[1]: must not hold half a surrogate pair'],
    ['\udfff', 'input: must not hold half a surrogate pair'],
    [[{ content: [{ type: 'hologram' }] }], /^input\[0\]\.content\[0\]\.type: must be one of text, /],
    [[{ content: [{ type: '__proto__' }] }], /^input\[0\]\.content\[0\]\.type: must be one of text, /],
    [[{ content: [{ type: 'image_url', image_url: {} }] }], /^input\[0\]\.content\[0\]: lacks what/],
  ])('rejects the input %j', (input, detail) => expectRejection({ model: LOCAL, input }, detail));

  it.each([
    [0, 'dimensions: must be at least 1'],
    [-1, 'dimensions: must be at least 1'],
    [1.5, 'dimensions: must be a whole number'],
    ['8', 'dimensions: must be a whole number'],
    [1e9, 'dimensions: must be at most 100000'],
  ])('rejects the dimensions %j', (dimensions, detail) =>
    expectRejection({ model: LOCAL, input: 'a', dimensions }, detail),
  );

  it.each(['hex', 'FLOAT', '', 5, ['float']])('rejects the encoding_format %j', (format) =>
    expectRejection(
      { model: LOCAL, input: 'a', encoding_format: format },
      'encoding_format: must be one of float, base64',
    ),
  );

  it.each([
    ['input_type', 5, 'input_type: must be a string'],
    ['input_type', 'x'.repeat(101), 'input_type: must have at most 100 characters'],
    ['input_type', 'a\u0000b', 'input_type: must not hold NUL or half a surrogate pair'],
    ['input_type', 'a\ud800', 'input_type: must not hold NUL or half a surrogate pair'],
    ['user', 5, 'user: must be a string'],
    ['user', 'x'.repeat(1001), 'user: must have at most 1000 characters'],
    ['user', '\u0000', 'user: must not hold NUL or half a surrogate pair'],
    ['user', 'a\udc00b', 'user: must not hold NUL or half a surrogate pair'],
    ['session_id', 5, 'session_id: must be a string'],
    ['session_id', 'x'.repeat(257), 'session_id: must have at most 256 characters'],
    ['session_id', '\ud800', 'session_id: must not hold NUL or half a surrogate pair'],
    ['trace', 'x', 'trace: must be an object'],
    ['trace', [], 'trace: must be an object'],
    ['trace', { a: 'x'.repeat(20_000) }, 'trace: must have at most 16384 characters as JSON'],
    ['trace', { a: [{ b: '\u0000' }] }, 'trace: must not hold NUL or half a surrogate pair'],
    ['trace', { 'a\ud800': 1 }, 'trace: must not hold NUL or half a surrogate pair'],
  ])('rejects %s %j', (name, value, detail) =>
    expectRejection({ model: LOCAL, input: 'a', [name]: value }, detail),
  );

  it.each([
    ['a', 'provider: must be an object or null'],
    [[], 'provider: must be an object or null'],
    [{ allow_fallbacks: 'no' }, 'provider.allow_fallbacks: must be a boolean or null'],
    [{ order: 'openai' }, /^provider\.order: must be an array/],
    [{ only: [1] }, /^provider\.only: must hold provider slugs/],
    [{ ignore: {} }, /^provider\.ignore: must be an array/],
    [{ alow_fallbacks: false }, 'provider.alow_fallbacks: is not a member of this object'],
    [{ constructor: 1 }, /^provider\.constructor: is not/],
    [{ id: { constructor: [null] } }, /^provider\.id\.constructor: is not/],
    [JSON.parse('{"__proto__":{"allow_fallbacks":false}}'), /^provider\.__proto__: is not/],
  ])('rejects the provider preferences %j', (provider, detail) =>
    expectRejection({ model: LOCAL, input: 'a', provider }, detail),
  );

  it('rejects a price of a million digits without reading it', () =>
    expectRejection(
      { model: LOCAL, input: 'a', provider: { max_price: { prompt: '9'.repeat(1_000_000) } } },
      /^provider\.max_price: must be an object of amounts/,
    ));

  it('names every one of several members', () =>
    expectRejection(
      { model: 'x y', input: 'a', dimensions: 0, encoding_format: 'hex' },
      'model: must have the form vendor/model; dimensions: must be at least 1; ' +
        'encoding_format: must be one of float, base64',
    ));

  it.each(['trace', 'provider', 'anything_else'])('rejects %s with endless nesting', async (name) => {
    for (const depth of [1_000, 7_000, 100_000]) {
      const body = `{"model":"${SMALL}","input":"a","${name}":{"a":${nested(depth)}}}`;
      await expectRejection(body, `${name}: is nested too deeply`);
    }
  });

  it('does not repeat the value', async () => {
    const secret = 'sk-live-1234567890';
    const bodies = [
      { model: secret, input: 'a' },
      { model: LOCAL, input: [1, secret] },
      { model: LOCAL, input: 'a', user: `${secret}\u0000` },
      { model: LOCAL, input: 'a', encoding_format: secret },
      { model: LOCAL, input: 'a', provider: { order: secret } },
    ];
    for (const body of bodies) expect((await embed(setup.app, body)).text).not.toContain(secret);
  });
});

describe('400: a request beyond the model', () => {
  it('rejects an input beyond the context length, without a call to a provider', async () => {
    const tokens = Array.from({ length: 8_193 }, () => 7);
    for (const input of [
      [[1], tokens],
      ['a', ' a'.repeat(8_193)],
    ]) {
      const body = { model: SMALL, input };
      await expectRejection(
        body,
        'input[1]: has 8193 tokens, and openai/text-embedding-3-small takes at most 8192',
      );
      expect((await embed(setup.app, body)).body.error.metadata).toEqual({
        error_type: 'context_length_exceeded',
        input_index: 1,
        input_tokens: 8_193,
        max_input_tokens: 8_192,
      });
    }
  });

  it.each([
    [LOCAL, 7, 'dimensions: local/hashing can have 8 to 4096'],
    [LOCAL, 4097, 'dimensions: local/hashing can have 8 to 4096'],
    [SMALL, 1537, 'dimensions: openai/text-embedding-3-small can have 1 to 1536'],
    ['openai/text-embedding-3-large', 3073, 'dimensions: openai/text-embedding-3-large can have 1 to 3072'],
    ['openai/text-embedding-ada-002', 256, 'dimensions: openai/text-embedding-ada-002 has 1536 only'],
  ])('rejects for %s the dimensions %d', (model, dimensions, detail) =>
    expectRejection({ model, input: 'a', dimensions }, detail),
  );

  it('rejects multimodal items for a text model', () =>
    expectRejection(
      { model: SMALL, input: [{ content: [{ type: 'text', text: 'a' }] }] },
      'input: openai/text-embedding-3-small takes text or token arrays',
    ));

  it('rejects images for local/hashing', () =>
    expectRejection(
      {
        model: LOCAL,
        input: [{ content: [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }] }],
      },
      'input[0]: local/hashing takes text only',
    ));

  it.each([
    [LOCAL, 4096, 4032],
    // More than one upstream call takes, so that the call would be split.
    [LOCAL, 8, 233_016],
    [SMALL, 1536, 10_485],
  ])('rejects more inputs than one response can hold: %s, %d wide', (model, dimensions, most) =>
    expectRejection(
      { model, dimensions, input: Array.from({ length: most + 1 }, () => 'a') },
      `input: ${model} takes at most ${most} inputs a call at ${dimensions} dimensions`,
    ),
  );
});

describe('400: a rejection by the provider', () => {
  it.each([400, 422])('with status %d is passed on, and no other endpoint is tried', async (status) => {
    const body = { error: { message: 'Input is not right.', code: 'bad_input', type: 'x' } };
    setup.upstream.answerWith(rejectWith(status, body));
    const response = await embed(setup.app, { model: SMALL, input: 'a' });
    expectError(response, 400, /^Provider returned error: ./);
    expect(response.body).toMatchObject({
      error: {
        metadata: {
          error_type: 'invalid_request',
          provider_name: 'OpenAI',
          raw: 'Input is not right.',
          provider_code: 'bad_input',
        },
      },
    });
    expect(response.headers['x-generation-id']).toMatch(/^gen-[0-9a-f]{32}$/);
    expect(setup.upstream.requests).toHaveLength(1);
  });

  it.each([
    ['a message', { error: { message: 'x'.repeat(5_000) } }],
    ['a page', 'x'.repeat(50_000)],
  ])('is cut to 1,000 characters when it is %s', async (_name, body) => {
    setup.upstream.answerWith(rejectWith(400, body));
    const response = await embed(setup.app, { model: SMALL, input: 'a' });
    expectError(response, 400);
    expect(response.body).toMatchObject({ error: { metadata: { raw: 'x'.repeat(1_000) } } });
  });

  it('never shows the credential that the provider quotes', async () => {
    const message = 'Malformed header: authorization: Bearer upstream-key';
    setup.upstream.answerWith(rejectWith(400, { error: { message } }));
    const response = await embed(setup.app, { model: SMALL, input: 'a' });
    expectError(response, 400);
    expect(response.text).not.toContain('upstream-key');
  });

  it('names an unknown member', async () => {
    const response = await embed(setup.app, { model: SMALL, input: 'a', truncate: 'END' });
    expectError(response, 400);
    expect(response.body).toMatchObject({
      error: { metadata: { raw: 'Unrecognized request argument supplied: truncate' } },
    });
  });
});
