// Cohere, v2 of its API.
import { operationUrl } from './shared/address.js';
import { COHERE_BILLING, cohereBody, readCohereVectors } from './shared/cohere-wire.js';
import type {
  HttpEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
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
  readTopMembers,
  recordableId,
  tokenCount,
} from './shared/wire.js';

export const cohere: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'cohere',
  name: 'Cohere',
  defaultBaseUrl: 'https://api.cohere.com',
  needsApiKey: true,
  billing: COHERE_BILLING,
  truncatesLongInputs: ({ truncate }) => truncate !== 'NONE',
  buildRequest: buildCohereRequest,
  readAnswer: readCohereAnswer,
  readUsage: (response) => usageOf(readTopMembers(response, ['meta'])['meta']),
  readError: readUpstreamError,
};

function buildCohereRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/v2/embed'), bearer(apiKey), {
    ...cohereBody(call, {
      embeddingType: call.encodingFormat,
      imagePart: (url) => ({ url }),
    }),
    model: call.upstreamModel,
  });
}

function readCohereAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readCohereVectors, ['id', 'meta']);
  return { vectors, ...usageOf(members['meta']), upstreamId: recordableId(members['id']) };
}

function usageOf(meta: unknown): ReportedUsage {
  const billed = asObject(asObject(meta)['billed_units']);
  const textTokens = partialTokenCount(billed['input_tokens']);
  const imageTokens = partialTokenCount(billed['image_tokens']);
  const tokens = tokenCount((textTokens ?? 0) + (imageTokens ?? 0));
  return {
    promptTokens: tokens,
    totalTokens: tokens,
    // Image tokens have their own price.
    ...(imageTokens ? { tokensByModality: { text: textTokens ?? 0, image: imageTokens } } : {}),
  };
}
