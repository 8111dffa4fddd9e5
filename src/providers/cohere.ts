// Cohere, v2 of its API.
import { COHERE_BILLING, cohereBody, readCohereVectors } from './shared/cohere-wire.js';
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
import {
  asObject,
  bearer,
  partialTokenCount,
  postJson,
  readAnswerObject,
  recordableId,
  tokenCount,
} from './shared/wire.js';

const INVALID_TOKEN = 498;
const REQUEST_CANCELLED = 499;

export const cohere: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'cohere',
  name: 'Cohere',
  defaultBaseUrl: 'https://api.cohere.com',
  needsApiKey: true,
  billing: COHERE_BILLING,
  buildRequest: buildCohereRequest,
  readAnswer: readCohereAnswer,
  readError: readCohereError,
};

function buildCohereRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(`${baseUrl}/v2/embed`, bearer(apiKey), {
    ...cohereBody(call, {
      embeddingType: call.encodingFormat,
      imagePart: (url) => ({ url }),
    }),
    model: call.upstreamModel,
  });
}

function readCohereAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readCohereVectors, ['id', 'meta']);
  const billed = asObject(asObject(members['meta'])['billed_units']);
  const textTokens = partialTokenCount(billed['input_tokens']);
  const imageTokens = partialTokenCount(billed['image_tokens']);
  const tokens = tokenCount((textTokens ?? 0) + (imageTokens ?? 0));
  return {
    vectors,
    promptTokens: tokens,
    totalTokens: tokens,
    // Image tokens have their own price.
    ...(imageTokens ? { tokensByModality: { text: textTokens ?? 0, image: imageTokens } } : {}),
    upstreamId: recordableId(members['id']),
  };
}

function readCohereError(response: UpstreamResponse): ProviderError {
  const error = readUpstreamError(response);
  if (response.status === INVALID_TOKEN) return { ...error, kind: 'credential' };
  return response.status === REQUEST_CANCELLED ? { ...error, kind: 'failed' } : error;
}
