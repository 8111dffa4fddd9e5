// vLLM's embeddings: unknown members are passed over, null and the empty text are not encodings. Source: its
// documentation; messages as users quote them (coze-studio #484 on GitHub).
import {
  defineProviderStub,
  findMemberProblem,
  hasBearer,
  isOneOf,
  isText,
  isTextsOrTokens,
  isWidth,
} from './provider-stub.js';
import type { MemberCheck, ProviderStub, StubReply } from './provider-stub.js';
import { contentsOf, openAiAnswer } from './vectors.js';

interface Model {
  readonly width: number;
  readonly isMatryoshka: boolean;
}

const MODELS: Readonly<Record<string, Model>> = {
  'jinaai/jina-embeddings-v3': { width: 1024, isMatryoshka: true },
  'BAAI/bge-m3': { width: 1024, isMatryoshka: false },
};

/** The real one makes one vector of a conversation, so that of two inputs in it one would be lost in silence. */
const isOneMessage: MemberCheck = (messages) => Array.isArray(messages) && messages.length === 1;

const reject = (code: number, type: string, message: string): StubReply => ({
  status: code,
  body: { object: 'error', message, type, param: null, code },
});

export const vllmStub: ProviderStub = defineProviderStub({
  slug: 'vllm',
  apiKey: 'vllm-stub-key',
  models: ['jinaai/jina-embeddings-v3', 'BAAI/bge-m3'],
  nativeWidth: 1024,
  maxInputs: null,
  basePath: '/v1',
  failures: {
    rateLimited: reject(429, 'RateLimitError', 'Too many requests'),
    overloaded: reject(503, 'ServiceUnavailableError', 'The server is loading'),
    broken: reject(500, 'InternalServerError', 'EngineCore encountered an issue.'),
    invalid: reject(400, 'BadRequestError', "This model's maximum context length is 8192 tokens."),
  },
  answer(request) {
    const { body } = request;
    if (request.method !== 'POST' || request.path !== '/v1/embeddings')
      return { status: 404, body: { detail: 'Not Found' } };
    if (!hasBearer(request, this.apiKey)) return { status: 401, body: { error: 'Unauthorized' } };
    const model = MODELS[String(body['model'])];
    if (!model) return reject(404, 'NotFoundError', `The model \`${String(body['model'])}\` does not exist.`);
    const isChat = 'messages' in body;
    const found = findMemberProblem(body, {
      required: isChat ? { messages: isOneMessage } : { input: isTextsOrTokens },
      optional: {
        encoding_format: isOneOf('float', 'base64'),
        dimensions: isWidth(1, 4096),
        user: isText,
        truncate_prompt_tokens: isWidth(-1, 8192),
      },
      unknown: 'ignored',
    });
    if (found)
      return reject(
        400,
        'BadRequestError',
        `[{'loc': ('body', '${found.name}'), 'msg': 'Input should be valid'}]`,
      );
    const { dimensions } = body;
    if (dimensions !== undefined && !model.isMatryoshka) {
      const message = `Model "${String(body['model'])}" does not support matryoshka representation, changing output dimensions will lead to poor results.`;
      return reject(400, 'BadRequestError', message);
    }
    const contents = isChat ? [body['messages']] : contentsOf(body['input']);
    const options = {
      model: body['model'],
      fullWidth: model.width,
      width: dimensions,
      format: body['encoding_format'],
      id: 'embd-5c9e',
    };
    return { status: 200, body: openAiAnswer(contents, options) };
  },
});
