// The Gemini API's batchEmbedContents, and embedContent for one input. gemini-embedding-001 reports no usage and does
// not scale what it cuts; gemini-embedding-2 does both, takes other modalities, and ignores taskType. Source: Google's
// SDK and documentation, Bifrost PR 7295 and mteb PR 4851 on GitHub.
import { defineProviderStub, findMemberProblem, isOneOf, isText, isWidth } from './provider-stub.js';
import type { ProviderStub, StubReply } from './provider-stub.js';
import { countTokens, cutVector, vectorOf } from './vectors.js';

const MAX_INPUTS = 100;
const WIDTH = 3072;
const MODELS = ['gemini-embedding-001', 'gemini-embedding-2'] as const;
const TASK_TYPES = [
  'RETRIEVAL_QUERY',
  'RETRIEVAL_DOCUMENT',
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
];
const MODALITY_OF_MIME: Readonly<Record<string, string>> = {
  image: 'IMAGE',
  audio: 'AUDIO',
  video: 'VIDEO',
  application: 'DOCUMENT',
};

interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
}
interface EmbedRequest {
  readonly model: string;
  readonly content: { readonly parts: readonly Part[] };
  readonly outputDimensionality?: number;
}

const reject = (code: number, status: string, message: string, details?: readonly unknown[]): StubReply => ({
  status: code,
  body: { error: { code, message, status, ...(details ? { details } : {}) } },
});

export const googleStub: ProviderStub = defineProviderStub({
  slug: 'google',
  apiKey: 'AIzaStubKey',
  models: MODELS,
  nativeWidth: WIDTH,
  maxInputs: MAX_INPUTS,
  basePath: '/v1beta',
  failures: {
    rateLimited: reject(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33s' },
    ]),
    overloaded: reject(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    broken: reject(500, 'INTERNAL', 'An internal error has occurred.'),
    invalid: reject(400, 'INVALID_ARGUMENT', 'Invalid value at requests[0].'),
  },
  answer(request) {
    const { pathname, searchParams } = new URL(request.path, 'http://stub');
    const [, model, operation] =
      /^\/v1beta\/models\/([^/:]+):(batchEmbedContents|embedContent)$/.exec(pathname) ?? [];
    if (request.method !== 'POST' || model === undefined) return { status: 404, body: '<!DOCTYPE html>' };
    if ((request.headers['x-goog-api-key'] ?? searchParams.get('key')) !== this.apiKey) {
      const message = 'API key not valid. Please pass a valid API key.';
      const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
      return reject(400, 'INVALID_ARGUMENT', message, [info]);
    }
    // The path names the model already: the body may leave it out, or leave out its prefix.
    const isSingle = operation === 'embedContent';
    const body = isSingle ? { requests: [{ ...request.body, model: `models/${model}` }] } : request.body;
    const found = findMemberProblem(body, {
      required: { requests: (value) => Array.isArray(value) && value.length > 0 },
      optional: {},
      unknown: 'refused',
    });
    if (found) {
      const message = `Invalid JSON payload received. Unknown name "${found.name}": Cannot find field.`;
      return reject(400, 'INVALID_ARGUMENT', message);
    }
    if (!isOneOf(...MODELS)(model))
      return reject(404, 'NOT_FOUND', `models/${model} is not found for API version v1beta`);
    const requests = body['requests'] as readonly EmbedRequest[];
    if (requests.length > MAX_INPUTS) {
      const message = `* BatchEmbedContentsRequest.requests: at most ${MAX_INPUTS} requests can be in one batch`;
      return reject(400, 'INVALID_ARGUMENT', message);
    }
    for (const [index, item] of requests.entries()) {
      const problem = findItemProblem(item, model);
      if (problem)
        return reject(400, 'INVALID_ARGUMENT', `Invalid value at 'requests[${index}]' (${problem})`);
    }
    const { embeddings, ...usage } = answerBatch(requests, model);
    return {
      status: 200,
      body: isSingle ? { embedding: embeddings[0], ...usage } : { embeddings, ...usage },
    };
  },
});

function findItemProblem(item: EmbedRequest, model: string): string | null {
  const isPart = ({ text, inlineData }: Part): boolean =>
    text === undefined
      ? model === 'gemini-embedding-2' && isText(inlineData?.mimeType) && isText(inlineData?.data)
      : isText(text);
  const found = findMemberProblem(item as unknown as Record<string, unknown>, {
    required: {
      model: isOneOf(`models/${model}`),
      content: (content) => {
        const { parts } = content as { parts?: readonly Part[] };
        return Array.isArray(parts) && parts.length > 0 && parts.every(isPart);
      },
    },
    optional: {
      taskType: isOneOf(...TASK_TYPES),
      title: isText,
      outputDimensionality: isWidth(128, WIDTH),
    },
    unknown: 'refused',
  });
  return found && `${found.problem}: ${found.name}`;
}

function answerBatch(
  requests: readonly EmbedRequest[],
  model: string,
): { readonly embeddings: readonly unknown[]; readonly usageMetadata?: unknown } {
  const isOne = model === 'gemini-embedding-001';
  const embeddings = requests.map(({ content, outputDimensionality: width }) => {
    const input = identityOf(content.parts);
    const values =
      isOne && width !== undefined ? cutVector(input, WIDTH, width) : vectorOf(input, WIDTH, width);
    return { values };
  });
  return { embeddings, ...(isOne ? {} : { usageMetadata: countUsage(requests) }) };
}

/** A text is known by itself, whatever its wire: suites compute its vector from it. */
function identityOf(parts: readonly Part[]): unknown {
  return parts.length === 1 && parts[0]?.text !== undefined ? parts[0].text : parts;
}

function countUsage(requests: readonly EmbedRequest[]): unknown {
  const counts: Record<string, number> = {};
  for (const { text, inlineData } of requests.flatMap(({ content }) => content.parts)) {
    const modality = MODALITY_OF_MIME[inlineData?.mimeType.split('/')[0] ?? ''] ?? 'TEXT';
    counts[modality] = (counts[modality] ?? 0) + (text === undefined ? 258 : countTokens(text));
  }
  return {
    promptTokenCount: Object.values(counts).reduce((sum, count) => sum + count, 0),
    promptTokenDetails: Object.entries(counts).map(([modality, tokenCount]) => ({ modality, tokenCount })),
  };
}
