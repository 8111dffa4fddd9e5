// Builds the trace of one generation for one destination. It names every member explicitly, and only those of FreeText
// hold words of callers and providers: privacy mode omits by construction, not by deletion.
import { boundedLabel } from '../text/bounded-text.js';
import type { Destination } from '../destinations/destination.js';
import { freeTextOf, privateTextOf } from './free-text.js';
import type { RecordedFacts } from './free-text.js';
import type { GenerationCandidate } from './generation-candidate.js';
import { generationFacts } from './generation-facts.js';
import type { BroadcastFlags } from './generation-facts.js';
import type { GenerationTrace, TracedError } from './generation-trace.js';
import { usdToNumber } from '../spend/money.js';
import { parentSpanIdOf, spanIdOf, traceIdOf } from './trace-ids.js';

type TraceRules = Pick<Destination, 'id' | 'privacyMode'> & BroadcastFlags;

// The semantic conventions' value for an error without a type.
const OTHER_ERROR = '_OTHER';

export function buildTrace(candidate: GenerationCandidate, destination: TraceRules): GenerationTrace {
  const words = destination.privacyMode ? privateTextOf(candidate) : freeTextOf(candidate);
  const { key } = candidate;
  const generation: RecordedFacts = candidate.generation;
  return {
    generationId: generation.id,
    traceId: traceIdOf(candidate.generation),
    spanId: spanIdOf(destination.id, generation.id),
    parentSpanId: parentSpanIdOf(candidate.generation),
    callerTraceId: words.callerTraceId,
    traceName: words.traceName,
    spanName: words.spanName ?? `${generation.operation} ${generation.model}`,
    startedAt: generation.createdAt,
    endedAt: new Date(generation.createdAt.getTime() + generation.durationMs),
    durationMs: generation.durationMs,
    operation: generation.operation,
    model: generation.model,
    upstreamModel: upstreamModelOf(generation),
    provider: generation.provider,
    upstreamId: words.upstreamId,
    status: generation.status,
    error: errorOf(generation, words.errorMessage),
    inputCount: generation.inputCount,
    promptTokens: generation.promptTokens,
    totalTokens: generation.totalTokens,
    cost: generation.cost === null ? null : usdToNumber(generation.cost),
    isByok: generation.isByok,
    dimensions: generation.dimensions,
    encodingFormat: generation.encodingFormat,
    inputType: words.inputType,
    workspaceId: generation.workspaceId,
    apiKeyName: boundedLabel(key.name) ?? '',
    creatorUserId: boundedLabel(key.creatorUserId),
    userId: boundedLabel(generation.userId),
    sessionId: boundedLabel(generation.sessionId),
    metadata: words.metadata,
    facts: generationFacts(destination, generation, key, words),
    input: words.input,
    attempts: generation.attempts.map(({ provider, endpoint, status, errorType, durationMs }) => ({
      provider,
      endpoint,
      status,
      errorType,
      durationMs,
    })),
  };
}

/**
 * Endpoints are named `tag/upstream-model`, and a tag is the provider or `provider/variant`. A variant stays in the
 * name, because the upstream's name may contain slashes as well.
 */
function upstreamModelOf({ endpoint }: RecordedFacts): string | null {
  return endpoint && endpoint.slice(endpoint.indexOf('/') + 1);
}

function errorOf({ status, errorType }: RecordedFacts, message: string | null): TracedError | null {
  if (errorType === null && status < 400) return null;
  return { type: errorType ?? OTHER_ERROR, message };
}
