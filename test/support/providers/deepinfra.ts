// DeepInfra's OpenAI-compatible embeddings. Source: its model pages; hindsight PR 434 and vercel/ai #11264 on GitHub.
import { openAiError } from './openai-errors.js';
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
import { contentsOf, openAiAnswer } from './vectors.js';

const WIDTHS: Readonly<Record<string, number>> = { 'Qwen/Qwen3-Embedding-0.6B': 1024, 'BAAI/bge-m3': 1024 };
const MAX_INPUTS = 1024;

const reject = (status: number, error: string): StubReply => ({ status, body: { detail: { error } } });

export const deepinfraStub: ProviderStub = defineProviderStub({
  slug: 'deepinfra',
  apiKey: 'deepinfra-stub-key',
  models: ['Qwen/Qwen3-Embedding-0.6B', 'BAAI/bge-m3'],
  nativeWidth: 1024,
  maxInputs: MAX_INPUTS,
  basePath: '/v1/openai',
  failures: {
    rateLimited: openAiError(429, 'Model busy, retry later', null, { type: 'rate_limit' }),
    overloaded: openAiError(503, 'Service unavailable', null, { type: 'server_error' }),
    broken: openAiError(500, 'inference prediction failed', null, { type: 'server_error' }),
    invalid: reject(422, 'Input exceeds the context of the model'),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/openai/embeddings')
      return reject(404, 'Not Found');
    if (!hasBearer(request, this.apiKey)) return reject(401, 'User is not authenticated');
    const model = String(body['model']);
    const fullWidth = WIDTHS[model];
    if (fullWidth === undefined) return reject(404, 'Model is not available');
    if ('encoding_format' in body && !isOneOf('float', 'base64')(body['encoding_format'])) {
      return openAiError(400, "'encoding_format' only support with [float, base64]", null);
    }
    const found = findMemberProblem(body, {
      required: { model: isText, input: (value) => isText(value) || isTexts(value) },
      optional: { dimensions: isWidth(32, fullWidth) },
      unknown: 'ignored',
    });
    if (found) {
      const detail = [{ type: found.problem, loc: ['body', found.name], msg: 'Input should be valid' }];
      return { status: 422, body: { detail } };
    }
    const contents = contentsOf(body['input']);
    if (contents.length > MAX_INPUTS) return reject(400, `at most ${MAX_INPUTS} inputs`);
    // Models that cannot be shortened pass over the width.
    const width = model.startsWith('Qwen/') ? body['dimensions'] : undefined;
    const options = { model, fullWidth, width, format: body['encoding_format'] };
    return { status: 200, body: openAiAnswer(contents, options) };
  },
});
