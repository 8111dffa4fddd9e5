// Cohere, v2 of its API.
import type { DiscoveredKind } from '../domain/providers/provider-model.js';
import { operationUrl } from './shared/address.js';
import { COHERE_BILLING, cohereBody, readCohereVectors } from './shared/cohere-wire.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { defineRerankWire, documentTexts, resultsOfJina, searchUnitCount } from './shared/rerank-wire.js';
import { defineModelList } from './shared/model-list.js';
import { readUpstreamError } from './shared/upstream-error.js';
import {
  asObject,
  bearer,
  given,
  partialTokenCount,
  postJson,
  readAnswerObject,
  readTopMembers,
  recordableId,
  tokenCount,
} from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { clampedTo, NO_CACHE_SETTINGS, NO_OPEN_SAMPLING, stopAsList } from './shared/chat/member-rules.js';

export const cohere: HttpProvider = {
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
  // https://docs.cohere.com/reference/list-models
  models: defineModelList({
    url: (baseUrl) => operationUrl(baseUrl, '/v1/models'),
    query: { page_size: '1000' },
    items: (body) => asObject(body)['models'],
    name: ({ name }) => name,
    facts: ({ endpoints, context_length: contextLength }) => ({ kind: kindOf(endpoints), contextLength }),
    next: ({ next_page_token: token }) => (token ? { page_token: token } : null),
  }),
  chat: defineChatWire({
    url: ({ baseUrl }) => operationUrl(baseUrl, '/compatibility/v1/chat/completions'),
    outputLimit: () => 'max_tokens',
    // `stream_options` is refused.
    streamUsage: () => 'unasked',
    members: {
      ...NO_OPEN_SAMPLING,
      ...NO_CACHE_SETTINGS,
      stop: stopAsList(),
      frequency_penalty: clampedTo(0, 1),
      presence_penalty: clampedTo(0, 1),
      top_p: clampedTo(0.01, 0.99),
      logit_bias: 'drop',
      parallel_tool_calls: 'drop',
      verbosity: 'drop',
      prediction: 'drop',
      user: 'drop',
    },
    dropsStrict: true,
    needsParameters: true,
    lacks: ['n', 'logprobs'],
    messages: {
      developerRole: 'system',
      names: 'none',
      reasoning: null,
    },
    mediaUrls: 'sent',
    readError: readUpstreamError,
    cancellation: 'stops',
  }),
  // https://docs.cohere.com/reference/rerank
  rerank: defineRerankWire({
    bills: ['search_unit'],
    // More tokens of a document are more chunks of it, each of which is billed.
    billing: { repriced: { max_tokens_per_doc: [], max_chunks_per_doc: [] }, free: ['priority'] },
    buildRequest: (call, { baseUrl, apiKey }) =>
      postJson(operationUrl(baseUrl, '/v2/rerank'), bearer(apiKey), {
        ...given('max_tokens_per_doc', call.maxTokensPerDocument),
        ...call.extra,
        model: call.upstreamModel,
        query: call.query,
        documents: documentTexts(call),
        top_n: call.topN,
      }),
    results: resultsOfJina,
    usage: (body) => {
      const billed = asObject(asObject(asObject(body)['meta'])['billed_units']);
      const searchUnits = searchUnitCount(billed['search_units']);
      return { promptTokens: null, totalTokens: null, ...(searchUnits !== null && { searchUnits }) };
    },
  }),
};

function kindOf(endpoints: unknown): DiscoveredKind | undefined {
  if (!Array.isArray(endpoints)) return undefined;
  const kinds = { chat: 'chat', embed: 'embeddings', rerank: 'rerank' } as const;
  const known = Object.entries(kinds).find(([name]) => endpoints.includes(name));
  return known ? known[1] : 'other';
}

function buildCohereRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/v2/embed'), bearer(apiKey), {
    ...cohereBody(call, {
      embeddingType: call.encodingFormat,
      truncates: 'START or END',
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
