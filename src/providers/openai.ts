// OpenAI, and any server at OPENAI_BASE_URL with its wire format. It has no input type: the member is not sent.
import type { HttpProvider } from './shared/provider.js';
import { buildOpenAiRequest, readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { OPENAI_MODELS } from './shared/model-list.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPENAI_CHAT } from './shared/chat/openai-chat.js';
import { defineResponsesWire, OPENAI_RESPONSES } from './shared/responses/define-responses-wire.js';

export const openai: HttpProvider = {
  transport: 'http',
  slug: 'openai',
  name: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com/v1',
  needsApiKey: true,
  billing: { repriced: { service_tier: ['default'] } },
  buildRequest: buildOpenAiRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  models: OPENAI_MODELS,
  chat: defineChatWire({
    ...OPENAI_CHAT,
    // Reasoning models refuse `max_tokens`; this name works for all.
    outputLimit: () => 'max_completion_tokens',
    streamUsage: () => 'ask',
    // Padding against the analysis of packet sizes doubles the bytes of a stream.
    streamOptions: { include_obfuscation: false },
  }),
  otherWires: [defineResponsesWire({ ...OPENAI_RESPONSES, padsStreams: true })],
};
