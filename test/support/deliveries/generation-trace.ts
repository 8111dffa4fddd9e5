// Traces as encoders get them, for tests.
import type { GenerationTrace } from '../../../src/domain/generations/generation-trace.js';

/** A whole and ordinary trace; `number` makes its ids. */
export function generationTrace(number = 1, overrides: Partial<GenerationTrace> = {}): GenerationTrace {
  const digits = number.toString(16).padStart(12, '0');
  const startedAt = new Date(Date.UTC(2026, 10, 21, 10, 0, 0, number % 1000));
  const durationMs = 42;
  return {
    generationId: `0193a1b2-c3d4-7000-8000-${digits}`,
    traceId: `0193a1b2c3d470008000${digits}`,
    spanId: `abcd${digits}`,
    parentSpanId: null,
    callerTraceId: null,
    traceName: null,
    spanName: 'embeddings openai/text-embedding-3-small',
    startedAt,
    endedAt: new Date(startedAt.getTime() + durationMs),
    durationMs,
    operation: 'embeddings',
    model: 'openai/text-embedding-3-small',
    upstreamModel: 'text-embedding-3-small',
    provider: 'openai',
    upstreamId: 'upstream-1',
    status: 200,
    error: null,
    inputCount: 2,
    promptTokens: 9,
    totalTokens: 9,
    cost: 0.00000018,
    isByok: false,
    dimensions: 1536,
    encodingFormat: 'float',
    inputType: 'search_query',
    workspaceId: '0193a1b2-0000-7000-8000-00000000000a',
    apiKeyName: 'Search service',
    creatorUserId: 'user-42',
    userId: 'customer-7',
    sessionId: 'session-9',
    metadata: { environment: 'production', nested: { depth: 1 } },
    facts: {},
    input: { items: ['the first text', 'the second “text” 🙂'], isTruncated: false },
    attempts: [
      {
        provider: 'openai',
        endpoint: 'openai/text-embedding-3-small',
        status: 200,
        errorType: null,
        durationMs: 40,
      },
    ],
    chat: null,
    rerank: null,
    ...overrides,
  };
}
