// Together. Its embeddings take a model and texts. It refuses a width, an input type and a user, and answers may lack
// usage.
import { operationUrl } from './shared/address.js';
import { textsOf } from './shared/call-input.js';
import { UnsupportedRequest } from './shared/provider.js';
import type {
  HttpEmbeddingProvider,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
} from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, postJson } from './shared/wire.js';

export const together: HttpEmbeddingProvider = {
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
