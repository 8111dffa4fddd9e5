// The rerank wires of all providers behind one stub, each of which refuses what its vendor refuses. The score of a document is
// the number that its text begins with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Response, Test } from 'supertest';
import { createTestApp } from '../app/app.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';

interface Scored {
  readonly index: number;
  readonly score: number;
}

interface RerankWireRow {
  readonly slug: string;
  readonly model: string;
  readonly path: string;
  /** All members that the vendor knows. */
  readonly members: readonly string[];
  readonly documents: (body: Record<string, unknown>) => unknown;
  readonly answer: (results: readonly Scored[], body: Record<string, unknown>) => unknown;
  readonly maxDocuments?: number;
  /** For a call with two short documents. */
  readonly usage: Readonly<Record<string, unknown>>;
}

const JINA_MEMBERS = ['model', 'query', 'documents', 'top_n', 'return_documents', 'max_tokens_per_doc'];
const jinaAnswer = (results: readonly Scored[]): object => ({
  id: 'rerank-1',
  model: 'some-model',
  // Servers of this form return documents, or null for them.
  results: results.map(({ index, score }) => ({ index, relevance_score: score, document: null })),
  usage: { total_tokens: 50 },
});
const documentsOf = ({ documents }: Record<string, unknown>): unknown => documents;

/** USD: 0.002 a search unit, 0.05 or 0.01 a million tokens; the servers of operators cost 1 a million tokens. */
export const WIRES: readonly RerankWireRow[] = [
  {
    slug: 'cohere',
    model: 'cohere/rerank-v3.5',
    path: '/cohere/v2/rerank',
    members: ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'priority'],
    documents: documentsOf,
    answer: (results, { documents }) => ({
      id: 'cohere-1',
      results: results.map(({ index, score }) => ({ index, relevance_score: score })),
      meta: { billed_units: { search_units: Math.ceil((documents as unknown[]).length / 100) } },
    }),
    usage: { search_units: 1, cost: 0.002, source: 'reported' },
  },
  {
    slug: 'bedrock',
    model: 'cohere/rerank-v3.5',
    path: '/bedrock/rerank',
    members: ['queries', 'sources', 'rerankingConfiguration'],
    documents: ({ sources }) =>
      (sources as { inlineDocumentSource: { textDocument: { text: string } } }[]).map(
        ({ inlineDocumentSource }) => inlineDocumentSource.textDocument.text,
      ),
    answer: (results) => ({ results: results.map(({ index, score }) => ({ index, relevanceScore: score })) }),
    maxDocuments: 1000,
    usage: { search_units: 1, cost: 0.002, source: 'counted' },
  },
  {
    slug: 'voyage',
    model: 'voyage/rerank-2.5',
    path: '/voyage/v1/rerank',
    members: ['model', 'query', 'documents', 'top_k', 'truncation', 'return_documents'],
    documents: documentsOf,
    answer: (results) => ({
      object: 'list',
      data: results.map(({ index, score }) => ({ index, relevance_score: score })),
      usage: { total_tokens: 50 },
    }),
    usage: { total_tokens: 50, cost: 0.0000025, source: 'reported' },
  },
  {
    slug: 'jina',
    model: 'acme/jina',
    path: '/jina/v1/rerank',
    members: ['model', 'query', 'documents', 'top_n', 'return_documents'],
    documents: documentsOf,
    answer: jinaAnswer,
    usage: { total_tokens: 50, cost: 0.00005, source: 'reported' },
  },
  {
    slug: 'deepinfra',
    model: 'qwen/qwen3-reranker-0.6b',
    path: '/deepinfra/v1/inference/Qwen/Qwen3-Reranker-0.6B',
    members: ['queries', 'documents', 'instruction', 'service_tier'],
    documents: documentsOf,
    answer: (results) => ({
      scores: results.toSorted((one, other) => one.index - other.index).map(({ score }) => score),
      input_tokens: 50,
      request_id: 'deep-1',
    }),
    usage: { total_tokens: 50, cost: 0.0000005, source: 'reported' },
  },
  ...(['together', 'vllm', 'openai-compatible'] as const).map((slug): RerankWireRow => ({
    slug,
    model: `acme/${slug}`,
    path: `/${slug}/v1/rerank`,
    members: JINA_MEMBERS,
    documents: documentsOf,
    answer: jinaAnswer,
    usage: { total_tokens: 50, cost: 0.00005, source: 'reported' },
  })),
  {
    slug: 'tei',
    model: 'acme/tei',
    path: '/tei/rerank',
    members: ['query', 'texts', 'raw_scores', 'return_text', 'truncate', 'truncation_direction'],
    documents: ({ texts }) => texts,
    answer: (results) => results,
    maxDocuments: 32,
    usage: { total_tokens: 16, cost: 0.000016, source: 'counted' },
  },
];

const SERVER = `
        pointwise: true
        max_documents_per_call: 1000
        prices: [{ effective_from: 2026-01-01, usd_per_million_tokens: { prompt: 1 }, source: test }]
        data_policy: { retains_prompts: false, trains: false }`;
const model = (id: string, provider: string, endpoint: string, context = 8192): string => `
  - id: ${id}
    created_at: 2026-01-01
    context_length: ${context}
    endpoints:
      - provider: ${provider}
        upstream_model: some-model${endpoint}`;

