// Whatever else speaks OpenAI's wire, at OPENAI_COMPATIBLE_BASE_URL.
import { textsOrTokens } from './shared/call-input.js';
import { UNKNOWN_PROMPT_BYTES } from './shared/provider.js';
import type {
  HttpEmbeddingProvider,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
} from './shared/provider.js';
import { listedInputTypeIn } from './shared/input-types.js';
import { readOpenAiAnswer } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';

export const openaiCompatible: HttpEmbeddingProvider = {
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
  buildRequest: buildCompatibleRequest,
  readAnswer: readOpenAiAnswer,
  readError: readUpstreamError,
};

function buildCompatibleRequest(
  call: ProviderCall,
  { baseUrl, apiKey }: ProviderConnection,
): UpstreamRequest {
  return postJson(`${baseUrl}/embeddings`, bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOrTokens(call),
    // Look-alikes may refuse base64, and refuse null; every one of them knows float.
    encoding_format: 'float',
    ...given('dimensions', call.dimensions),
    ...given('user', call.user),
    // Which types look-alikes tell apart is not known here, and most have none.
    ...given('input_type', listedInputTypeIn(call)),
  });
}
