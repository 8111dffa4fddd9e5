// Any other server with OpenAI's wire format, at OPENAI_COMPATIBLE_BASE_URL.
import { operationUrl } from './shared/address.js';
import { textsOrTokens } from './shared/call-input.js';
import { UNKNOWN_PROMPT_BYTES } from './shared/provider.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { listedInputTypeIn } from './shared/input-types.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { COMPATIBLE_MEMBERS } from './shared/embedding-members.js';
import { SERVER_MODELS } from './shared/model-list.js';
import { SERVER_RERANK } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPEN_MESSAGES } from './shared/chat/member-rules.js';
import { serverMembers } from './shared/chat/server-members.js';

export const openaiCompatible: HttpProvider = {
  transport: 'http',
  slug: 'openai-compatible',
  name: 'OpenAI-compatible',
  defaultBaseUrl: null,
  needsApiKey: false,
  billing: {
    repriced: { service_tier: ['default'], messages: [] },
    promptBytes: UNKNOWN_PROMPT_BYTES,
    promptMembers: ['prompt_name', 'task'],
  },
  members: COMPATIBLE_MEMBERS,
  buildRequest: buildCompatibleRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  chat: defineChatWire({
    // The catalogue can name the other forms for an endpoint.
    outputLimit: () => 'max_tokens',
    streamUsage: () => 'ask',
    members: serverMembers('openai-compatible'),
    // Servers in front of Gemini need the signature of a thought back with its call.
    messages: {
      ...OPEN_MESSAGES,
      // DeepSeek, SGLang, llama.cpp and most others; the catalogue can name the other for an endpoint.
      reasoning: 'reasoning_content',
      members: ['extra_content'],
      toolCallMembers: ['extra_content'],
    },
    mediaUrls: 'listed',
    readError: readUpstreamError,
    cancellation: 'unknown',
  }),
  // LocalAI, Infinity, llama.cpp and others read the same form.
  rerank: SERVER_RERANK,
  models: SERVER_MODELS,
};

function buildCompatibleRequest(
  call: ProviderCall,
  { baseUrl, apiKey }: ProviderConnection,
): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOrTokens(call),
    // Compatible servers may refuse base64 and null; all of them accept float.
    encoding_format: 'float',
    ...given('dimensions', call.dimensions),
    ...given('user', call.user),
    // The input types of a compatible server are unknown, and most servers have none.
    ...given('input_type', listedInputTypeIn(call)),
  });
}
