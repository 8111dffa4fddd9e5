// Nomic Atlas' text embeddings. Source: its documentation.
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isOneOf,
  isTexts,
  isWidth,
} from './provider-stub.js';
import type { ProviderStub, StubReply } from './provider-stub.js';
import { countAllTokens, vectorOf } from './vectors.js';

const MAX_INPUTS = 400;
const WIDTH = 768;

const reject = (status: number, detail: unknown): StubReply => ({ status, body: { detail } });

export const nomicStub: ProviderStub = defineProviderStub({
  slug: 'nomic',
  apiKey: 'nk-stub-key',
  models: ['nomic-embed-text-v1.5'],
  nativeWidth: WIDTH,
  maxInputs: MAX_INPUTS,
  basePath: '/v1',
  failures: {
    rateLimited: reject(429, 'Rate limit exceeded'),
    overloaded: reject(503, 'Service temporarily unavailable'),
    broken: reject(500, 'Internal server error'),
    invalid: reject(400, 'Texts are too long'),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embedding/text') return reject(404, 'Not Found');
    if (!hasBearer(request, this.apiKey)) return reject(401, 'Invalid authorization credentials');
    const found = findMemberProblem(body, {
      required: { model: isOneOf(...this.models), texts: isTexts },
      optional: {
        task_type: isOneOf('search_query', 'search_document', 'classification', 'clustering'),
        dimensionality: isWidth(64, WIDTH),
        long_text_mode: isOneOf('truncate', 'mean'),
        max_tokens_per_text: isWidth(10, 8192),
      },
      unknown: 'refused',
    });
    if (found)
      return reject(422, [{ loc: ['body', found.name], msg: 'value is not valid', type: 'value_error' }]);
    const texts = body['texts'] as readonly string[];
    if (texts.length > MAX_INPUTS) return reject(400, `at most ${MAX_INPUTS} texts`);
    const tokens = countAllTokens(texts);
    const width = body['dimensionality'] as number | undefined;
    return {
      status: 200,
      body: {
        embeddings: texts.map((text) => vectorOf(text, WIDTH, width)),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
        model: body['model'],
        inference_mode: 'remote',
      },
    };
  },
});
