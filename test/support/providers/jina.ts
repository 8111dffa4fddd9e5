// Jina AI's embeddings. Source: its model pages, Elastic's client, and messages as users quote them (dify plugins #1997).
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isFlag,
  isOneOf,
  isText,
  isWidth,
} from './provider-stub.js';
import type { MemberCheck, ProviderStub, StubReply } from './provider-stub.js';
import { contentsOf, openAiAnswer } from './vectors.js';

interface Model {
  readonly width: number;
  readonly leastWidth: number | null;
  readonly tasks: readonly string[];
  readonly maxInputs: number;
  readonly isInput: MemberCheck;
}

const isImageOrText: MemberCheck = (value) => {
  const { text, image } = value as { text?: unknown; image?: unknown };
  return isText(value) || (isText(image) ? text === undefined : isText(text));
};
const RETRIEVAL = ['retrieval.query', 'retrieval.passage', 'text-matching'];
const MODELS: Readonly<Record<string, Model>> = {
  'jina-embeddings-v4': {
    width: 2048,
    leastWidth: 128,
    tasks: [...RETRIEVAL, 'code.query', 'code.passage'],
    maxInputs: 512,
    isInput: isImageOrText,
  },
  'jina-embeddings-v3': {
    width: 1024,
    leastWidth: 32,
    tasks: [...RETRIEVAL, 'classification', 'separation'],
    maxInputs: 2048,
    isInput: isText,
  },
  'jina-embeddings-v2-base-en': { width: 768, leastWidth: null, tasks: [], maxInputs: 2048, isInput: isText },
};

const reject = (status: number, detail: string): StubReply => ({ status, body: { detail } });
const invalid = (model: string, problem: string): StubReply =>
  reject(422, `[RID: ec42] Validation error: 'body -> ${model}' ${problem}`);

export const jinaStub: ProviderStub = defineProviderStub({
  slug: 'jina',
  apiKey: 'jina_stub',
  models: ['jina-embeddings-v4', 'jina-embeddings-v3', 'jina-embeddings-v2-base-en'],
  nativeWidth: 2048,
  maxInputs: 512,
  basePath: '/v1',
  failures: {
    rateLimited: reject(429, 'Token rate limit exceeded: 1000000/minute'),
    overloaded: reject(503, 'Service unavailable'),
    broken: reject(500, 'Internal Server Error'),
    invalid: reject(400, '[RID: ec42] Input text exceeds maximum length of 8192 tokens.'),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings') return reject(404, 'Not Found');
    if (!hasBearer(request, this.apiKey)) return reject(401, 'Unauthorized');
    const name = String(body['model']);
    const model = MODELS[name];
    if (!model) return invalid(name, 'Model not found');
    const found = findMemberProblem(body, {
      required: {
        model: isText,
        input: (value) =>
          isText(value) || (Array.isArray(value) && value.length > 0 && value.every(model.isInput)),
      },
      optional: {
        embedding_type: isOneOf('float', 'base64', 'binary', 'ubinary'),
        normalized: isFlag,
        truncate: isFlag,
        late_chunking: isFlag,
        ...(model.leastWidth === null ? {} : { dimensions: isWidth(model.leastWidth, model.width) }),
        ...(model.tasks.length === 0 ? {} : { task: isOneOf(...model.tasks) }),
      },
      unknown: 'refused',
    });
    if (found) return invalid(name, `${found.name}: ${found.problem}`);
    const inputs = contentsOf(body['input']);
    if (inputs.length > model.maxInputs) {
      return invalid(name, `Each input list can contain at most ${model.maxInputs} items.`);
    }
    const contents = inputs.map((input) => (input as { text?: string }).text ?? input);
    return {
      status: 200,
      body: openAiAnswer(contents, {
        model: name,
        fullWidth: model.width,
        width: body['dimensions'],
        format: body['embedding_type'],
      }),
    };
  },
});