/** Models of operators: `acme/<slug>` for the servers, and special ones. */
export const CATALOGUE = `rerank_models:${['jina', 'together', 'vllm', 'openai-compatible']
  .map((slug) => model(`acme/${slug}`, slug, SERVER))
  .join('')}${model('acme/tei', 'tei', SERVER.replace('1000', '32'))}${model(
  'acme/by-unit',
  'vllm',
  SERVER.replace('usd_per_million_tokens: { prompt: 1 }', 'usd_per_search_unit: 0.003'),
)}${model('acme/other-path', 'vllm', `\n        rerank_path: /v2/rerank${SERVER}`)}${model(
  'acme/cut',
  'vllm',
  `\n        max_tokens_per_document: 512${SERVER}`,
)}${model(
  'acme/leaving',
  'vllm',
  `${SERVER}
    expires_on: 2027-03-31
    successor: acme/vllm`,
)}${model('acme/listwise', 'jina', SERVER.replace('true', 'false').replace('1000', '3'), 100)}
`;

export type Deed = (request: ReceivedRequest, response: ServerResponse, row: RerankWireRow) => void;

export interface RerankSetup {
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  /** The next calls of this path get another answer. */
  readonly deeds: Map<string, Deed>;
  close(): Promise<void>;
}

export interface RerankOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Further models of the catalogue. */
  readonly models?: string;
  readonly createApp?: (options: TestAppOptions) => Promise<TestApp>;
}

export async function startRerank({
  environment = {},
  models = '',
  createApp = createTestApp,
}: RerankOptions = {}): Promise<RerankSetup> {
  const deeds = new Map<string, Deed>();
  const upstream = await startStubUpstream((request, response) => {
    const row = WIRES.find(({ path }) => path === request.path);
    const deed = deeds.get(request.path);
    if (deed) return deed(request, response, row!);
    if (!row) return sendJson(response, 404, { error: { message: 'Not Found' } });
    answerLikeVendor(request, response, row);
  });
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-rerank-'));
  const file = join(directory, 'catalogue.yaml');
  writeFileSync(file, CATALOGUE + models);
  const at = (path: string): string => `${upstream.origin}${path}`;
  const app = await createApp({
    environment: {
      CATALOGUE_FILE: file,
      COHERE_API_KEY: 'key',
      COHERE_BASE_URL: at('/cohere'),
      BEDROCK_API_KEY: 'AKIDEXAMPLE:secret',
      BEDROCK_BASE_URL: at('/bedrock'),
      VOYAGE_API_KEY: 'key',
      VOYAGE_BASE_URL: at('/voyage/v1'),
      JINA_API_KEY: 'key',
      JINA_BASE_URL: at('/jina/v1'),
      DEEPINFRA_API_KEY: 'key',
      DEEPINFRA_BASE_URL: at('/deepinfra/v1/openai'),
      TOGETHER_API_KEY: 'key',
      TOGETHER_BASE_URL: at('/together/v1'),
      VLLM_BASE_URL: at('/vllm/v1'),
      OPENAI_COMPATIBLE_BASE_URL: at('/openai-compatible/v1'),
      TEI_BASE_URL: at('/tei'),
      PROVIDER_RETRIES: '0',
      ...environment,
    },
  });
  return {
    app,
    upstream,
    deeds,
    close: async () => {
      await app.close();
      await upstream.close();
      rmSync(directory, { recursive: true });
    },
  };
}

export function answerLikeVendor(
  { headers, body }: ReceivedRequest,
  response: ServerResponse,
  { slug, members, documents, answer, maxDocuments = 1000 }: RerankWireRow,
): void {
  const reject = (status: number, message: string): void =>
    sendJson(response, status, { message, error: message });
  const { authorization = '' } = headers;
  if (
    slug === 'bedrock'
      ? !authorization.startsWith('AWS4-HMAC-SHA256')
      : isPublic(slug) && authorization !== 'Bearer key'
  )
    return reject(401, 'invalid api key');
  const unknown = Object.keys(body).find((name) => !members.includes(name));
  if (unknown !== undefined) return reject(422, `unknown field: ${unknown}`);
  const texts = documents(body);
  if (
    !Array.isArray(texts) ||
    texts.length === 0 ||
    !texts.every((text) => typeof text === 'string' && text !== '')
  )
    return reject(400, 'documents must be a list of strings');
  if (texts.length > maxDocuments)
    return reject(413, `batch size ${texts.length} > maximum allowed batch size ${maxDocuments}`);
  if (slug === 'deepinfra' && (body['queries'] as unknown[]).length !== texts.length)
    return reject(422, 'queries and documents must have the same length');
  if (slug === 'bedrock' && (body['queries'] as unknown[]).length !== 1)
    return reject(400, 'queries must have 1 item');
  const results = (texts as string[]).map((text, index) => ({ index, score: parseFloat(text) }));
  sendJson(response, 200, answer(results, body));
}

function isPublic(slug: string): boolean {
  return !['vllm', 'openai-compatible', 'tei'].includes(slug);
}

export function rerank(app: TestApp, body: object, key = app.apiKey): Test {
  return app.http.post('/api/v1/rerank').set('authorization', `Bearer ${key}`).send(body);
}

export interface RerankAnswer {
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document: object;
  }[];
  readonly usage: Readonly<Record<string, unknown>>;
}

export function answerOf(response: Response): RerankAnswer {
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  return response.body as RerankAnswer;
}
