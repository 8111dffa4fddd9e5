// DeepInfra, at its OpenAI-compatible address. It has no input type; only the Qwen3 models take a width.
import { operationUrl } from './shared/address.js';
import { textsOf } from './shared/call-input.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPEN_MESSAGES } from './shared/chat/member-rules.js';

export const deepinfra: HttpProvider = {
  transport: 'http',
  slug: 'deepinfra',
  name: 'DeepInfra',
  defaultBaseUrl: 'https://api.deepinfra.com/v1/openai',
  needsApiKey: true,
  // The tier `priority` costs a multiple of the listed price.
  billing: { free: ['normalize'], repriced: { service_tier: ['default'] } },
  buildRequest: buildDeepInfraRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  chat: defineChatWire({
    outputLimit: () => 'max_tokens',
    streamUsage: () => 'ask',
    members: { service_tier: 'listed' },
    messages: { ...OPEN_MESSAGES, reasoning: 'reasoning_content' },
    mediaUrls: 'listed',
    readError: readUpstreamError,
    cancellation: 'stops',
  }),
};

function buildDeepInfraRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOf(call),
    // Null is refused.
    encoding_format: call.encodingFormat,
    ...given('dimensions', call.dimensions),
  });
}
