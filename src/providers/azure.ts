// Azure OpenAI. The upstream model is the name of a deployment. AZURE_BASE_URL is the address of the resource, with or
// without /openai/v1; with ?api-version=... it selects the older addresses, one for each deployment.
import { textsOrTokens } from './shared/call-input.js';
import type {
  HttpEmbeddingProvider,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
} from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';

// A Microsoft Entra token is a JWT; the resource's own keys never look like one.
const ENTRA_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

export const azure: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'azure',
  name: 'Azure OpenAI',
  defaultBaseUrl: null,
  needsApiKey: true,
  billing: { repriced: { service_tier: ['default'] } },
  buildRequest: buildAzureRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
};

function buildAzureRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  const headers = apiKey === undefined || ENTRA_TOKEN.test(apiKey) ? bearer(apiKey) : { 'api-key': apiKey };
  return postJson(addressOf(baseUrl, call.upstreamModel), headers, {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOrTokens(call),
    encoding_format: call.encodingFormat,
    ...given('dimensions', call.dimensions),
    ...given('user', call.user),
  });
}

function addressOf(baseUrl: string, deployment: string): string {
  const url = new URL(baseUrl);
  const resource = url.pathname.replace(/(\/openai(\/v1)?)?\/*$/, '');
  url.pathname = url.searchParams.has('api-version')
    ? `${resource}/openai/deployments/${encodeURIComponent(deployment)}/embeddings`
    : `${resource}/openai/v1/embeddings`;
  return url.toString();
}
