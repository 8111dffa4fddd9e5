// Mistral's embeddings. Source: its SDK; messages as users quote them.
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isOneOf,
  isText,
  isTexts,
  isWidth,
} from './provider-stub.js';
import type { ProviderStub, StubReply } from './provider-stub.js';
import { contentsOf, countAllTokens, openAiAnswer } from './vectors.js';

const MAX_INPUTS = 256;
const MAX_TOKENS = 16_384;
const WIDTHS: Readonly<Record<string, number>> = { 'codestral-embed': 1536, 'mistral-embed': 1024 };

const reject = (status: number, message: string, code: string | null = null): StubReply => ({
  status,
  body: { object: 'error', message, type: 'invalid_request_error', param: null, code },
});

export const mistralStub: ProviderStub = defineProviderStub({
  slug: 'mistral',
  apiKey: 'mistral-stub-key',
  models: ['codestral-embed', 'mistral-embed'],
  nativeWidth: 1536,
  maxInputs: MAX_INPUTS,
  basePath: '/v1',
  failures: {
    rateLimited: { status: 429, body: { message: 'Requests rate limit exceeded' } },
    overloaded: { status: 503, body: { message: 'Service unavailable.' } },
    broken: { status: 500, body: reject(500, 'Internal server error').body },
    invalid: {
      status: 422,
      body: {
        object: 'error',
        message: {
          detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }],
        },
        type: 'invalid_request_error',
        code: null,
      },
    },
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings') {
      return { status: 404, body: { message: 'no Route matched with those values' } };
    }
    if (!hasBearer(request, this.apiKey))
      return { status: 401, body: { message: 'Unauthorized', request_id: 'a1' } };
    const found = findMemberProblem(body, {
      required: { model: isText, input: (value) => isText(value) || isTexts(value) },
      optional: {
        encoding_format: isOneOf('float', 'base64'),
        output_dimension: isWidth(1, 3072),
        output_dtype: isOneOf('float', 'int8', 'uint8', 'binary', 'ubinary'),
        metadata: (value) => typeof value === 'object' && value !== null,
      },
      unknown: 'refused',
    });
    if (found) {
      const msg = found.problem === 'unknown' ? 'Extra inputs are not permitted' : 'Input should be valid';
      const detail = [{ type: found.problem, loc: ['body', found.name], msg }];
      return { status: 422, body: { object: 'error', message: { detail }, type: 'invalid_request_error' } };
    }
    const model = String(body['model']);
    const fullWidth = WIDTHS[model];
    if (fullWidth === undefined) return reject(400, `Invalid model: ${model}`, '1500');
    if (body['output_dimension'] !== undefined && model !== 'codestral-embed') {
      return reject(400, 'This model does not support output_dimension.');
    }
    const contents = contentsOf(body['input']);
    if (contents.length > MAX_INPUTS) {
      return reject(400, 'Too many inputs in request, split into more batches.', '3210');
    }
    const tokens = countAllTokens(contents);
    if (tokens > MAX_TOKENS)
      return reject(400, `Too many tokens in batch. Max is ${MAX_TOKENS} got ${tokens}`);
    const options = { model, fullWidth, width: body['output_dimension'], format: body['encoding_format'] };
    return {
      status: 200,
      body: openAiAnswer(contents, {
        ...options,
        id: 'c3c9',
        usage: (count) => ({ prompt_tokens: count, total_tokens: count, completion_tokens: 0 }),
      }),
    };
  },
});
