// Voyage AI, texts only: its multimodal models have another endpoint. It has no word for float, and its usage has the
// total only.
import { operationUrl } from './shared/address.js';
import { extraWithout, rejectOtherForms, textsOf } from './shared/call-input.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { knownInputTypeIn } from './shared/input-types.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { defineRerankWire, documentTexts, resultsIn } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { asObject, bearer, given, postJson } from './shared/wire.js';

const INPUT_TYPES = { search_query: 'query', search_document: 'document' };
const FORMS = { output_dtype: ['float'] };

export const voyage: HttpProvider = {
  transport: 'http',
  slug: 'voyage',
  name: 'Voyage AI',
  aliases: ['voyageai', 'voyageai-by-mongodb'],
  defaultBaseUrl: 'https://api.voyageai.com/v1',
  needsApiKey: true,
  // Voyage prepends a sentence to an input with a type.
  billing: { free: ['truncation'], promptBytes: 128 },
  truncatesLongInputs: ({ truncation }) => truncation !== false,
  buildRequest: buildVoyageRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  // https://docs.voyageai.com/reference/reranker-api
  rerank: defineRerankWire({
    bills: ['token'],
    billing: { free: ['truncation', 'return_documents'] },
    buildRequest: (call, { baseUrl, apiKey }) =>
      postJson(operationUrl(baseUrl, '/rerank'), bearer(apiKey), {
        truncation: true,
        ...call.extra,
        model: call.upstreamModel,
        query: call.query,
        documents: documentTexts(call),
        top_k: call.topN,
      }),
    results: (body) => resultsIn(asObject(body)['data'], 'relevance_score'),
  }),
};

function buildVoyageRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  rejectOtherForms(FORMS, call);
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...extraWithout('output_dimension', call),
    model: call.upstreamModel,
    input: textsOf(call),
    ...given('encoding_format', call.encodingFormat === 'base64' ? 'base64' : undefined),
    ...given('output_dimension', call.dimensions),
    ...given('input_type', knownInputTypeIn(INPUT_TYPES, [], call)),
  });
}
