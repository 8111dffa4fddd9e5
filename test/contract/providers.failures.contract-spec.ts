// Failures that the stubs do not produce, in the words of the real upstreams.
import { expect, it } from '@jest/globals';
import type { EndpointFailure } from '../../src/routing/failures/endpoint-failure.js';
import type { FailureClass } from '../../src/routing/failures/failure-classes.js';
import { failureOf, httpProvider } from '../support/providers/drive.js';

const coded = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/` });
const FAILURES: readonly (readonly [
  slug: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  expected: Partial<Pick<EndpointFailure, 'message' | 'providerCode' | 'retryAfter'>> & {
    readonly failureClass: FailureClass;
  },
])[] = [
  [
    'openai',
    429,
    {},
    { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
    {
      failureClass: 'account',
      providerCode: 'insufficient_quota',
      message: 'You exceeded your current quota',
    },
  ],
  [
    'openai',
    429,
    { 'retry-after-ms': '1500' },
    { error: { message: 'slow', code: 'rate_limit_exceeded' } },
    { failureClass: 'rate_limited', providerCode: 'rate_limit_exceeded', retryAfter: 1.5 },
  ],
  [
    'azure',
    429,
    { 'x-ms-retry-after-ms': '6800' },
    { error: { code: '429', message: 'exceeded call rate' } },
    { failureClass: 'rate_limited', providerCode: '429', retryAfter: 6.8 },
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
    { failureClass: 'refused', providerCode: 'content_filter', message: 'The response was filtered' },
  ],
  ['cohere', 498, {}, { message: 'invalid token' }, { failureClass: 'credential', message: 'invalid token' }],
  [
    'cohere',
    499,
    {},
    { message: 'request cancelled' },
    { failureClass: 'failed', message: 'request cancelled' },
  ],
  ['cohere', 504, {}, { message: 'gateway timeout' }, { failureClass: 'timeout' }],
  [
    'voyage',
    400,
    {},
    { detail: 'The max allowed tokens per submitted batch is 120000.' },
    { failureClass: 'too_large', message: 'The max allowed tokens per submitted batch is 120000.' },
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
    { failureClass: 'too_large', providerCode: '3210' },
  ],
  [
    'mistral',
    422,
    {},
    { object: 'error', message: { detail: [{ loc: ['body', 'input'], msg: 'Field required' }] } },
    { failureClass: 'refused', message: 'body.input: Field required' },
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
    { failureClass: 'credential', providerCode: 'API_KEY_INVALID', message: 'API key not valid.' },
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
    { failureClass: 'rate_limited', providerCode: 'RESOURCE_EXHAUSTED', retryAfter: 33.5 },
  ],
  [
    'google',
    400,
    {},
    { error: { code: 400, message: 'User location is not supported.', status: 'FAILED_PRECONDITION' } },
    { failureClass: 'endpoint' },
  ],
  [
    'google',
    403,
    {},
    { error: { code: 403, message: 'Denied.', status: 'PERMISSION_DENIED' } },
    { failureClass: 'forbidden', providerCode: 'PERMISSION_DENIED' },
  ],
  [
    'google',
    499,
    {},
    { error: { code: 499, message: 'Cancelled.', status: 'CANCELLED' } },
    { failureClass: 'failed' },
  ],
  ['jina', 402, {}, { detail: 'Insufficient account balance' }, { failureClass: 'account' }],
  [
    'nomic',
    422,
    {},
    { detail: [{ loc: ['body', 'texts', 0], msg: 'none is not an allowed value' }] },
    { failureClass: 'refused', message: 'body.texts.0: none is not an allowed value' },
  ],
  [
    'deepinfra',
    401,
    {},
    { detail: { error: 'User is not authenticated' } },
    { failureClass: 'credential', message: 'User is not authenticated' },
  ],
  [
    'deepinfra',
    402,
    {},
    { detail: { error: 'inference prohibited, out of balance' } },
    { failureClass: 'account' },
  ],
  [
    'bedrock',
    429,
    coded('ThrottlingException'),
    { message: 'Too many requests' },
    { failureClass: 'rate_limited', providerCode: 'ThrottlingException', message: 'Too many requests' },
  ],
  [
    'bedrock',
    400,
    coded('ServiceQuotaExceededException'),
    { message: 'Quota' },
    { failureClass: 'rate_limited' },
  ],
  ['bedrock', 429, coded('ModelNotReadyException'), { message: 'Loading' }, { failureClass: 'overloaded' }],
  ['bedrock', 408, coded('ModelTimeoutException'), { message: 'Slow' }, { failureClass: 'timeout' }],
  ['bedrock', 424, coded('ModelErrorException'), { message: 'Broken' }, { failureClass: 'failed' }],
  [
    'bedrock',
    403,
    coded('ExpiredTokenException'),
    { message: 'The security token is expired' },
    { failureClass: 'credential' },
  ],
  [
    'bedrock',
    403,
    coded('AccessDeniedException'),
    { Message: 'You have no access' },
    { failureClass: 'forbidden', message: 'You have no access' },
  ],
  [
    'bedrock',
    400,
    {},
    { __type: 'com.amazon.coral.service#UnrecognizedClientException', message: 'Invalid token' },
    { failureClass: 'credential', providerCode: 'UnrecognizedClientException' },
  ],
  [
    'bedrock',
    400,
    coded('ValidationException'),
    { message: 'Malformed input request: #: extraneous key [x]' },
    { failureClass: 'refused', providerCode: 'ValidationException' },
  ],
  [
    'bedrock',
    400,
    coded('ValidationException'),
    { message: "Invocation of model ID cohere.embed-v4:0 with on-demand throughput isn't supported." },
    { failureClass: 'endpoint' },
  ],
  [
    'ollama',
    500,
    {},
    { error: 'input exceeds maximum context length and cannot be truncated further' },
    { failureClass: 'context_length' },
  ],
  [
    'tei',
    424,
    {},
    { message: 'the inference failed', code: 424, type: 'Backend' },
    { failureClass: 'failed', message: 'the inference failed' },
  ],
  [
    'tei',
    422,
    {},
    { error: 'batch size 33 > maximum allowed batch size 32', error_type: 'Validation' },
    {
      failureClass: 'too_large',
      providerCode: 'Validation',
      message: 'batch size 33 > maximum allowed batch size 32',
    },
  ],
  ['tei', 413, {}, 'length limit exceeded', { failureClass: 'too_large' }],
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
    { failureClass: 'refused', message: 'does not support matryoshka representation' },
  ],
];

it.each(FAILURES)('%s says %i with %j and %j', (slug, status, headers, body, expected) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = { status, headers, body: Buffer.from(text) };
  expect(failureOf(httpProvider(slug), response)).toMatchObject(expected);
});
