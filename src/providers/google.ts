// Google's Gemini API. Every input is one content of a batch, because all parts of a content become one vector.
import { operationUrl } from './shared/address.js';
import type { DiscoveredKind } from '../domain/providers/provider-model.js';
import type { Modality } from '../domain/embeddings/modality.js';
import { truncateAndNormalise, vectorValues } from '../vectors/vectors.js';
import type { Vector } from '../vectors/vectors.js';
import { inlineData, partsOfInput, rejectWidth, unsupportedPart } from './shared/call-input.js';
import type { InputPart } from './shared/call-input.js';
import { BrokenAnswer } from './shared/provider.js';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
  UpstreamRequest,
  UpstreamResponse,
} from './shared/provider.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import type { MemberEdit } from './shared/chat/chat-traits.js';
import { readReportedChatUsage } from '../domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../domain/chat/chat-usage.js';
import { NO_CACHE_SETTINGS, NO_OPEN_SAMPLING } from './shared/chat/member-rules.js';
import { defineGeminiWire } from './shared/gemini/define-gemini-wire.js';
import { defineModelList } from './shared/model-list.js';
import { readGoogleError } from './shared/gemini/google-errors.js';
import { THOUGHT_SIGNATURES } from './shared/gemini/thought-signatures.js';
import { knownInputTypeIn } from './shared/input-types.js';
import type { JsonScanner } from '../json/json-scanner.js';
import {
  asObject,
  eachVector,
  given,
  partialTokenCount,
  postJson,
  readAnswerObject,
  readTopMembers,
  tokenCount,
} from './shared/wire.js';

const TASK_TYPES = {
  search_query: 'RETRIEVAL_QUERY',
  search_document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  semantic_similarity: 'SEMANTIC_SIMILARITY',
};
/** gemini-embedding-2 ignores `taskType`; its documentation specifies these prefixes of the text. */
const PREFIXES: Readonly<Record<string, string>> = {
  RETRIEVAL_QUERY: 'task: search result | query: ',
  RETRIEVAL_DOCUMENT: 'title: none | text: ',
  CLASSIFICATION: 'task: classification | query: ',
  CLUSTERING: 'task: clustering | query: ',
  SEMANTIC_SIMILARITY: 'task: sentence similarity | query: ',
  QUESTION_ANSWERING: 'task: question answering | query: ',
  FACT_VERIFICATION: 'task: fact checking | query: ',
  CODE_RETRIEVAL_QUERY: 'task: code retrieval | query: ',
};
const OTHER_TASK_TYPES = ['QUESTION_ANSWERING', 'FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY'];
// A map: an upstream may send any name, such as `constructor`.
const MODALITY_NAMES: ReadonlyMap<unknown, Modality> = new Map([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
  ['VIDEO', 'video'],
  ['DOCUMENT', 'file'],
]);
const EMBEDDING = { name: 'values', whenMissing: 'an embedding has no values' };

