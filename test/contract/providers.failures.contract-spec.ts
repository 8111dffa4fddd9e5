// Failures that the stubs do not produce, in the words of the real upstreams.
import { expect, it } from '@jest/globals';
import type { ProviderError } from '../../src/providers/shared/provider.js';
import { failureOfStatus } from '../../src/routing/endpoints/endpoint-failure.js';
import { httpProvider } from '../support/providers/drive.js';

const coded = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/` });
const FAILURES: readonly (readonly [
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

it.each(FAILURES)('%s says %i with %j and %j', (slug, status, headers, body, expected) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const error = httpProvider(slug).readError({ status, headers, body: Buffer.from(text) });
  expect({ ...error, kind: error.kind ?? failureOfStatus(status) }).toMatchObject(expected);
});
