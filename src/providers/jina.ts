// Jina AI. Its input types are called tasks and differ between model generations. Items of v4 and of the CLIP models
// may be images.
import { operationUrl } from './shared/address.js';
import { inlineData, partsOfInput, rejectOtherForms, textsOf, unsupportedPart } from './shared/call-input.js';
import type { InputPart } from './shared/call-input.js';
import { UnsupportedRequest } from './shared/provider.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { inputTypeIn } from './shared/input-types.js';
import type { InputTypeNames } from './shared/input-types.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { defineRerankWire, jinaForm, resultsOfJina } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson } from './shared/wire.js';

const FORMS = { return_multivector: [false], embedding_type: ['float', 'base64'] };
const RETRIEVAL_TASKS = { search_query: 'retrieval.query', search_document: 'retrieval.passage' };
const MATCHING_TASKS = { ...RETRIEVAL_TASKS, semantic_similarity: 'text-matching' };
const TASKS_OF_V3 = { ...MATCHING_TASKS, classification: 'classification', clustering: 'separation' };
const TASKS_OF_V5 = { ...TASKS_OF_V3, clustering: 'clustering' };

export const jina: HttpProvider = {
  transport: 'http',
  slug: 'jina',
  name: 'Jina AI',
  defaultBaseUrl: 'https://api.jina.ai/v1',
  needsApiKey: true,
  inputTyingMember: 'late_chunking',
  // Models from v3 on prepend an instruction to an input with a task.
  billing: {
    free: ['late_chunking', 'truncate', 'normalized', 'return_multivector'],
    promptBytes: 128,
    promptMembers: ['task'],
  },
  truncatesLongInputs: ({ truncate }) => truncate === true,
  buildRequest: buildJinaRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  // https://api.jina.ai/redoc
  rerank: defineRerankWire({
    bills: ['token'],
    billing: { free: ['truncate', 'truncation'] },
    buildRequest: (call, { baseUrl, apiKey }) =>
      postJson(operationUrl(baseUrl, '/rerank'), bearer(apiKey), jinaForm(call)),
    results: resultsOfJina,
  }),
};

function buildJinaRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  rejectOtherForms(FORMS, call);
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    // Unit length matches all other providers, and truncation needs it. A caller may override it.
    normalized: true,
    ...call.extra,
    model: call.upstreamModel,
    input: takesImages(call) ? itemsOf(call) : textsOf(call),
    embedding_type: call.encodingFormat,
    ...given('dimensions', call.dimensions),
    ...given('task', inputTypeIn(tasksOf(call.upstreamModel), call)),
  });
}

/** v2 has no tasks, the CLIP models have retrieval only, and v4 has neither classification nor clustering. */
function tasksOf(model: string): InputTypeNames {
  if (/clip/.test(model)) return RETRIEVAL_TASKS;
  if (/-v[12]\b/.test(model)) return {};
  if (/-v3\b/.test(model)) return TASKS_OF_V3;
  return /-v4\b/.test(model) ? MATCHING_TASKS : TASKS_OF_V5;
}

/** Text models accept no images: v1 to v3 but for the CLIP models, and names with text or code. */
function takesImages({ input, upstreamModel }: ProviderCall): boolean {
  if (input.form !== 'multimodal') return false;
  return /clip/.test(upstreamModel) || !/-v[123]\b|-text\b|-code\b/.test(upstreamModel);
}

function itemsOf(call: ProviderCall): readonly Record<string, string>[] {
  return partsOfInput(call).map((parts, index) => {
    const [part, ...others] = parts;
    if (!part || others.length > 0) {
      throw new UnsupportedRequest(
        { index, path: '.content' },
        `${call.upstreamModel} takes one part for each input`,
      );
    }
    return itemOf(part, call.upstreamModel);
  });
}

function itemOf(part: InputPart, upstreamModel: string): Record<string, string> {
  if (part.modality === 'text') return { text: part.text };
  if (part.modality !== 'image') throw unsupportedPart(part, upstreamModel);
  return { image: part.url.startsWith('data:') ? inlineData(part).base64 : part.url };
}
