// Ollama's own /api/embed, at OLLAMA_BASE_URL: unlike its OpenAI-compatible route it has truncation and keep_alive. It
// has no input type (its models expect prefixes in the text) and no user.
import { textsOf } from './shared/call-input.js';
import type {
  HttpEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson, readAnswerObject, readVectors, tokenCount } from './shared/wire.js';

export const ollama: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'ollama',
  name: 'Ollama',
  // Not the default port on this machine: an endpoint that is not configured must not be tried.
  defaultBaseUrl: null,
  needsApiKey: false,
  // `options` may raise the context, and so the tokens of an input.
  billing: { free: ['truncate', 'keep_alive'], repriced: { options: [] } },
  buildRequest: buildOllamaRequest,
  readAnswer: readOllamaAnswer,
  readError: readOllamaError,
};

function buildOllamaRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(`${baseUrl.replace(/\/v1$/, '')}/api/embed`, bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOf(call),
    ...given('dimensions', call.dimensions),
  });
}

function readOllamaAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readVectors, ['prompt_eval_count']);
  const tokens = tokenCount(members['prompt_eval_count']);
  return { vectors, promptTokens: tokens, totalTokens: tokens, upstreamId: null };
}

function readOllamaError(response: UpstreamResponse): ProviderError {
  const error = readUpstreamError(response);
  // Some versions answer 500 to an input that is too long.
  const isTooLong = response.status === 500 && /exceeds (the|maximum) context length/.test(error.message);
  return { ...error, ...(isTooLong ? { kind: 'refused' } : {}) };
}
