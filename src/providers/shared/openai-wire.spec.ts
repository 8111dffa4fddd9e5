import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { BrokenAnswer } from './provider.js';
import type { ProviderAnswer, ProviderCall, UpstreamResponse } from './provider.js';
import { buildOpenAiRequest, readOpenAiAnswer } from './openai-wire.js';

const answerOf = (body: string | Buffer, status = 200): UpstreamResponse => ({
  status,
  headers: {},
  body: Buffer.from(body as string),
});
const read = (body: unknown): ProviderAnswer =>
  readOpenAiAnswer(answerOf(typeof body === 'string' ? body : JSON.stringify(body)));
const vectorsOf = (answer: ProviderAnswer): unknown[] =>
  answer.vectors.map((vector) => ('text' in vector ? vector.text.toString() : null));

describe('the request', () => {
  const call: ProviderCall = {
    upstreamModel: 'text-embedding-3-small',
    input: { form: 'texts', items: ['one', 'two'] },
    encodingFormat: 'base64',
    extra: {},
  };

  it('carries the credential, the model, every input as an array, the wanted form, and nothing else', () => {
    const request = buildOpenAiRequest(call, { baseUrl: 'https://upstream.test/v1', apiKey: 'sk-1' });
    expect({ ...request, body: JSON.parse(request.body) }).toEqual({
      method: 'POST',
      url: 'https://upstream.test/v1/embeddings',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: 'Bearer sk-1',
      },
      body: { model: 'text-embedding-3-small', input: ['one', 'two'], encoding_format: 'base64' },
    });
  });

  it('carries no credential when none is configured', () => {
    const { headers } = buildOpenAiRequest(call, { baseUrl: 'https://upstream.test' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('carries a width and a user only if given, and unknown members unchanged', () => {
    const extra = { truncate: 'END', nested: { a: [1, null] }, model: 'another', input: 'another' };
    const { body } = buildOpenAiRequest(
      { ...call, dimensions: 256, user: 'u-1', extra },
      { baseUrl: 'https://upstream.test' },
    );
    expect(JSON.parse(body)).toEqual({
      model: 'text-embedding-3-small',
      input: ['one', 'two'],
      encoding_format: 'base64',
      dimensions: 256,
      user: 'u-1',
      truncate: 'END',
      nested: { a: [1, null] },
    });
  });
});

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 });
const unknownMembers = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((name) => !['data', 'usage', 'id', '__proto__'].includes(name)),
  fc.jsonValue({ maxDepth: 4 }),
  { maxKeys: 3 },
);
const counts = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const embedding = fc.oneof(
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 5 }),
  fc.base64String({ maxLength: 12 }),
);

/** An answer of a compatible server: members in any order, any white space, unknown members. */
const anyAnswer = fc.array(embedding, { maxLength: 6 }).chain((embeddings) =>
  fc.record({
    embeddings: fc.constant(embeddings),
    order: fc.shuffledSubarray([...embeddings.keys()], { minLength: embeddings.length }),
    hasIndexes: fc.boolean(),
    usage: fc.option(fc.record({ prompt_tokens: counts, total_tokens: counts }), { nil: undefined }),
    id: fc.option(fc.uuid(), { nil: undefined }),
    space,
    extras: fc.array(unknownMembers, { minLength: 7, maxLength: 7 }),
    swaps: fc.infiniteStream(fc.nat({ max: 9 })),
  }),
);

type AnyAnswer = typeof anyAnswer extends fc.Arbitrary<infer Answer> ? Answer : never;

