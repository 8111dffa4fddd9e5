// The JSON object of a trace in an object store: the trace and its one observation.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { levelOf } from '../otlp/attributes.js';
import { attributesOf, inputOf, metadataOf, outputOf, parametersOf } from '../tables/json-columns.js';

export function traceDocument(trace: GenerationTrace): object {
  const { startedAt, endedAt, promptTokens, totalTokens } = trace;
  const metadata = metadataOf(trace);
  return {
    id: trace.callerTraceId ?? trace.traceId,
    name: trace.traceName ?? trace.spanName,
    userId: trace.userId,
    sessionId: trace.sessionId,
    timestamp: startedAt,
    metadata,
    observations: [
      {
        id: trace.spanId,
        generationId: generationHeaderId(trace.generationId),
        traceId: trace.traceId,
        parentId: trace.parentSpanId,
        type: 'GENERATION',
        name: trace.spanName,
        startTime: startedAt,
        endTime: endedAt,
        durationMs: trace.durationMs,
        level: levelOf(trace),
        status: trace.error === null ? 'ok' : 'error',
        apiKeyName: trace.apiKeyName,
        model: trace.model,
        provider: trace.provider,
        modelParameters: parametersOf(trace),
        input: inputOf(trace),
        output: outputOf(trace),
        usage: { input: promptTokens, output: Math.max(0, totalTokens - promptTokens), total: totalTokens },
        cost: trace.cost,
        metadata,
        attributes: attributesOf(trace),
      },
    ],
  };
}
