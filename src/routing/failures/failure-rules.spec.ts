// From statuses, codes and words to classes, row by row. The bodies of each provider: test/contract/providers.failures.
import { describe, expect, it } from '@jest/globals';
import type { ProviderError } from '../../providers/shared/provider.js';
import type { FailureClass } from './failure-classes.js';
import { classifyError, classifyTransport } from './failure-rules.js';

const errorWith = (members: Partial<ProviderError>): ProviderError => ({
  message: '',
  code: null,
  type: null,
  status: null,
  ...members,
});
const classOf = (status: number | null, members: Partial<ProviderError> = {}): FailureClass =>
  classifyError(status, errorWith(members)).failureClass;

describe('a status', () => {
  it.each<[FailureClass, readonly number[]]>([
    ['refused', [400, 422]],
    ['credential', [401, 498]],
    ['account', [402]],
    ['forbidden', [403]],
    ['endpoint', [406, 407, 409, 410, 411, 412, 414, 415, 418, 421, 423, 425, 426, 428, 431, 451, 501, 505]],
    ['address', [300, 301, 302, 303, 304, 307, 308, 404, 405]],
    ['timeout', [408, 504, 522, 524]],
    ['too_large', [413]],
    ['rate_limited', [429]],
    ['overloaded', [503, 529]],
    ['failed', [424, 499, 500, 502, 507, 520, 521, 523, 599]],
  ])('means %s: %j', (failureClass, statuses) => {
    expect(statuses.map((status) => classOf(status))).toEqual(statuses.map(() => failureClass));
  });

  it('is missing for an error inside a success without a code: a failure', () => {
    expect(classOf(null, { message: 'something went wrong' })).toBe('failed');
  });
});

