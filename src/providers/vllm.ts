// vLLM, at VLLM_BASE_URL with its /v1. Vision models take one conversation per call instead of a list of inputs.
import { operationUrl } from './shared/address.js';
import { partsOfInput, rejectOtherForms, textsOrTokens, unsupportedPart } from './shared/call-input.js';
import { UnsupportedRequest } from './shared/provider.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { VLLM_MEMBERS } from './shared/embedding-members.js';
import { SERVER_MODELS } from './shared/model-list.js';
import { SERVER_RERANK } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPEN_MESSAGES } from './shared/chat/member-rules.js';
import { serverMembers } from './shared/chat/server-members.js';
import { defineResponsesWire } from './shared/responses/define-responses-wire.js';

/** Others read files and addresses, or change the server for other calls. */
const RESPONSES_MEMBERS = new Set(
  (
    'model input instructions max_output_tokens tools tool_choice parallel_tool_calls text reasoning include stream store ' +
    'temperature top_p top_k metadata user'
  ).split(' '),
);
// Forms of base64.
const FORMS = { embed_dtype: ['float32'], endianness: ['native', 'little'] };

export const vllm: HttpProvider = {
  transport: 'http',
  slug: 'vllm',
  name: 'vLLM',
  defaultBaseUrl: null,
  needsApiKey: false,
  billing: {
    free: ['truncate_prompt_tokens', 'add_special_tokens', 'normalize', 'priority', ...Object.keys(FORMS)],
    // Each member replaces or multiplies the text of an input.
    repriced: { messages: [], chat_template: [], chat_template_kwargs: [], mm_processor_kwargs: [] },
  },
  members: VLLM_MEMBERS,
  // A conversation is one input.
  maxInputsByForm: { multimodal: 1 },
  truncatesLongInputs: ({ truncate_prompt_tokens: limit }) => limit !== undefined,
  buildRequest: buildVllmRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  chat: defineChatWire({
    // Old servers know `max_tokens` only; the catalogue can name it for an endpoint.
    outputLimit: () => 'max_completion_tokens',
    // Refused with 400 outside of a stream, as everywhere.
    streamUsage: () => 'ask',
    members: serverMembers('vllm'),
    // Servers before the end of 2025 know `reasoning_content`; the catalogue can name it for an endpoint.
    messages: OPEN_MESSAGES,
    // The server would fetch an address from inside of the operator's network.
    mediaUrls: 'listed',
    readError: readUpstreamError,
    contextHoldsOutput: true,
    // The server aborts the request.
    cancellation: 'stops_always',
  }),
  otherWires: [
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server/
    defineResponsesWire({
      cancellation: 'stops_always',
      mediaUrls: 'listed',
      customTools: false,
      padsStreams: false,
      members: RESPONSES_MEMBERS,
    }),
  ],
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server/
  rerank: SERVER_RERANK,
  models: SERVER_MODELS,
};

function buildVllmRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  rejectOtherForms(FORMS, call);
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    ...(call.input.form === 'multimodal' ? { messages: messagesOf(call) } : { input: textsOrTokens(call) }),
    // Null and the empty string are refused.
    encoding_format: call.encodingFormat,
    // Models that do not declare shortening refuse it, even for their own width.
    ...given('dimensions', call.dimensions),
    ...given('user', call.user),
  });
}

function messagesOf(call: ProviderCall): readonly unknown[] {
  const [parts, ...others] = partsOfInput(call);
  if (!parts || others.length > 0) {
    throw new UnsupportedRequest('input', 'vLLM takes one multimodal input a call');
  }
  const content = parts.map((part) => {
    if (part.modality === 'text') return { type: 'text', text: part.text };
    if (part.modality === 'image') return { type: 'image_url', image_url: { url: part.url } };
    throw unsupportedPart(part, call.upstreamModel);
  });
  return [{ role: 'user', content }];
}
