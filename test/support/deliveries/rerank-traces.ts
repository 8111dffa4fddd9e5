// Traces of rerank calls as encoders get them, for tests.
import type { GenerationTrace, TracedRerank } from '../../../src/domain/generations/generation-trace.js';

const RESULTS = [
  { index: 1, score: 0.98 },
  { index: 0, score: 0.000125 },
];
const RERANK: TracedRerank = {
  searchUnits: 1,
  topN: 2,
  usageSource: 'reported',
  content: { results: RESULTS },
};

const rerankTrace = ({
  rerank,
  ...overrides
}: Omit<Partial<GenerationTrace>, 'rerank'> & { readonly rerank?: Partial<TracedRerank> } = {}) =>
  ({
    operation: 'rerank',
    spanName: 'rerank cohere/rerank-v3.5',
    model: 'cohere/rerank-v3.5',
    upstreamModel: 'rerank-v3.5',
    provider: 'cohere',
    promptTokens: 0,
    totalTokens: 0,
    cost: 0.002,
    dimensions: null,
    encodingFormat: null,
    inputType: null,
    inputCount: 2,
    input: { items: ['Which cat is grey?', 'A black cat', 'A “grey” cat 🐈'], isTruncated: false },
    attempts: [
      { provider: 'cohere', endpoint: 'cohere/rerank-v3.5', status: 200, errorType: null, durationMs: 40 },
    ],
    ...overrides,
    rerank: { ...RERANK, ...rerank },
  }) satisfies Partial<GenerationTrace>;

export const RERANK_CASES: Readonly<Record<string, Partial<GenerationTrace>>> = {
  'documents in their order, billed by search units': rerankTrace(),
  'documents in their order, billed by tokens, without their texts': rerankTrace({
    model: 'voyage/rerank-2.5',
    provider: 'voyage',
    promptTokens: 120,
    totalTokens: 120,
    input: null,
    rerank: { searchUnits: null, topN: null, usageSource: 'counted', content: null },
  }),
  'a rerank call that failed before any provider': rerankTrace({
    status: 503,
    provider: null,
    upstreamModel: null,
    upstreamId: null,
    error: { type: 'no_endpoint', message: 'No endpoint is available' },
    cost: null,
    rerank: { searchUnits: null, usageSource: 'none', content: { results: [] } },
    attempts: [],
  }),
};
