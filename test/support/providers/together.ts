// Together's embeddings. Source: its OpenAPI document; ogx PR 3559 on GitHub for what it refuses.
import { openAiError } from './openai-errors.js';
import { defineProviderStub, findMemberProblem, hasBearer, isText, isTexts } from './provider-stub.js';
import type { ProviderStub } from './provider-stub.js';
import { contentsOf, openAiAnswer } from './vectors.js';

const WIDTHS: Readonly<Record<string, number>> = {
  'BAAI/bge-base-en-v1.5': 768,
  'BAAI/bge-large-en-v1.5': 1024,
};

export const togetherStub: ProviderStub = defineProviderStub({
  slug: 'together',
  apiKey: 'together-stub-key',
  models: ['BAAI/bge-base-en-v1.5', 'BAAI/bge-large-en-v1.5'],
  nativeWidth: 768,
  maxInputs: null,
  basePath: '/v1',
  failures: {
    rateLimited: openAiError(429, 'You have reached the rate limit specific to this model.', null, {
      type: 'model_rate_limit',
    }),
    overloaded: openAiError(503, 'The server is overloaded.', null, { type: 'service_unavailable' }),
    broken: openAiError(500, 'Internal server error', null, { type: 'server_error' }),
    invalid: openAiError(400, 'Input validation error', null),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings')
      return { status: 404, body: 'Not found' };
    if (!hasBearer(request, this.apiKey))
      return openAiError(401, 'Invalid API key provided.', 'invalid_api_key');
    const found = findMemberProblem(body, {
      required: { model: isText, input: (value) => isText(value) || isTexts(value) },
      optional: {},
      unknown: 'refused',
    });
    if (found?.problem === 'unknown') {
      return openAiError(400, `Unrecognized request arguments supplied: ${found.name}`, null);
    }
    if (found) return openAiError(400, `Input validation error: ${found.name}`, null);
    const fullWidth = WIDTHS[String(body['model'])];
    if (fullWidth === undefined) {
      return openAiError(404, `Unable to access model ${String(body['model'])}.`, 'model_not_available');
    }
    const options = { model: body['model'], fullWidth, usage: () => undefined };
    return { status: 200, body: openAiAnswer(contentsOf(body['input']), options) };
  },
});