describe('a code or type', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('finds nothing by %s', (code) => {
    expect(classOf(500, { code, type: code })).toBe('failed');
    expect(classOf(null, { code, type: code })).toBe('failed');
  });

  it.each<[FailureClass, number | null, Partial<ProviderError>]>([
    ['account', 429, { code: 'insufficient_quota' }],
    ['account', 429, { type: 'insufficient_quota' }],
    ['account', 400, { code: 'billing_hard_limit_reached' }],
    ['credential', 400, { code: 'API_KEY_INVALID' }],
    ['credential', 403, { code: 'ExpiredTokenException' }],
    ['forbidden', 403, { code: 'AccessDeniedException' }],
    ['endpoint', 400, { code: 'model_not_found' }],
    ['endpoint', 403, { code: 'model_not_found' }],
    ['endpoint', 404, { code: 'DeploymentNotFound' }],
    ['endpoint', 403, { code: 'unsupported_country_region_territory' }],
    ['endpoint', 400, { code: 'FAILED_PRECONDITION', message: 'User location is not supported.' }],
    ['context_length', 400, { code: 'context_length_exceeded' }],
    ['too_large', 400, { code: 'max_tokens_per_request' }],
    ['rate_limited', 400, { code: 'ServiceQuotaExceededException' }],
    ['rate_limited', 429, { code: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota' }],
    ['overloaded', 429, { code: 'ModelNotReadyException' }],
    ['timeout', 408, { code: 'ModelTimeoutException' }],
    // Without a status, in the body of a success.
    ['rate_limited', null, { code: 'rate_limit_exceeded' }],
    ['overloaded', null, { type: 'overloaded_error' }],
    ['refused', null, { type: 'invalid_request_error' }],
    ['credential', null, { type: 'authentication_error' }],
    // With a status it repeats that status, or is vague.
    ['failed', 500, { type: 'invalid_request_error' }],
    ['refused', 400, { code: 'not_found' }],
  ])('means %s with status %j: %j', (failureClass, status, members) => {
    expect(classOf(status, members)).toBe(failureClass);
  });
});

describe('words', () => {
  it.each([
    // OpenAI, Azure, vLLM, Together
    "This model's maximum context length is 8192 tokens, however you requested 10000 tokens (10000 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    "Invalid 'input': maximum context length is 8192 tokens.",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    "Please reduce the length of the input. This model's max_model_len is 512.",
    // TEI
    '`inputs` must have less than 512 tokens. Given: 513',
    'inputs must have less than 512 tokens. Given: 1038',
    // Ollama, llama.cpp
    'the input length exceeds the context length',
    'input exceeds maximum context length and cannot be truncated further',
    'input (600 tokens) is too large to process. increase the physical batch size',
    'the request exceeds the available context size',
    // Cohere, Voyage, Jina, Nomic, Mistral, Google, Bedrock, DeepInfra
    'invalid request: input text is too long',
    'size limit exceeded by 120 tokens. Try using shorter or fewer inputs.',
    "The example at index 0 in your batch has too many tokens and does not fit into the model's context window of 32000 tokens.",
    '[RID: ec42] Input text exceeds maximum length of 8192 tokens.',
    'Single text cannot exceed 8194 tokens. 9000 tokens given.',
    'Texts are too long',
    'Input id 0 has 8193 tokens, exceeding max 8192 tokens.',
    'The input token count (9000) exceeds the maximum number of tokens allowed (2048).',
    '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000',
    'Malformed input request: expected maxLength: 50000, actual: 60000, please reformat your input and try again.',
    'Input exceeds the context of the model',
    'Requested input length 600 exceeds maximum input length 512',
    "Invalid 'input[0]': maximum input length is 8192 tokens.",
  ])('of 400, 413, 422 and 500 mean that an input is too long here: %s', (message) => {
    for (const status of [400, 413, 422, 500]) expect(classOf(status, { message })).toBe('context_length');
  });

  it.each([
    'Requested 300001 tokens, max 300000 tokens per request',
    'Too many tokens in batch. Max is 16384 got 17555',
    'Too many inputs in request, split into more batches.',
    'The max allowed tokens per submitted batch is 120000. Your batch has 130000 tokens after truncation.',
    'The batch size limit is 1000. Your batch size is 1001.',
    'batch size 33 > maximum allowed batch size 32',
    'Failed to buffer the request body: length limit exceeded',
    '<html><head><title>413 Request Entity Too Large</title></head>',
  ])('mean that the call is too large here: %s', (message) => {
    for (const status of [400, 413, 422]) expect(classOf(status, { message })).toBe('too_large');
  });

  it.each([
    'The model `text-embedding-9` does not exist',
    'The model `text-embedding-9` does not exist or you do not have access to it.',
    'model "nomic-embed" not found, try pulling it first',
    'models/embedding-9 is not found for API version v1beta, or is not supported for embedContent.',
    'Model voyage-9 is not supported. Supported models are voyage-3.5.',
    'Invalid model: mistral-embed-9',
    'Model not found',
    'This model has been deprecated.',
    'The model acme-1 was retired on 2026-01-01.',
    'acme-1 reached its end of life',
    'The provided model identifier is invalid.',
    "Invocation of model ID cohere.embed-v4:0 with on-demand throughput isn't supported.",
    'The API deployment for this resource does not exist.',
    'User location is not supported for the API use.',
    'This service is not available in your region',
  ])('mean in any status that this endpoint cannot serve: %s', (message) => {
    for (const status of [400, 422, 500]) expect(classOf(status, { message })).toBe('endpoint');
  });

  it.each([
    'You exceeded your current quota, please check your plan and billing details.',
    'Insufficient account balance',
    'Your credit balance is too low to access the API.',
    'Your account is not active, please check your billing details on our website.',
  ])('mean that the account is used up: %s', (message) => {
    expect([400, 429].map((status) => classOf(status, { message }))).toEqual(['account', 'account']);
    expect(classOf(429, { message, retryAfter: 33 })).toBe('rate_limited');
  });

  it.each([
    'failed to encode response: json: unsupported value: NaN',
    'Out of range float values are not JSON compliant: nan',
  ])('of 500 mean that the input breaks the model: %s', (message) => {
    expect(classOf(500, { message })).toBe('input');
    expect(classOf(400, { message })).toBe('refused');
  });

  it.each([
    [400, 'This model does not support specifying dimensions.', 'refused'],
    [400, 'Model "x" does not support matryoshka representation', 'refused'],
    [400, "Unrecognized request argument supplied: 'truncate'", 'refused'],
    [503, 'The model is overloaded. Please try again later.', 'overloaded'],
    [503, 'model not found', 'overloaded'],
    [429, 'Rate limit reached on tokens per min (TPM): Limit 1000, Used 900, Requested 500.', 'rate_limited'],
    [429, 'Request too large for text-embedding-3-small on tokens per min (TPM)', 'too_large'],
    [500, 'The server had an error while processing your request.', 'failed'],
    [401, 'model not found', 'credential'],
    [404, 'The requested path /v1/embeddings was not found', 'address'],
    [404, 'model "bge-m3" not found, try pulling it first', 'endpoint'],
    [404, 'The deployment does not exist yet', 'endpoint'],
    [404, 'text-embedding-1 has reached its end of life', 'endpoint'],
  ])('change nothing where they say something else: %d %s', (status, message, failureClass) => {
    expect(classOf(status, { message })).toBe(failureClass);
  });

  it('are no evidence against an endpoint; statuses and codes are', () => {
    const message = 'The model does not exist';
    expect(classifyError(400, errorWith({ message }))).toEqual({ failureClass: 'endpoint', isByWords: true });
    expect(classifyError(404, errorWith({ message }))).toEqual({
      failureClass: 'endpoint',
      isByWords: false,
    });
  });

  it('are read in bounded time', () => {
    // Of the processor: a busy machine needs longer for the same work.
    const before = process.cpuUsage();
    for (const word of ['model ', 'exceeds the ', 'country, ', 'context ', 'not supported in your ', 'a'])
      classOf(400, { message: word.repeat(16_384 / word.length) });
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});

describe('an exchange without a response', () => {
  it.each<[string | null, boolean, FailureClass]>([
    ['no answer in time', true, 'timeout'],
    ['ECONNREFUSED', false, 'failed'],
    ['ECONNRESET', false, 'failed'],
    ['ENOTFOUND', false, 'failed'],
    ['UND_ERR_SOCKET', false, 'failed'],
    ['CERT_HAS_EXPIRED', false, 'address'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false, 'address'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', false, 'address'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', false, 'address'],
    ['EPROTO', false, 'address'],
    [null, false, 'failed'],
  ])('%j (time-out: %p) means %s', (code, isTimeout, failureClass) => {
    expect(classifyTransport(code, isTimeout).failureClass).toBe(failureClass);
  });
});
