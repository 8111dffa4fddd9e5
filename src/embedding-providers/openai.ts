// OpenAI, and anything that OPENAI_BASE_URL says speaks like it. It has no input type: the member is not sent.
import type { HttpEmbeddingProvider } from './embedding-provider.js';
import { buildOpenAiRequest, readOpenAiAnswer, readOpenAiError } from './openai-wire.js';

export const openai: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'openai',
  name: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com/v1',
  needsApiKey: true,
  buildRequest: buildOpenAiRequest,
  readAnswer: readOpenAiAnswer,
  readError: readOpenAiError,
};
