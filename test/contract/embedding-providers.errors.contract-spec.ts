// How every provider reads what goes wrong: refusals of the stubs, failures in the words of the real upstreams, answers
// that are cut or lack what they promise.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BrokenAnswer } from '../../src/embedding-providers/embedding-provider.js';
import type { ProviderError } from '../../src/embedding-providers/embedding-provider.js';
import { failureOfStatus } from '../../src/routing/endpoint-failure.js';
import { callOf, embed, exchange, failure, httpProvider } from '../support/providers/drive.js';
import { PROVIDER_STUBS } from '../support/providers/index.js';
import type { RunningProviderStub, StubFailure } from '../support/providers/provider-stub.js';

const KINDS: Readonly<Record<StubFailure, string>> = {
  rateLimited: 'overloaded',
  overloaded: 'overloaded',
  broken: 'failed',
  invalid: 'refused',
};
const FAILURES = Object.keys(KINDS) as StubFailure[];

/** Every text that stands somewhere in a body. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

const ONE_TEXT = { form: 'texts', items: ['one'] } as const;

describe.each(PROVIDER_STUBS.map((stub) => [stub.slug, stub] as const))('%s', (slug, stub) => {
  const provider = httpProvider(slug);
  const [model] = stub.models;
  const call = callOf(model, { input: ONE_TEXT });
  let running: RunningProviderStub;
  beforeAll(async () => {
    running = await stub.start();
  });
  afterAll(() => running.close());

  it.each(FAILURES)("reads %s: its kind, and a message in the upstream's own words", async (name) => {
    const reply = stub.failures[name];
    running.replyWith(reply);
    const error = await failure(provider, call, { baseUrl: running.baseUrl, apiKey: stub.apiKey });
    running.replyWith(null);
    expect(error.kind).toBe(KINDS[name]);
    expect(
      stringsIn(reply.body).filter((words) => words !== '' && error.message.endsWith(words)),
    ).not.toEqual([]);
  });

  if (stub.apiKey !== '') {
    it('reads a wrong key as a matter of the credential, without saying the key', async () => {
      const error = await failure(provider, call, { baseUrl: running.baseUrl, apiKey: 'wrong' });
      expect(error.kind).toBe('credential');
      expect(error.message).not.toContain('wrong:');
    });
  }

  it('reads a model that the upstream does not have as the operator’s matter', async () => {
    const unknown = slug === 'bedrock' ? 'amazon.titan-embed-text-v9' : 'unknown-model';
    const connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
    const { response } = await exchange(provider, callOf(unknown, { input: ONE_TEXT }), connection);
    if (['openai-compatible', 'tei'].includes(slug)) return expect(response.status).toBe(200);
    const error = provider.readError(response);
    // Some say 400 or 422, which nothing but their words tell from a request that is wrong.
    const honest =
      { voyage: 'refused', mistral: 'refused', jina: 'refused', nomic: 'refused' }[slug] ?? 'failed';
    expect(error.kind ?? failureOfStatus(response.status)).toBe(honest);
    expect(error.message).not.toBe('');
  });

  it('finds an answer broken that is cut at any byte, or followed by another', async () => {
    const connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
    const { response } = await exchange(provider, call, connection);
    const whole = response.body;
    expect(provider.readAnswer(response, call).vectors).toHaveLength(1);
    for (
      let length = 0;
      length < whole.length;
      length += length < 200 || length > whole.length - 500 ? 1 : 37
    ) {
      const cut = { ...response, body: whole.subarray(0, length) };
      expect(() => provider.readAnswer(cut, call)).toThrow(BrokenAnswer);
    }
    const followed = { ...response, body: Buffer.concat([whole, whole]) };
    expect(() => provider.readAnswer(followed, call)).toThrow(BrokenAnswer);
  });

  it.each([
    '',
    'null',
    '{}',
    '[]',
    '"text"',
    '<html></html>',
    '{"data":null,"embeddings":null,"embedding":null}',
  ])('finds an answer broken that is %j', (text) => {
    const response = { status: 200, headers: {}, body: Buffer.from(text) };
    expect(() => provider.readAnswer(response, call)).toThrow(BrokenAnswer);
  });

  it('finds an answer broken whose vectors are not vectors', async () => {
    const answers = [
      { data: [{ index: 0, embedding: { float: [1] } }], embeddings: [{ values: {} }], embedding: {} },
      { data: [{ index: 0 }], embeddings: [null], embedding: 'no vector'.length },
    ];
    for (const answer of answers) {
      const response = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
      expect(() => provider.readAnswer(response, call)).toThrow(BrokenAnswer);
    }
    await expect(
      embed(provider, call, { baseUrl: running.baseUrl, apiKey: stub.apiKey }),
    ).resolves.toBeDefined();
  });

  it('reads or finds broken whatever bytes come, and reads every error', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ 019.-e',
      '"data"',
      '"embedding"',
      '"embeddings"',
      '"values"',
      '"float"',
      '"index"',
      '"usage"',
      '"meta"',
      '"error"',
      '"message"',
      '"detail"',
      '"details"',
      '{"data":[{"embedding":',
      '{"embeddings":[[',
      'null',
    );
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 20 }), (text) => {
        const response = { status: 400, headers: {}, body: Buffer.from(text) };
        try {
          provider.readAnswer(response, call);
        } catch (error) {
          expect(error).toBeInstanceOf(BrokenAnswer);
        }
        expect(typeof provider.readError(response).message).toBe('string');
      }),
      { numRuns: 500 },
    );
  });

  it('reads an error page that is not JSON as its text', () => {
    const response = { status: 502, headers: {}, body: Buffer.from('<html>Bad gateway</html>') };
    expect(provider.readError(response).message).toBe('<html>Bad gateway</html>');
  });
});

const coded = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/` });
const SPECIAL: readonly (readonly [
  slug: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  expected: Partial<ProviderError> & { readonly kind: string },
])[] = [
  [
    'openai',
    429,
    {},
    { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
    { kind: 'credential', code: 'insufficient_quota', message: 'You exceeded your current quota' },
  ],
  [
    'openai',
    429,
    { 'retry-after-ms': '1500' },
    { error: { message: 'slow', code: 'rate_limit_exceeded' } },
    { kind: 'overloaded', code: 'rate_limit_exceeded', retryAfter: 1.5 },
  ],
  [
    'azure',
    429,
    { 'x-ms-retry-after-ms': '6800' },
    { error: { code: '429', message: 'exceeded call rate' } },
    { kind: 'overloaded', code: '429', retryAfter: 6.8 },
  ],
  [
    'azure',
    400,
    {},
    {
      error: {
        code: 'content_filter',
        message: 'The response was filtered',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
    { kind: 'refused', code: 'content_filter', message: 'The response was filtered' },
  ],
  ['cohere', 498, {}, { message: 'invalid token' }, { kind: 'credential', message: 'invalid token' }],
  ['cohere', 499, {}, { message: 'request cancelled' }, { kind: 'failed', message: 'request cancelled' }],
  ['cohere', 504, {}, { message: 'gateway timeout' }, { kind: 'timeout' }],
  [
    'voyage',
    400,
    {},
    { detail: 'The max allowed tokens per submitted batch is 120000.' },
    { kind: 'refused', message: 'The max allowed tokens per submitted batch is 120000.' },
  ],
  [
    'mistral',
    400,
    {},
    {
      object: 'error',
      message: 'Too many tokens in batch. Max is 16384 got 17555',
      type: 'invalid_request_error',
      param: null,
      code: '3210',
    },
    { kind: 'refused', code: '3210' },
  ],
  [
    'mistral',
    422,
    {},
    { object: 'error', message: { detail: [{ loc: ['body', 'input'], msg: 'Field required' }] } },
    { kind: 'refused', message: 'body.input: Field required' },
  ],
  [
    'google',
    400,
    {},
    {
      error: {
        code: 400,
        message: 'API key not valid.',
        status: 'INVALID_ARGUMENT',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
      },
    },
    { kind: 'credential', code: 'API_KEY_INVALID', message: 'API key not valid.' },
  ],
  [
    'google',
    429,
    {},
    {
      error: {
        code: 429,
        message: 'Quota.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.5s' }],
      },
    },
    { kind: 'overloaded', code: 'RESOURCE_EXHAUSTED', retryAfter: 33.5 },
  ],
  [
    'google',
    400,
    {},
    { error: { code: 400, message: 'User location is not supported.', status: 'FAILED_PRECONDITION' } },
    { kind: 'credential' },
  ],
  [
    'google',
    403,
    {},
    { error: { code: 403, message: 'Denied.', status: 'PERMISSION_DENIED' } },
    { kind: 'credential', code: 'PERMISSION_DENIED' },
  ],
  [
    'google',
    499,
    {},
    { error: { code: 499, message: 'Cancelled.', status: 'CANCELLED' } },
    { kind: 'failed' },
  ],
  ['jina', 402, {}, { detail: 'Insufficient account balance' }, { kind: 'credential' }],
  [
    'nomic',
    422,
    {},
    { detail: [{ loc: ['body', 'texts', 0], msg: 'none is not an allowed value' }] },
    { kind: 'refused', message: 'body.texts.0: none is not an allowed value' },
  ],
  [
    'deepinfra',
    401,
    {},
    { detail: { error: 'User is not authenticated' } },
    { kind: 'credential', message: 'User is not authenticated' },
  ],
  [
    'deepinfra',
    402,
    {},
    { detail: { error: 'inference prohibited, out of balance' } },
    { kind: 'credential' },
  ],
  [
    'bedrock',
    429,
    coded('ThrottlingException'),
    { message: 'Too many requests' },
    { kind: 'overloaded', code: 'ThrottlingException', message: 'Too many requests' },
  ],
  ['bedrock', 400, coded('ServiceQuotaExceededException'), { message: 'Quota' }, { kind: 'overloaded' }],
  ['bedrock', 429, coded('ModelNotReadyException'), { message: 'Loading' }, { kind: 'overloaded' }],
  ['bedrock', 408, coded('ModelTimeoutException'), { message: 'Slow' }, { kind: 'timeout' }],
  ['bedrock', 424, coded('ModelErrorException'), { message: 'Broken' }, { kind: 'failed' }],
  [
    'bedrock',
    403,
    coded('ExpiredTokenException'),
    { message: 'The security token is expired' },
    { kind: 'credential' },
  ],
  [
    'bedrock',
    403,
    coded('AccessDeniedException'),
    { Message: 'You have no access' },
    { kind: 'credential', message: 'You have no access' },
  ],
  [
    'bedrock',
    400,
    {},
    { __type: 'com.amazon.coral.service#UnrecognizedClientException', message: 'Invalid token' },
    { kind: 'credential', code: 'UnrecognizedClientException' },
  ],
  [
    'bedrock',
    400,
    coded('ValidationException'),
    { message: 'Malformed input request: #: extraneous key [x]' },
    { kind: 'refused', code: 'ValidationException' },
  ],
  [
    'bedrock',
    400,
    coded('ValidationException'),
    { message: "Invocation of model ID cohere.embed-v4:0 with on-demand throughput isn't supported." },
    { kind: 'failed' },
  ],
  [
    'ollama',
    500,
    {},
    { error: 'input exceeds maximum context length and cannot be truncated further' },
    { kind: 'refused' },
  ],
  [
    'tei',
    424,
    {},
    { message: 'the inference failed', code: 424, type: 'Backend' },
    { kind: 'failed', message: 'the inference failed' },
  ],
  [
    'tei',
    422,
    {},
    { error: 'batch size 33 > maximum allowed batch size 32', error_type: 'Validation' },
    { kind: 'refused', code: 'Validation', message: 'batch size 33 > maximum allowed batch size 32' },
  ],
  ['tei', 413, {}, 'length limit exceeded', { kind: 'too_large' }],
  [
    'vllm',
    400,
    {},
    {
      object: 'error',
      message: 'does not support matryoshka representation',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    { kind: 'refused', message: 'does not support matryoshka representation' },
  ],
];

describe('failures that the stubs do not show by themselves', () => {
  it.each(SPECIAL)('%s says %i with %j and %j', (slug, status, headers, body, expected) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const error = httpProvider(slug).readError({ status, headers, body: Buffer.from(text) });
    expect({ ...error, kind: error.kind ?? failureOfStatus(status) }).toMatchObject(expected);
  });
});
