// OpenAI's embeddings API. Source: its OpenAPI document; messages as users quote them.
import { openAiError } from './openai-errors.js';
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isOneOf,
  isText,
  isTextsOrTokens,
  isWidth,
} from './provider-stub.js';
import type { ProviderStub, StubReply, StubRequest } from './provider-stub.js';
import { contentsOf, countTokens, openAiAnswer } from './vectors.js';

const WIDTHS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};
const MAX_INPUTS = 2048;
const MAX_TOKENS_PER_INPUT = 8192;
const MAX_TOKENS = 300_000;

export const openAiFailures = {
  rateLimited: openAiError(
    429,
    'Rate limit reached for requests per min (RPM): Limit 3.',
    'rate_limit_exceeded',
    {
      type: 'requests',
      headers: { 'retry-after': '2', 'retry-after-ms': '1500' },
    },
  ),
  overloaded: openAiError(503, 'The engine is currently overloaded, please try again later', null, {
    type: 'server_error',
  }),
  broken: openAiError(500, 'The server had an error while processing your request.', null, {
    type: 'server_error',
  }),
  invalid: openAiError(400, "Invalid 'input': maximum context length is 8192 tokens.", null),
};

export const openaiStub: ProviderStub = defineProviderStub({
  slug: 'openai',
  apiKey: 'sk-stub-openai',
  models: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
  nativeWidth: 1536,
  maxInputs: MAX_INPUTS,
  basePath: '/v1',
  failures: openAiFailures,
  answer(request) {
    if (request.method !== 'POST' || request.path !== '/v1/embeddings') {
      return openAiError(404, `Invalid URL (${request.method} ${request.path})`, null);
    }
    if (!hasBearer(request, this.apiKey)) {
      return openAiError(401, 'Incorrect API key provided: sk-wr**ng.', 'invalid_api_key');
    }
    return answerOpenAiBody(request, WIDTHS);
  },
});

/** The common behaviour of OpenAI and Azure once the caller is known. */
export function answerOpenAiBody({ body }: StubRequest, widths: Readonly<Record<string, number>>): StubReply {
  const found = findMemberProblem(body, {
    required: { model: isText, input: isTextsOrTokens },
    optional: {
      encoding_format: isOneOf('float', 'base64'),
      dimensions: isWidth(1, 3072),
      user: isText,
    },
    unknown: 'refused',
  });
  if (found?.problem === 'unknown') {
    return openAiError(400, `Unrecognized request argument supplied: ${found.name}`, null);
  }
  if (found) return openAiError(400, `'$.${found.name}' is invalid.`, null);
  const fullWidth = widths[String(body['model'])];
  if (fullWidth === undefined) {
    return openAiError(404, `The model \`${String(body['model'])}\` does not exist`, 'model_not_found');
  }
  const { dimensions } = body;
  if (dimensions !== undefined && String(body['model']).includes('ada')) {
    return openAiError(400, 'This model does not support specifying dimensions.', null);
  }
  if (typeof dimensions === 'number' && dimensions > fullWidth) {
    return openAiError(400, `Invalid value for 'dimensions' = ${dimensions}.`, null);
  }
  const contents = contentsOf(body['input']);
  if (contents.length > MAX_INPUTS) return openAiError(400, "'$.input' is invalid.", null);
  const counts = contents.map(countTokens);
  if (Math.max(...counts) > MAX_TOKENS_PER_INPUT) {
    return openAiError(
      400,
      `Invalid 'input': maximum context length is ${MAX_TOKENS_PER_INPUT} tokens.`,
      null,
    );
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > MAX_TOKENS) {
    const message = `Requested ${total} tokens, max ${MAX_TOKENS} tokens per request`;
    return openAiError(400, message, 'max_tokens_per_request', { type: 'max_tokens_per_request' });
  }
  const options = { model: body['model'], fullWidth, width: dimensions, format: body['encoding_format'] };
  return { status: 200, body: openAiAnswer(contents, options) };
}