export const google: HttpProvider = {
  transport: 'http',
  slug: 'google',
  name: 'Google',
  aliases: ['google-ai-studio'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  needsApiKey: true,
  // `title` adds text to each input. Both extractions create tokens of a modality that the input does not show.
  billing: {
    free: ['autoTruncate', 'auto_truncate'],
    repriced: {
      documentOcr: [false],
      document_ocr: [false],
      audioTrackExtraction: [false],
      audio_track_extraction: [false],
    },
    promptBytes: Math.max(...Object.values(PREFIXES).map(({ length }) => length)),
    promptMembers: ['taskType', 'task_type'],
  },
  truncatesLongInputs: ({ autoTruncate, auto_truncate: snakeCase }) => (autoTruncate ?? snakeCase) !== false,
  buildRequest: buildGoogleRequest,
  readAnswer: readGoogleAnswer,
  readUsage: (response) => usageOf(readTopMembers(response, ['usageMetadata'])['usageMetadata']),
  readError: readGoogleError,
  // https://ai.google.dev/api/models
  models: defineModelList({
    url: (baseUrl) => operationUrl(baseUrl, '/models'),
    headers: keyHeader,
    query: { pageSize: '1000' },
    items: (body) => asObject(body)['models'],
    name: ({ name }) => (typeof name === 'string' ? name.replace(/^models\//, '') : name),
    facts: ({ displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods }) => ({
      kind: kindOf(methods),
      displayName,
      contextLength: inputTokenLimit,
      maxOutputTokens: outputTokenLimit,
    }),
    next: ({ nextPageToken: pageToken }) => (pageToken ? { pageToken } : null),
  }),
  chat: defineChatWire({
    url: ({ baseUrl }) => operationUrl(baseUrl, '/openai/chat/completions'),
    outputLimit: () => 'max_completion_tokens',
    // Usage comes in every chunk and is cumulative; to ask for it is accepted.
    streamUsage: () => 'ask',
    members: {
      ...NO_OPEN_SAMPLING,
      ...NO_CACHE_SETTINGS,
      seed: 'drop',
      parallel_tool_calls: 'drop',
      logit_bias: 'drop',
      frequency_penalty: 'drop',
      presence_penalty: 'drop',
      verbosity: 'drop',
      prediction: 'drop',
      user: 'drop',
      extra_body: onlyThinkingConfig,
    },
    dropsStrict: true,
    lacks: ['n'],
    messages: {
      developerRole: 'system',
      names: 'none',
      reasoning: null,
      // The signature of a thought must come back with its call.
      members: ['extra_content'],
      toolCallMembers: ['extra_content'],
    },
    mediaUrls: 'listed',
    callSignatures: THOUGHT_SIGNATURES,
    readUsage: readGoogleChatUsage,
    readError: readGoogleError,
    cancellation: 'runs_on',
  }),
  otherWires: [
    defineGeminiWire({
      url: ({ baseUrl }, model, operation) => operationUrl(baseUrl, `/models/${model}:${operation}`),
      headers: ({ apiKey }) => keyHeader(apiKey),
      countsRequests: true,
    }),
  ],
};

function buildGoogleRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  const model = `models/${call.upstreamModel}`;
  const taskType = knownInputTypeIn(TASK_TYPES, OTHER_TASK_TYPES, call);
  const wantsPrefix = isMultimodal(call.upstreamModel);
  rejectWidths(call);
  const settings = {
    ...call.extra,
    model,
    ...given('outputDimensionality', call.dimensions),
    ...given('taskType', wantsPrefix ? undefined : taskType),
  };
  // Callers compose the texts of multimodal items themselves; only a plain text gets a prefix.
  const prefix = (wantsPrefix && call.input.form === 'texts' && taskType && PREFIXES[taskType]) || '';
  const requests = partsOfInput(call).map((parts) =>
    Object.assign({}, settings, {
      content: { parts: parts.map((part) => toGooglePart(part, prefix, call.upstreamModel)) },
    }),
  );
  return postJson(operationUrl(baseUrl, `/${model}:batchEmbedContents`), keyHeader(apiKey), { requests });
}

function keyHeader(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
}

function kindOf(methods: unknown): DiscoveredKind | undefined {
  if (!Array.isArray(methods)) return undefined;
  if (methods.includes('generateContent')) return 'chat';
  return methods.includes('embedContent') ? 'embeddings' : 'other';
}

/** Google also reads snake_case names, and a `config` that repeats the settings. */
function rejectWidths({ extra }: ProviderCall): void {
  const { embedContentConfig, embed_content_config: inSnakeCase } = extra;
  for (const alias of ['outputDimensionality', 'output_dimensionality'])
    for (const members of [extra, asObject(embedContentConfig), asObject(inSnakeCase)])
      rejectWidth(alias, members);
}

function isMultimodal(upstreamModel: string): boolean {
  return /^gemini-embedding-2\b/.test(upstreamModel);
}

function toGooglePart(part: InputPart, prefix: string, upstreamModel: string): unknown {
  if (part.modality === 'text') return { text: prefix + part.text };
  if (!isMultimodal(upstreamModel)) throw unsupportedPart(part, upstreamModel);
  const { mimeType, base64 } = inlineData(part);
  return { inlineData: { mimeType, data: base64 } };
}

function readGoogleAnswer(response: UpstreamResponse, call: ProviderCall): ProviderAnswer {
  const { vectors, members } = readAnswerObject(response, 'embeddings', readEmbeddings, ['usageMetadata']);
  return {
    // gemini-embedding-001 truncates vectors without normalising them; normalising those of gemini-embedding-2 again is
    // harmless.
    vectors: call.dimensions === undefined ? vectors : vectors.map(normalise),
    ...usageOf(members['usageMetadata']),
    upstreamId: null,
  };
}

function usageOf(metadata: unknown): ReportedUsage {
  const usage = asObject(metadata);
  const promptTokens = tokenCount(usage['promptTokenCount']);
  return {
    promptTokens,
    totalTokens: tokenCount(usage['totalTokenCount']) ?? promptTokens,
    ...tokensByModality(usage['promptTokenDetails'] ?? usage['promptTokensDetails']),
  };
}

function readEmbeddings(cursor: JsonScanner): Vector[] {
  const vectors: Vector[] = [];
  eachVector(cursor, EMBEDDING, (vector, index, nth) => {
    // Google's embeddings have no index and are in order. With another index a vector would belong to the wrong input.
    if (index !== nth) throw new BrokenAnswer('the embeddings are not in the order of the inputs');
    vectors.push(vector);
  });
  return vectors;
}

function normalise(vector: Vector): Vector {
  try {
    const values = vectorValues(vector);
    return { form: 'floats', values: truncateAndNormalise(values, values.length) };
  } catch (error) {
    throw new BrokenAnswer('an embedding is not one of finite numbers', { cause: error });
  }
}

function tokensByModality(details: unknown): Pick<ProviderAnswer, 'tokensByModality'> {
  if (!Array.isArray(details)) return {};
  const counts: Partial<Record<Modality, number>> = {};
  for (const detail of details) {
    const { modality, tokenCount: count } = asObject(detail);
    const name = MODALITY_NAMES.get(modality);
    const tokens = partialTokenCount(count);
    if (name && tokens !== null) counts[name] = (counts[name] ?? 0) + tokens;
  }
  return Object.keys(counts).length === 0 ? {} : { tokensByModality: counts };
}

/** Thinking is counted in the total only: the completion is the rest of the total, and its excess is reasoning. */
function readGoogleChatUsage(usage: unknown): ReportedChatUsage | null {
  const read = readReportedChatUsage(usage);
  if (read === null) return null;
  const { promptTokens, completionTokens, totalTokens } = read;
  if (promptTokens === null || totalTokens === null) return read;
  const thinking = totalTokens - promptTokens - (completionTokens ?? 0);
  if (!(thinking > 0)) return read;
  return {
    ...read,
    completionTokens: totalTokens - promptTokens,
    reasoningTokens: read.reasoningTokens ?? thinking,
  };
}

/** `extra_body.google.thinking_config`: its other settings name objects of the operator's account. */
function onlyThinkingConfig(value: Buffer): MemberEdit {
  const body = asObject(JSON.parse(value.toString()));
  const settings = asObject(body['google']);
  const { thinking_config: config } = settings;
  if (config === undefined) return 'dropped';
  const isWhole = Object.keys(body).length === 1 && Object.keys(settings).length === 1;
  const kept = JSON.stringify({ google: { thinking_config: config } });
  return isWhole ? { value: kept } : { value: kept, isWeaker: true };
}
