// Hugging Face Text Embeddings Inference, at TEI_BASE_URL. A call uses the route that supports its members.
// /v1/embeddings has base64 and usage, but silently ignores prompts, truncation and normalisation. /embed supports
// those, returns floats only, and reports its usage in a header.
import type { DiscoveredKind } from '../domain/providers/provider-model.js';
import { operationUrl, withoutVersion } from './shared/address.js';
import { textsOrTokens } from './shared/call-input.js';
import { BrokenAnswer, UNKNOWN_PROMPT_BYTES } from './shared/provider.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  ReportedUsage,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { listedInputTypeIn } from './shared/input-types.js';
import { JsonScanner } from '../json/json-scanner.js';
import { buildOpenAiRequest, readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { TEI_MEMBERS, TEI_RERANK_MEMBERS } from './shared/embedding-members.js';
import { defineRerankWire, documentTexts, resultsIn } from './shared/rerank-wire.js';
import { defineModelList } from './shared/model-list.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { asObject, bearer, given, postJson, readVectors, tokenCountHeader } from './shared/wire.js';

export const tei: HttpProvider = {
  transport: 'http',
  slug: 'tei',
  name: 'TEI',
  defaultBaseUrl: null,
  needsApiKey: false,
  servesOneModel: true,
  // A prompt is a text of the model.
  billing: {
    free: ['truncate', 'truncation_direction', 'normalize'],
    promptBytes: UNKNOWN_PROMPT_BYTES,
    promptMembers: ['prompt_name'],
  },
  members: TEI_MEMBERS,
  truncatesLongInputs: ({ truncate }) => truncate === true,
  buildRequest: buildTeiRequest,
  readAnswer: readTeiAnswer,
  readUsage: readTeiUsage,
  readError: readTeiError,
  // One model.
  models: defineModelList({
    url: (baseUrl) => operationUrl(withoutVersion(baseUrl), '/info'),
    items: (body) => [body],
    name: ({ model_id: id }) => id,
    facts: ({ max_input_length: contextLength, model_type: type }) => ({ contextLength, kind: kindOf(type) }),
  }),
  // https://huggingface.github.io/text-embeddings-inference/
  rerank: defineRerankWire({
    bills: ['token', 'search_unit'],
    members: TEI_RERANK_MEMBERS,
    buildRequest: (call, { baseUrl, apiKey }) =>
      postJson(operationUrl(withoutVersion(baseUrl), '/rerank'), bearer(apiKey), {
        raw_scores: false,
        truncate: true,
        ...call.extra,
        query: call.query,
        texts: documentTexts(call),
        return_text: false,
      }),
    results: (body) => resultsIn(body, 'score'),
    usage: (_body, response) => usageInHeader(response),
    id: () => null,
    readError: readTeiError,
  }),
};

function buildTeiRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  const root = withoutVersion(baseUrl);
  // A prompt is a name that the operator's model defines. TEI refuses unknown names, so only listed ones are sent.
  const promptName = listedInputTypeIn(call);
  const needsEmbed = promptName !== undefined || TEI_MEMBERS.sent.some((name) => name in call.extra);
  if (!needsEmbed)
    return buildOpenAiRequest(call, {
      baseUrl: operationUrl(root, '/v1'),
      ...(apiKey === undefined ? {} : { apiKey }),
    });
  return postJson(operationUrl(root, '/embed'), bearer(apiKey), {
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
  return { vectors, ...usageInHeader(response), upstreamId: null };
}

function readTeiUsage(response: UpstreamResponse): ReportedUsage {
  return new JsonScanner(response.body, BrokenAnswer).isArray()
    ? usageInHeader(response)
    : readOpenAiUsage(response);
}

function usageInHeader({ headers }: UpstreamResponse): ReportedUsage {
  const tokens = tokenCountHeader(headers['x-compute-tokens']);
  return { promptTokens: tokens, totalTokens: tokens };
}

function kindOf(type: unknown): DiscoveredKind {
  return 'reranker' in asObject(type)
    ? 'rerank'
    : 'embeddings' in asObject(type) || 'embedding' in asObject(type)
      ? 'embeddings'
      : 'other';
}

/** A kind of error in place of a code. */
function readTeiError(response: UpstreamResponse): ProviderError {
  const error = readUpstreamError(response);
  return { ...error, code: error.type ?? error.code };
}
