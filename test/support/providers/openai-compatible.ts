// A look-alike of OpenAI's wire that knows little: it refuses base64, and passes over what it does not know.
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
import type { ProviderStub } from './provider-stub.js';
import { contentsOf, openAiAnswer } from './vectors.js';

const WIDTH = 512;

export const openaiCompatibleStub: ProviderStub = defineProviderStub({
  slug: 'openai-compatible',
  apiKey: 'compatible-stub-key',
  models: ['any-model'],
  nativeWidth: WIDTH,
  maxInputs: null,
  basePath: '/v1',
  failures: {
    rateLimited: openAiError(429, 'slow down', null),
    overloaded: {
      status: 503,
      body: '<html>Service unavailable</html>',
      headers: { 'content-type': 'text/html' },
    },
    broken: { status: 502, body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } },
    invalid: openAiError(400, 'bad input', null),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings')
      return openAiError(404, 'not found', null);
    if (!hasBearer(request, this.apiKey)) return openAiError(401, 'wrong key', null);
    const found = findMemberProblem(body, {
      required: { model: isText, input: isTextsOrTokens },
      optional: { encoding_format: isOneOf('float'), dimensions: isWidth(1, WIDTH), user: isText },
      unknown: 'ignored',
    });
    if (found) return openAiError(400, `${found.name} is not supported`, null);
    const options = { model: body['model'], fullWidth: WIDTH, width: body['dimensions'] };
    return { status: 200, body: openAiAnswer(contentsOf(body['input']), options) };
  },
});