function writeAnswer({
  embeddings,
  order,
  hasIndexes,
  usage,
  id,
  space: gap,
  extras,
  swaps,
}: AnyAnswer): string {
  const object = (
    members: Readonly<Record<string, unknown>>,
    written: Readonly<Record<string, string>> = {},
  ) => {
    const texts = [
      ...Object.entries(members)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]): [string, string] => [name, JSON.stringify(value, null, gap)]),
      ...Object.entries(written),
    ];
    const shuffled = texts.toSorted(() => (swaps.next().value ?? 0) - 5);
    const pairs = shuffled.map(([name, text]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${text}${gap}`);
    return `{${gap}${pairs.join(',')}${gap}}`;
  };
  const elements = (hasIndexes ? order : [...embeddings.keys()]).map((index, at) =>
    object({ ...extras[at], embedding: embeddings[index], ...(hasIndexes ? { index } : {}) }),
  );
  const data = `[${gap}${elements.join(`${gap},${gap}`)}${gap}]`;
  return gap + object({ ...extras[6], usage, id }, { data }) + gap;
}

describe('the answer', () => {
  it('is read like JSON.parse, in any order of members, nesting and space, with vectors at their index', () => {
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        const found = read(writeAnswer(answer));
        const parsed = found.vectors.map((vector) => {
          if (vector.form === 'json') return JSON.parse(vector.text.toString()) as unknown;
          return vector.form === 'base64' ? vector.text.toString() : null;
        });
        // JSON has no negative zero.
        const expected: unknown = JSON.parse(JSON.stringify(answer.embeddings));
        expect(parsed).toEqual(expected);
        expect(found.promptTokens).toBe(answer.usage?.prompt_tokens ?? null);
        expect(found.totalTokens).toBe(answer.usage?.total_tokens ?? null);
        expect(found.upstreamId).toBe(answer.id ?? null);
      }),
      { numRuns: 500 },
    );
  });

  it('is broken, and never another error, when it is cut at any byte', () => {
    const whole = Buffer.from(
      '{"object":"list","x":{"y":["]}\\"",null]},"data":[{"index":1,"embedding":[0.5,-1e-7],"object":"embedding"},' +
        '{"embedding":"AACAP\\/==","index":0}],"model":"é","usage":{"prompt_tokens":8,"total_tokens":8},"id":"a"}',
    );
    expect(readOpenAiAnswer(answerOf(whole)).vectors).toHaveLength(2);
    for (let length = 0; length < whole.length; length++) {
      expect(() => readOpenAiAnswer(answerOf(whole.subarray(0, length)))).toThrow(BrokenAnswer);
    }
  });

  it('is either read or broken for any bytes', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ 019.-e',
      '"data"',
      '"embedding"',
      '"index"',
      '{"data":[{"embedding":',
      '"usage":{"prompt_tokens":1}',
      'null',
      '\ufeff',
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: piece, maxLength: 20 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(body, (bytes) => {
        try {
          readOpenAiAnswer(answerOf(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(BrokenAnswer);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('with indexes out of order has its vectors in the order of the inputs', () => {
    const data = [2, 0, 1].map((index) => ({ index, embedding: [index] }));
    expect(vectorsOf(read({ data }))).toEqual(['[0]', '[1]', '[2]']);
  });

  it('without indexes has its vectors in the received order', () => {
    const data = [7, 8].map((value) => ({ embedding: [value] }));
    expect(vectorsOf(read({ data }))).toEqual(['[7]', '[8]']);
  });

  it.each([
    ['a duplicate', [0, 0]],
    ['a hole', [0, 2]],
    ['none for the first input', [1, 2]],
    ['one far beyond the end', [0, 4_294_967_294]],
    ['one beyond every array', [0, 2 ** 53]],
    ['a negative one', [-1, 0]],
    ['a fractional one', [0, 0.5]],
    ['one as text', ['0', '1']],
    ['null', [null, null]],
  ])('is broken when its indexes have %s', (_name, indexes) => {
    const data = indexes.map((index) => ({ index, embedding: [1] }));
    expect(() => read({ data })).toThrow(BrokenAnswer);
  });

  it('is broken when an element without an index would replace another one', () => {
    expect(() => read({ data: [{ index: 1, embedding: [1] }, { embedding: [2] }] })).toThrow(BrokenAnswer);
  });

  it.each([
    ['no data', {}],
    ['null for data', { data: null }],
    ['an object for data', { data: {} }],
    ['numbers for data', { data: [1] }],
    ['an element without embedding', { data: [{ index: 0 }] }],
    ['null for an embedding', { data: [{ index: 0, embedding: null }] }],
    ['an object for an embedding', { data: [{ index: 0, embedding: { float: [1] } }] }],
    ['nested arrays for an embedding', { data: [{ index: 0, embedding: [[1]] }] }],
    ['an array around everything', [{ data: [] }]],
    ['a second document behind it', '{"data":[]}{"data":[]}'],
    ['the text of an event stream', 'data: {"data":[]}\n\n'],
    ['the text of a web page', '<html></html>'],
  ])('is broken when it has %s', (_name, body) => {
    expect(() => read(body)).toThrow(BrokenAnswer);
  });

  it.each([
    ['none', undefined],
    ['null', null],
    ['text', { prompt_tokens: '8', total_tokens: '8' }],
    ['fractions', { prompt_tokens: 0.5, total_tokens: 0.5 }],
    ['zero, which no input has', { prompt_tokens: 0, total_tokens: 0 }],
    ['negative numbers', { prompt_tokens: -1, total_tokens: -1 }],
    ['more than any input can have', { prompt_tokens: 2 ** 31, total_tokens: 1e300 }],
    ['an array', []],
  ])('has no token counts when its usage is %s', (_name, usage) => {
    const answer = read({ data: [], usage });
    expect([answer.promptTokens, answer.totalTokens]).toEqual([null, null]);
  });

  it.each([
    ['no text', 5],
    ['NUL in it', 'a\u0000b'],
    ['half of a surrogate pair', 'a\ud800'],
    ['more characters than an id has', 'a'.repeat(2000)],
  ])('has no recordable id when the id is %s', (_name, id) => {
    expect(read({ data: [], id }).upstreamId).toBeNull();
  });
});
