// Together. Its embeddings take a model and texts. It refuses a width, an input type and a user, and answers may lack
// usage.
import type { DiscoveredKind } from '../domain/providers/provider-model.js';
import { operationUrl } from './shared/address.js';
import { textsOf } from './shared/call-input.js';
import { UnsupportedRequest } from './shared/provider.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { defineModelList } from './shared/model-list.js';
import { defineRerankWire, jinaForm, resultsOfJina } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { asObject, bearer, postJson } from './shared/wire.js';
import type { ChatRequest } from '../domain/chat/chat-request.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPEN_MESSAGES, stopAsList } from './shared/chat/member-rules.js';

export const together: HttpProvider = {
  transport: 'http',
  slug: 'together',
  name: 'Together',
  defaultBaseUrl: 'https://api.together.xyz/v1',
  needsApiKey: true,
  billing: {},
  buildRequest: buildTogetherRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  // https://docs.together.ai/reference/models-1
  models: defineModelList({
    url: (baseUrl) => operationUrl(baseUrl, '/models'),
    items: (body) => body,
    facts: ({ type, display_name: displayName, context_length: contextLength, pricing }) => ({
      kind: kindOf(type),
      displayName,
      contextLength,
      prices: { prompt: asObject(pricing)['input'], completion: asObject(pricing)['output'] },
    }),
  }),
  chat: defineChatWire({
    outputLimit: () => 'max_tokens',
    streamUsage: () => 'ask',
    members: {
      stop: stopAsList(),
      // The number of alternatives under the name of the flag.
      logprobs: (_value, { request }) =>
        request.wantsLogprobs ? { value: String(alternativesOf(request)) } : 'omitted',
      top_logprobs: () => 'omitted',
      parallel_tool_calls: 'listed',
      top_k: 'keep',
      min_p: 'keep',
      repetition_penalty: 'keep',
      top_a: 'drop',
      user: 'drop',
    },
    messages: OPEN_MESSAGES,
    mediaUrls: 'sent',
    reasoningSwitch: true,
    finishReasons: { eos: 'stop' },
    readError: readUpstreamError,
    cancellation: 'stops',
  }),
  // https://docs.together.ai/reference/rerank. On dedicated endpoints only, whose operator knows their price.
  rerank: defineRerankWire({
    bills: ['token', 'search_unit'],
    billing: { free: ['rank_fields'] },
    buildRequest: (call, { baseUrl, apiKey }) =>
      postJson(operationUrl(baseUrl, '/rerank'), bearer(apiKey), jinaForm(call)),
    results: resultsOfJina,
  }),
};

function buildTogetherRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  if (call.dimensions !== undefined) {
    throw new UnsupportedRequest(
      'dimensions',
      `Together gives the vectors of ${call.upstreamModel} in full only`,
    );
  }
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOf(call),
  });
}

function kindOf(type: unknown): DiscoveredKind | undefined {
  if (typeof type !== 'string') return undefined;
  const kinds: Readonly<Record<string, DiscoveredKind>> = {
    chat: 'chat',
    embedding: 'embeddings',
    rerank: 'rerank',
  };
  return Object.hasOwn(kinds, type) ? kinds[type] : 'other';
}

/** At least one: 0 gives none at all. */
function alternativesOf({ members }: ChatRequest): number {
  const wanted = Number(members.get('top_logprobs')?.toString() ?? 1);
  return Math.max(1, wanted);
}
