// Azure OpenAI. The upstream model is the name of a deployment. AZURE_BASE_URL is the address of the resource, with or
// without /openai/v1; with ?api-version=... it selects the older addresses, one for each deployment.
import { textsOrTokens } from './shared/call-input.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPENAI_CHAT } from './shared/chat/openai-chat.js';
import { defineResponsesWire, OPENAI_RESPONSES } from './shared/responses/define-responses-wire.js';

// A Microsoft Entra token is a JWT; the resource's own keys never look like one.
const ENTRA_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

export const azure: HttpProvider = {
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
  chat: defineChatWire({
    ...OPENAI_CHAT,
    url: ({ baseUrl }, { upstreamModel }) => addressOf(baseUrl, upstreamModel, '/chat/completions'),
    headers: headersOf,
    // The older addresses know the new name for reasoning models only.
    outputLimit: ({ isReasoning }, { baseUrl }) =>
      apiVersionOf(baseUrl) === null || isReasoning ? 'max_completion_tokens' : 'max_tokens',
    streamUsage: ({ baseUrl }) => (takesStreamOptions(apiVersionOf(baseUrl)) ? 'ask' : 'none'),
  }),
  otherWires: [
    defineResponsesWire({
      ...OPENAI_RESPONSES,
      // The older addresses have no such operation for each deployment.
      url: ({ baseUrl }) => versionedAddress(baseUrl, '/responses'),
      headers: headersOf,
    }),
  ],
};

function buildAzureRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(addressOf(baseUrl, call.upstreamModel, '/embeddings'), headersOf(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOrTokens(call),
    encoding_format: call.encodingFormat,
    ...given('dimensions', call.dimensions),
    ...given('user', call.user),
  });
}

function headersOf(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined || ENTRA_TOKEN.test(apiKey) ? bearer(apiKey) : { 'api-key': apiKey };
}

function addressOf(baseUrl: string, deployment: string, path: string): string {
  if (apiVersionOf(baseUrl) === null) return versionedAddress(baseUrl, path);
  const url = new URL(baseUrl);
  url.pathname = `${resourceIn(url)}/openai/deployments/${encodeURIComponent(deployment)}${path}`;
  return url.toString();
}

function versionedAddress(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${resourceIn(url)}/openai/v1${path}`;
  url.searchParams.delete('api-version');
  return url.toString();
}

function resourceIn({ pathname }: URL): string {
  return pathname.replace(/(\/openai(\/v1)?)?\/*$/, '');
}

function apiVersionOf(baseUrl: string): string | null {
  return new URL(baseUrl).searchParams.get('api-version');
}

/** Versions are days, with `-preview` behind those of previews. Earlier ones refuse `stream_options` with 400. */
function takesStreamOptions(version: string | null): boolean {
  if (version === null) return true;
  return version >= (version.endsWith('-preview') ? '2024-09-01-preview' : '2024-10-21');
}
