// Voyage AI's embeddings. Source: its API reference and SDK; messages as users quote them.
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isFlag,
  isOneOf,
  isText,
  isTexts,
} from './provider-stub.js';
import type { ProviderStub, StubReply } from './provider-stub.js';
import { contentsOf, countAllTokens, openAiAnswer } from './vectors.js';

const MAX_INPUTS = 1000;
const MAX_TOKENS: Readonly<Record<string, number>> = { 'voyage-3.5': 320_000, 'voyage-3-large': 120_000 };
const WIDTH = 1024;

const reject = (status: number, detail: string): StubReply => ({ status, body: { detail } });

export const voyageStub: ProviderStub = defineProviderStub({
  slug: 'voyage',
  apiKey: 'pa-stub-key',
  models: ['voyage-3.5', 'voyage-3-large'],
  nativeWidth: WIDTH,
  maxInputs: MAX_INPUTS,
  basePath: '/v1',
  failures: {
    rateLimited: reject(429, 'You have exceeded your rate limit of 3 RPM.'),
    overloaded: reject(503, 'The server is overloaded. Please retry your request after a brief wait.'),
    broken: reject(500, 'Internal server error'),
    invalid: reject(400, 'The example at index 0 in your batch has too many tokens and does not fit.'),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings') return reject(404, 'Not Found');
    if (!hasBearer(request, this.apiKey)) return reject(401, 'Provided API key is invalid.');
    const found = findMemberProblem(body, {
      required: { model: isText, input: (value) => isText(value) || isTexts(value) },
      optional: {
        input_type: isOneOf('query', 'document', null),
        truncation: isFlag,
        output_dimension: isOneOf(256, 512, 1024, 2048),
        output_dtype: isOneOf('float', 'int8', 'uint8', 'binary', 'ubinary'),
        encoding_format: isOneOf('base64', null),
      },
      unknown: 'refused',
    });
    if (found?.problem === 'unknown')
      return reject(400, `Argument '${found.name}' is not supported by our API`);
    if (found) return reject(400, `Value of '${found.name}' is not valid`);
    const maxTokens = MAX_TOKENS[String(body['model'])];
    if (maxTokens === undefined) return reject(400, `Model ${String(body['model'])} is not supported.`);
    const contents = contentsOf(body['input']);
    if (contents.length > MAX_INPUTS) {
      return reject(400, `The batch size limit is ${MAX_INPUTS}. Your batch size is ${contents.length}.`);
    }
    const tokens = countAllTokens(contents);
    if (tokens > maxTokens) {
      return reject(
        400,
        `The max allowed tokens per submitted batch is ${maxTokens}. Your batch has ${tokens}.`,
      );
    }
    return {
      status: 200,
      body: openAiAnswer(contents, {
        model: body['model'],
        fullWidth: WIDTH,
        width: body['output_dimension'],
        format: body['encoding_format'],
        usage: (count) => ({ total_tokens: count }),
      }),
    };
  },
});
