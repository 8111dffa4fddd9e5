// Nomic Atlas.
import { operationUrl } from './shared/address.js';
import { extraWithout, textsOf } from './shared/call-input.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { knownInputTypeIn } from './shared/input-types.js';
import { readOpenAiUsage, usageOf } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { bearer, given, postJson, readAnswerObject, readVectors } from './shared/wire.js';

const TASK_TYPES = {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  // Nomic recommends documents for both sides of a comparison.
  semantic_similarity: 'search_document',
};

export const nomic: HttpProvider = {
  transport: 'http',
  slug: 'nomic',
  name: 'Nomic',
  defaultBaseUrl: 'https://api-atlas.nomic.ai/v1',
  needsApiKey: true,
  // Nomic prepends the task to each input, and bills all of a long text that it embeds in pieces.
  billing: { repriced: { long_text_mode: ['truncate'] }, promptBytes: 32, hasPrompt: 'always' },
  truncatesLongInputs: () => true,
  buildRequest: buildNomicRequest,
  readAnswer: readNomicAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
};

function buildNomicRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/embedding/text'), bearer(apiKey), {
    ...extraWithout('dimensionality', call),
    model: call.upstreamModel,
    texts: textsOf(call),
    ...given('dimensionality', call.dimensions),
    ...given('task_type', knownInputTypeIn(TASK_TYPES, [], call)),
  });
}

function readNomicAnswer(response: UpstreamResponse): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readVectors, ['usage']);
  return { vectors, ...usageOf(members['usage']), upstreamId: null };
}
