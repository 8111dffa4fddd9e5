// OpenAI, and any server at OPENAI_BASE_URL with its wire format. It has no input type: the member is not sent.
import type { HttpEmbeddingProvider } from './shared/provider.js';
import { buildOpenAiRequest, readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';

export const openai: HttpEmbeddingProvider = {
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
};
