// Hugging Face Text Embeddings Inference, at TEI_BASE_URL. It has two routes, and a call takes the one that can do what
// it asks for. /v1/embeddings gives base64 and usage, but drops silently what it does not know: prompts, truncation,
// normalisation. /embed knows those, gives floats only, and tells its usage in a header.
import { textsOrTokens } from './shared/call-input.js';
import { BrokenAnswer, UNKNOWN_PROMPT_BYTES } from './shared/provider.js';
import type {
  HttpEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { listedInputTypeIn } from './shared/input-types.js';
import { JsonScanner } from '../vectors/json-scanner.js';
import { buildOpenAiRequest, readOpenAiAnswer } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, parseErrorBody, postJson, readVectors, tokenCountHeader } from './shared/wire.js';

const MEMBERS_OF_EMBED = ['prompt_name', 'truncate', 'truncation_direction', 'normalize'];

export const tei: HttpEmbeddingProvider = {
  transport: 'http',
  slug: 'tei',
  name: 'TEI',
  defaultBaseUrl: null,
  needsApiKey: false,
  servesOneModel: true,
  // A prompt is a text of the model's own.
  billing: {
    free: ['truncate', 'truncation_direction', 'normalize'],
    promptBytes: UNKNOWN_PROMPT_BYTES,
    promptMembers: ['prompt_name'],
  },
  buildRequest: buildTeiRequest,
  readAnswer: readTeiAnswer,
  readError: readTeiError,
};

function buildTeiRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  const root = baseUrl.replace(/\/v1$/, '');
  // A prompt is a name that the operator's model defines; an unknown one is refused, so that only names that are meant
  // for this model are sent.
  const promptName = listedInputTypeIn(call);
  const needsEmbed = promptName !== undefined || MEMBERS_OF_EMBED.some((name) => name in call.extra);
  if (!needsEmbed)
    return buildOpenAiRequest(call, { baseUrl: `${root}/v1`, ...(apiKey === undefined ? {} : { apiKey }) });
  return postJson(`${root}/embed`, bearer(apiKey), {
    ...call.extra,
    inputs: textsOrTokens(call),
    ...given('dimensions', call.dimensions),
    ...given('prompt_name', promptName),
  });
}

function readTeiAnswer(response: UpstreamResponse, call: ProviderCall): ProviderAnswer {
  const cursor = new JsonScanner(response.body, BrokenAnswer);
  if (!cursor.isArray()) return readOpenAiAnswer(response);
  const vectors = readVectors(cursor);
  cursor.end();
  if (vectors.length === 0 && call.input.items.length > 0)
    throw new BrokenAnswer('the answer has no vectors');
  const tokens = tokenCountHeader(response.headers['x-compute-tokens']);
  return { vectors, promptTokens: tokens, totalTokens: tokens, upstreamId: null };
}

function readTeiError(response: UpstreamResponse): ProviderError {
  const error = readUpstreamError(response);
  const { error_type: errorType } = parseErrorBody(response);
  return {
    ...error,
    code: typeof errorType === 'string' ? errorType : error.code,
    // The backend behind the server failed: nothing is wrong with the request.
    ...(response.status === 424 ? { kind: 'failed' } : {}),
  };
}
