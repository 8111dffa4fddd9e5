// Builds the trace of one generation for one destination. It names every member explicitly, and only those of FreeText
// hold words of callers and providers: privacy mode omits by construction, not by deletion.
import { boundedLabel } from '../text/bounded-text.js';
import type { Destination } from './destination.js';
import { freeTextOf, privateTextOf } from '../generations/free-text.js';
import type { ChatWords, RecordedFacts } from '../generations/free-text.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { generationFacts } from './generation-facts.js';
import type { BroadcastFlags } from './generation-facts.js';
import type { GenerationTrace, TracedChat, TracedError } from '../generations/generation-trace.js';
import type { GenerationAttempt } from '../generations/generation.js';
import { usdOrNull } from '../spend/money.js';
import type { PicoUsd } from '../spend/money.js';
import { parentSpanIdOf, spanIdOf, traceIdOf } from '../generations/trace-ids.js';
import type { ChatFacts } from '../chat/chat-outcome.js';

type TraceRules = Pick<Destination, 'id' | 'privacyMode'> & BroadcastFlags;

// The semantic conventions' value for an error without a type.
const OTHER_ERROR = '_OTHER';
/** Recorded, and never sent: the client left before any status. */
const CLIENT_CLOSED_REQUEST = 499;

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
    cost: usdOrNull(generation.cost),
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
    attempts: generation.attempts.map((attempt) => tracedAttempt(attempt, destination)),
    chat: generation.chat && words.chat && tracedChat(generation.chat, words.chat, generation.cost),
    rerank: generation.rerank && { ...generation.rerank, content: words.rerank },
  };
}

/** Names of dropped members can be the caller's own words. */
function tracedAttempt(
  {
    provider,
    endpoint,
    status,
    errorType,
    durationMs,
    model,
    firstContentMs,
    droppedMembers,
  }: GenerationAttempt,
  { privacyMode }: TraceRules,
): GenerationAttempt {
  return {
    provider,
    endpoint,
    status,
    errorType,
    durationMs,
    ...(model === undefined ? {} : { model }),
    ...(firstContentMs === undefined ? {} : { firstContentMs }),
    ...(droppedMembers === undefined || privacyMode ? {} : { droppedMembers }),
  };
}

function tracedChat(
  facts: NonNullable<RecordedFacts['chat']>,
  words: ChatWords,
  charge: PicoUsd | null,
): TracedChat {
  const parts = chargedParts(facts, charge);
  return {
    wire: facts.wire,
    completionTokens: facts.completionTokens,
    reasoningTokens: facts.reasoningTokens,
    cachedTokens: facts.cachedTokens,
    cacheWriteTokens: facts.cacheWriteTokens,
    audioInputTokens: facts.audioInputTokens,
    audioOutputTokens: facts.audioOutputTokens,
    usageSource: facts.usageSource,
    reportedTokens: facts.reportedTokens,
    finishReason: words.finishReason,
    nativeFinishReason: words.nativeFinishReason,
    isStreamed: facts.isStreamed,
    isCancelled: facts.isCancelled,
    timeToFirstTokenMs: facts.timeToFirstTokenMs,
    serviceTier: words.serviceTier,
    overrun: usdOrNull(facts.overrun),
    promptCost: usdOrNull(parts.promptCost),
    completionCost: usdOrNull(parts.completionCost),
    cachedCost: usdOrNull(parts.cachedCost),
    cacheWriteCost: usdOrNull(parts.cacheWriteCost),
    reasoningCost: usdOrNull(parts.reasoningCost),
    upstreamPromptCost: usdOrNull(facts.promptCost),
    upstreamCompletionCost: usdOrNull(facts.completionCost),
    cacheDiscount: usdOrNull(facts.cacheDiscount),
    parameters: words.parameters ?? {},
    mediaCount: facts.mediaCount,
    audioCount: facts.audioCount,
    content: words.content,
  };
}

/**
 * Endpoints are named `tag/upstream-model`, and a tag is the provider or `provider/variant`. A variant stays in the
 * name, because the upstream's name may contain slashes as well.
 */
function upstreamModelOf({ endpoint }: RecordedFacts): string | null {
  return endpoint && endpoint.slice(endpoint.indexOf('/') + 1);
}

function errorOf({ status, errorType, chat }: RecordedFacts, message: string | null): TracedError | null {
  if (errorType === null && status < 400) return null;
  // The caller left: nothing has failed.
  if (chat?.isCancelled && (errorType === null || status === CLIENT_CLOSED_REQUEST)) return null;
  return { type: errorType ?? OTHER_ERROR, message };
}

type CostParts = Pick<
  ChatFacts,
  'promptCost' | 'completionCost' | 'cachedCost' | 'cacheWriteCost' | 'reasoningCost'
>;

/**
 * The parts of what the caller pays. The record has those of the price at the provider, which its owner pays through an own
 * provider key, and of which the caller pays a part above the bound of the call. Both sides add up to the charge exactly, and no
 * part exceeds its side. Unchanged where no price is known.
 */
function chargedParts(facts: CostParts, charge: PicoUsd | null): CostParts {
  const { promptCost, completionCost, cachedCost, cacheWriteCost, reasoningCost } = facts;
  const parts = { promptCost, completionCost, cachedCost, cacheWriteCost, reasoningCost };
  if (charge === null || promptCost === null || completionCost === null) return parts;
  const whole = promptCost + completionCost;
  if (whole === charge || whole === 0n) return parts;
  const shareOf = (part: PicoUsd): PicoUsd => (part * charge) / whole;
  const prompt = shareOf(promptCost);
  return {
    promptCost: prompt,
    completionCost: charge - prompt,
    cachedCost: cachedCost && shareOf(cachedCost),
    cacheWriteCost: cacheWriteCost && shareOf(cacheWriteCost),
    reasoningCost: reasoningCost && shareOf(reasoningCost),
  };
}
