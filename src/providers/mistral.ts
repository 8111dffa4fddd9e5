// Mistral. It has no input type and no user; only codestral-embed takes a width.
import { operationUrl } from './shared/address.js';
import { extraWithout, rejectOtherForms, textsOf } from './shared/call-input.js';
import type {
  HttpEmbeddingProvider,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
} from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';

const FORMS = { output_dtype: ['float'] };

export const mistral: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'mistral',
  name: 'Mistral',
  defaultBaseUrl: 'https://api.mistral.ai/v1',
  needsApiKey: true,
  billing: { free: ['metadata'] },
  buildRequest: buildMistralRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
};

function buildMistralRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  rejectOtherForms(FORMS, call);
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...extraWithout('output_dimension', call),
    model: call.upstreamModel,
    input: textsOf(call),
    encoding_format: call.encodingFormat,
    ...given('output_dimension', call.dimensions),
  });
}
