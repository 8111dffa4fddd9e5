// The record of one chat call.
import { wireOf } from '../../domain/chat/chat-request.js';
import { chatParameters } from '../../domain/chat/chat-parameters.js';
import type { ChatFacts, ReportedTokens } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { AppError } from '../../domain/errors.js';
import { describeGeneration } from '../../domain/generations/call-record.js';
import { formatUsd } from '../../domain/spend/money.js';
import { boundedLabel } from '../../domain/text/bounded-text.js';
import { MAX_TOKENS } from '../../domain/token-count.js';
import type { Generation, GenerationAttempt, PricedBy } from '../../domain/generations/generation.js';
import { endpointName, protocolOf } from '../../routing/endpoint-target.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { ChatCall } from '../chat-call.js';
import type { ChatCharge } from '../charges/chat-charge.js';
import { longLivedTokens } from '../charges/chat-cost.js';
import { imagesOf } from '../charges/prompt-size.js';
import type { PromptSize } from '../charges/prompt-size.js';
import type { ReceivedAnswer, SettledUsage } from './call-usage.js';

export interface FinishedChat {
  readonly call: ChatCall;
  readonly size: PromptSize;
  /** The target that answered, else the first of the route. */
  readonly target: ChatTarget;
  readonly hasBegun: boolean;
  /** The provider's id in the headers of the answer; null: none. */
  readonly headerId: string | null;
  readonly attempts: readonly GenerationAttempt[];
  readonly received: ReceivedAnswer;
  readonly settled: SettledUsage;
  readonly charged: ChatCharge;
  readonly pricing: PricedBy;
  readonly error: AppError | null;
  readonly isCancelled: boolean;
  /** The client left before any status was sent. */
  readonly hasNoStatus: boolean;
  readonly timeToFirstTokenMs: number | null;
}

// The status of calls whose client left before another one was sent.
const CLIENT_CLOSED = 499;

export function describeChat(
  moment: Pick<Generation, 'id' | 'createdAt' | 'durationMs'>,
  finished: FinishedChat,
): Generation {
  const { call, target, hasBegun, headerId, attempts, received, charged, error, hasNoStatus } = finished;
  const { caller, request, context } = call;
  const last = attempts.at(-1);
  const generation = describeGeneration(moment, {
    caller,
    context,
    error,
    charge: charged.charge,
    pricing: finished.pricing,
    operation: {
      operation: 'chat',
      model: target.model.id,
      inputCount: 0,
      dimensions: null,
      encodingFormat: null,
      inputType: null,
      userId: request.user,
      chat: chatFacts(finished),
    },
    outcome: {
      endpoint: hasBegun ? endpointName(target) : (last?.endpoint ?? null),
      provider: hasBegun ? target.provider.slug : (last?.provider ?? null),
      upstreamId: received.upstreamId ?? headerId,
      attempts: hasBegun ? withCharge(attempts, charged) : attempts,
    },
  });
  return hasNoStatus && error === null ? { ...generation, status: CLIENT_CLOSED } : generation;
}

/** The last attempt is the one that answered. */
function withCharge(
  attempts: readonly GenerationAttempt[],
  { charge: { promptTokens }, completionTokens, cost, source }: ChatCharge,
): readonly GenerationAttempt[] {
  const last = attempts.at(-1);
  if (!last || source === 'none') return attempts;
  const charged = { promptTokens, completionTokens, cost: cost && formatUsd(cost.total) };
  return [...attempts.slice(0, -1), { ...last, ...charged }];
}

function chatFacts({
  call: { request },
  size,
  target,
  hasBegun,
  received,
  settled: { usage },
  charged,
  error,
  isCancelled,
  timeToFirstTokenMs,
}: FinishedChat): ChatFacts {
  const { cost, source, completionTokens, overrun } = charged;
  const [first] = received.choices;
  const isCharged = source !== 'none';
  const parts = isCharged ? usage : null;
  return {
    wire: wireOf(request),
    providerWire: hasBegun ? protocolOf(target) : null,
    completionTokens,
    reasoningTokens: parts?.reasoningTokens ?? 0,
    cachedTokens: parts?.cachedTokens ?? 0,
    cacheWriteTokens: parts?.cacheWriteTokens ?? 0,
    cacheWrite1hTokens: parts ? longLivedTokens({ usage: parts, cacheWriteTtl: request.cacheWriteTtl }) : 0,
    audioInputTokens: parts?.audioInputTokens ?? 0,
    audioOutputTokens: parts?.audioOutputTokens ?? 0,
    usageSource: source,
    reportedTokens: reportedTokens(received.usage),
    finishReason: error !== null && first ? 'error' : boundedLabel(first?.finishReason),
    nativeFinishReason: boundedLabel(first?.nativeFinishReason),
    isStreamed: request.isStreamed,
    isCancelled,
    timeToFirstTokenMs: request.isStreamed ? timeToFirstTokenMs : null,
    serviceTier: boundedLabel(received.serviceTier) ?? request.serviceTier,
    overrun,
    promptCost: cost?.prompt ?? null,
    completionCost: cost?.completion ?? null,
    cachedCost: cost?.cached ?? null,
    cacheWriteCost: cost?.cacheWrite ?? null,
    cacheWrite1hCost: cost?.cacheWrite1h ?? null,
    reasoningCost: cost?.reasoning ?? null,
    cacheDiscount: cost?.cacheDiscount ?? null,
    parameters: chatParameters(request),
    ...(target.requestedModel !== undefined && { requestedModel: target.requestedModel }),
    ...(request.preset && { preset: request.preset }),
    mediaCount: imagesOf(size) + size.files + size.videos,
    audioCount: size.audioParts,
  };
}

function reportedTokens(usage: ReportedChatUsage | null): ReportedTokens | null {
  if (usage === null) return null;
  const countOf = (tokens: number | null): number | null =>
    tokens !== null && Number.isSafeInteger(tokens) && tokens >= 0 ? Math.min(tokens, MAX_TOKENS) : null;
  return {
    prompt: countOf(usage.promptTokens),
    completion: countOf(usage.completionTokens),
    reasoning: countOf(usage.reasoningTokens),
    cached: countOf(usage.cachedTokens),
    cacheWrite: countOf(usage.cacheWriteTokens),
  };
}
