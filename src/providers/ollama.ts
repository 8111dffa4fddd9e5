// Ollama's own /api/embed, at OLLAMA_BASE_URL: unlike its OpenAI-compatible route it has truncation and keep_alive. It
// has no input type (its models expect prefixes in the text) and no user.
import { operationUrl, withoutVersion } from './shared/address.js';
import { textsOf } from './shared/call-input.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { OLLAMA_MEMBERS } from './shared/embedding-members.js';
import { defineModelList } from './shared/model-list.js';
import { readUpstreamError } from './shared/upstream-error.js';
import {
  asObject,
  bearer,
  given,
  postJson,
  readAnswerObject,
  readTopMembers,
  readVectors,
  tokenCount,
} from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { NO_CACHE_SETTINGS, NO_OPEN_SAMPLING } from './shared/chat/member-rules.js';

export const ollama: HttpProvider = {
  transport: 'http',
  slug: 'ollama',
  name: 'Ollama',
  // Not the default port on this machine: an endpoint that is not configured must not be tried.
  defaultBaseUrl: null,
  needsApiKey: false,
  // `options` may raise the context, and so the tokens of an input.
  billing: { free: ['truncate', 'keep_alive'], repriced: { options: [] } },
  members: OLLAMA_MEMBERS,
  truncatesLongInputs: ({ truncate }) => truncate !== false,
  buildRequest: buildOllamaRequest,
  readAnswer: readOllamaAnswer,
  readUsage: (response) => usageOf(readTopMembers(response, ['prompt_eval_count'])),
  readError: readUpstreamError,
  // https://docs.ollama.com/api/tags
  models: defineModelList({
    url: (baseUrl) => operationUrl(withoutVersion(baseUrl), '/api/tags'),
    items: (body) => asObject(body)['models'],
    name: ({ name }) => name,
  }),
  chat: defineChatWire({
    url: ({ baseUrl }) => operationUrl(withoutVersion(baseUrl), '/v1/chat/completions'),
    // The other name is ignored in silence, and the output unlimited.
    outputLimit: () => 'max_tokens',
    streamUsage: () => 'ask',
    members: {
      ...NO_OPEN_SAMPLING,
      ...NO_CACHE_SETTINGS,
      parallel_tool_calls: 'drop',
      logit_bias: 'drop',
      tool_choice: 'drop',
      user: 'drop',
    },
    // A forced tool is ignored as well; `none` is honoured without the tools.
    lacks: ['tool_choice', 'logprobs', 'n'],
    messages: { developerRole: 'system', names: 'none', reasoning: 'reasoning' },
    mediaUrls: 'refused',
    readError: readUpstreamError,
    cancellation: 'stops_always',
  }),
};

function buildOllamaRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(withoutVersion(baseUrl), '/api/embed'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOf(call),
    ...given('dimensions', call.dimensions),
  });
}

function readOllamaAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readVectors, ['prompt_eval_count']);
  return { vectors, ...usageOf(members), upstreamId: null };
}

function usageOf(members: Readonly<Record<string, unknown>>): ReportedUsage {
  const tokens = tokenCount(members['prompt_eval_count']);
  return { promptTokens: tokens, totalTokens: tokens };
}
