// Rerank wires as data, and the forms that most of them share (docs/contract.md#rerank).
import { addressOf, modalityOf } from '../../domain/embeddings/modality.js';
import type { RankedDocument } from '../../domain/rerank/rerank.js';
import { MAX_TOKENS } from '../../domain/token-count.js';
import { operationUrl, withoutVersion } from './address.js';
import { SERVER_RERANK_MEMBERS } from './embedding-members.js';
import { usageOf as tokensOf } from './openai-wire.js';
import { BrokenAnswer, UnsupportedRequest } from './provider.js';
import type { BillingTraits, ReportedUsage, RerankCall, RerankWire, UpstreamResponse } from './provider.js';
import { readUpstreamError } from './upstream-error.js';
import { asObject, bearer, given, postJson, recordableId } from './wire.js';

interface RerankForm extends Pick<RerankWire, 'bills' | 'takesPath' | 'members' | 'buildRequest'> {
  readonly billing?: BillingTraits;
  /** The results in a body. */
  readonly results: (body: unknown, call: RerankCall) => RankedDocument[];
  /** Absent: the usage of the answer in OpenAI's form. */
  readonly usage?: (body: unknown, response: UpstreamResponse) => ReportedUsage;
  readonly id?: (body: unknown, response: UpstreamResponse) => unknown;
  readonly readError?: RerankWire['readError'];
}

export function defineRerankWire(form: RerankForm): RerankWire {
  const { results, usage = tokenUsage, id = (body) => asObject(body)['id'], readError, ...traits } = form;
  return {
    billing: {},
    ...traits,
    readAnswer: (response, call) => {
      const body = parseBody(response);
      return {
        results: results(body, call),
        ...usage(body, response),
        upstreamId: recordableId(id(body, response)),
      };
    },
    readUsage: (response) => usage(parseBody(response), response),
    readError: readError ?? readUpstreamError,
  };
}

/** The documents as texts: refuses images. */
export function documentTexts({ documents, upstreamModel }: RerankCall): readonly string[] {
  if (documents.form === 'texts') return documents.items;
  return documents.items.map(({ content }) => {
    const [part] = content;
    if (content.length === 1 && typeof part?.['text'] === 'string') return part['text'];
    throw new UnsupportedRequest('documents', `${upstreamModel} takes texts here, not images`);
  });
}

/** Jina's form, which most servers read. A document there is a text or an image. */
export function jinaForm(call: RerankCall): Record<string, unknown> {
  const { documents, upstreamModel, query, topN, extra } = call;
  return {
    ...extra,
    model: upstreamModel,
    query,
    documents:
      documents.form === 'texts'
        ? documents.items
        : documents.items.map(({ content }) => documentOf(content, upstreamModel)),
    top_n: topN,
    return_documents: false,
  };
}

type Part = Readonly<Record<string, unknown>>;

function documentOf(content: readonly Part[], upstreamModel: string): object {
  const [part, ...others] = content;
  if (part && others.length === 0) {
    if (typeof part['text'] === 'string') return { text: part['text'] };
    if (modalityOf(part) === 'image') return { image: addressOf(part) };
  }
  throw new UnsupportedRequest('documents', `${upstreamModel} takes a text or an image in each, not both`);
}

/** The address of the operation below the base URL, or at the path that the catalogue states for the server. */
function rerankUrl(baseUrl: string, { path }: RerankCall): string {
  return path === undefined ? operationUrl(baseUrl, '/rerank') : operationUrl(withoutVersion(baseUrl), path);
}

/** A list of objects, each with its index and, in the member `score`, its score. */
export function resultsIn(list: unknown, score: string): RankedDocument[] {
  if (!Array.isArray(list)) throw new BrokenAnswer('the answer has no results');
  return list.map((item: unknown) => {
    const { index, [score]: found } = asObject(item);
    if (typeof index !== 'number' || typeof found !== 'number')
      throw new BrokenAnswer('a result has no index or no score');
    return { index, score: found };
  });
}

export const resultsOfJina = (body: unknown): RankedDocument[] =>
  resultsIn(asObject(body)['results'], 'relevance_score');

/** Of servers of the operator. */
export const SERVER_RERANK = defineRerankWire({
  bills: ['token', 'search_unit'],
  takesPath: true,
  members: SERVER_RERANK_MEMBERS,
  // A limit for each document keeps the query. `truncate_prompt_tokens` would keep the end of the prompt and cut the query.
  buildRequest: (call, { baseUrl, apiKey }) =>
    postJson(rerankUrl(baseUrl, call), bearer(apiKey), {
      ...jinaForm(call),
      ...given('max_tokens_per_doc', call.maxTokensPerDocument),
    }),
  results: resultsOfJina,
});

function tokenUsage(body: unknown): ReportedUsage {
  return tokensOf(asObject(body)['usage']);
}

export const NO_USAGE: ReportedUsage = { promptTokens: null, totalTokens: null };

/** Null when the upstream sends no valid count. */
export function searchUnitCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_TOKENS
    ? value
    : null;
}

function parseBody({ body }: UpstreamResponse): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (error) {
    // Also for NaN, which JSON does not have.
    throw new BrokenAnswer('the answer is not JSON', { cause: error });
  }
}
