// The rows of the conformance table as callers of the service meet them: for the suites of the clients, and for
// the lab's conformance. Nothing but the ids comes from the service's own catalogue, which is under test.
import type { ConformanceRow, Members } from './conformance-row.js';
import { CONFORMANCE_TABLE } from './conformance-table.js';
import { PROVIDER_STUBS } from './index.js';
import type { ProviderStub } from './provider-stub.js';

export interface ProviderRow extends ConformanceRow {
  readonly label: string;
  readonly stub: ProviderStub;
  /** The model's id in this service. Of a model that others serve too, this provider has to be asked for. */
  readonly id: string;
  /** Members of our wire without which this upstream can serve no call. */
  readonly needs: Members;
  /** More tokens than the upstream takes at once, in fewer inputs than it takes; null: it counts inputs only. */
  readonly tooManyTokens: { readonly inputs: number; readonly words: number } | null;
  /** In items of their own, beside texts in the same call. */
  readonly takesImages: boolean;
  /** Seconds that the stub's rate limit says in its body and not in a header; null: it says none. */
  readonly retryAfterInBody: number | null;
  /** The label of another provider whose vectors are the same. */
  readonly sameVectorsAt: string | null;
}

type RowFacts = Pick<ProviderRow, 'id'> & Partial<ProviderRow>;

function row(slug: string, { model, ...facts }: RowFacts): ProviderRow {
  const stub = PROVIDER_STUBS.find((candidate) => candidate.slug === slug);
  const found = CONFORMANCE_TABLE.find(
    (candidate) => candidate.slug === slug && candidate.model === (model ?? stub?.models[0]),
  );
  if (!stub || !found) throw new Error(`no row of ${slug}`);
  return {
    ...found,
    label: slug,
    stub,
    needs: {},
    tooManyTokens: null,
    takesImages: false,
    retryAfterInBody: null,
    sameVectorsAt: null,
    ...facts,
  };
}

const OPENAI = { id: 'openai/text-embedding-3-small', tooManyTokens: { inputs: 60, words: 6000 } };
const COHERE = { id: 'cohere/embed-v4.0', needs: { input_type: 'search_document' } };
const GOOGLE = { retryAfterInBody: 33 };

export const PROVIDER_ROWS: readonly ProviderRow[] = [
  row('openai', { ...OPENAI, sameVectorsAt: 'azure' }),
  row('azure', { ...OPENAI, sameVectorsAt: 'openai' }),
  row('cohere', { ...COHERE, takesImages: true, sameVectorsAt: 'bedrock cohere' }),
  row('voyage', { id: 'voyage/voyage-3.5', tooManyTokens: { inputs: 100, words: 4000 } }),
  row('mistral', { id: 'mistralai/codestral-embed', tooManyTokens: { inputs: 10, words: 2000 } }),
  row('google', { ...GOOGLE, label: 'google 001', id: 'google/gemini-embedding-001' }),
  row('google', {
    ...GOOGLE,
    label: 'google 2',
    id: 'google/gemini-embedding-2',
    model: 'gemini-embedding-2',
    takesImages: true,
  }),
  row('jina', { id: 'jinaai/jina-embeddings-v4', takesImages: true }),
  row('together', { id: 'baai/bge-base-en-v1.5' }),
  row('deepinfra', { id: 'qwen/qwen3-embedding-0.6b' }),
  row('nomic', { id: 'nomic-ai/nomic-embed-text-v1.5' }),
  row('bedrock', { label: 'bedrock titan', id: 'amazon/titan-embed-text-v2' }),
  row('bedrock', {
    ...COHERE,
    label: 'bedrock cohere',
    model: 'cohere.embed-v4:0',
    sameVectorsAt: 'cohere',
  }),
  row('ollama', { id: 'in-house/ollama' }),
  row('tei', { id: 'in-house/tei' }),
  row('vllm', { id: 'in-house/vllm' }),
  row('openai-compatible', { id: 'in-house/openai-compatible' }),
];

export function rowLabelled(label: string): ProviderRow {
  const found = PROVIDER_ROWS.find((candidate) => candidate.label === label);
  if (!found) throw new Error(`no row ${label}`);
  return found;
}
