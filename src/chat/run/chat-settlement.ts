// The settlement of one chat call: its usage, its charge and its record.
import type { Pace } from '../../concurrency/yield-queue.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import type { Generation, GenerationAttempt } from '../../domain/generations/generation.js';
import { AppError } from '../../domain/errors.js';
import type { ChatCall } from '../chat-call.js';
import type { SettledCall } from '../chat-metrics.js';
import { outputBound } from '../charges/chat-bound.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import type { ClientStream } from '../stream/client-stream.js';
import { chargeOfRun } from './charge-of-run.js';
import type { FailedUsage } from './charge-of-run.js';
import { usageOf } from './chat-ending.js';
import { describeChat } from './chat-record.js';
import type { ExecutedChat, SettledChat } from './executed-chat.js';

export interface SettlementFacts {
  readonly call: ChatCall;
  readonly generationId: string;
  readonly createdAt: Date;
  /** performance.now() at that time. */
  readonly countedFrom: number;
  readonly bounded: ReservedCall;
  /** The sum of the call's reservations; null where no limit applies. */
  readonly reserved: SpendBound | null;
  readonly attempts: readonly GenerationAttempt[];
  /** The usage of failed attempts before the last. */
  readonly failed: readonly FailedUsage[];
  /** Null: without a stream. */
  readonly client: ClientStream | null;
  /** performance.now() of the last attempt. */
  readonly sentAt: number;
  /** performance.now(); null: no content has come. */
  readonly firstContentAt: number | null;
}

export interface Settlement {
  readonly settled: SettledChat;
  readonly generation: Generation;
  readonly measured: SettledCall;
}

export async function settlementOf(
  executed: ExecutedChat,
  facts: SettlementFacts,
  pace: Pace,
): Promise<Settlement> {
  const { call, generationId, createdAt, countedFrom, bounded, attempts, client, firstContentAt } = facts;
  const { routed, route, kind, received, error } = executed;
  const target = routed.begun?.target ?? route.targets[0];
  if (!target) throw new AppError('internal');
  const now = performance.now();
  const seconds = (now - facts.sentAt) / 1_000;
  const { size } = bounded;
  const { request, receivedAt } = call;
  const bound = outputBound(bounded, target.endpoint);
  const usage = await usageOf(kind, received, { request, size, target, outputBound: bound, seconds }, pace);
  const charged = chargeOfRun(executed, target, usage, bounded, facts.reserved, facts.failed);
  const isCancelled = call.client.isGone;
  const durationMs = Math.round(now - receivedAt);
  const firstTokenMs = firstContentAt === null ? null : firstContentAt - receivedAt;
  const generation = describeChat(
    { id: generationId, createdAt, durationMs: Math.round(now - countedFrom) },
    {
      call,
      size,
      target,
      hasBegun: routed.begun !== null,
      headerId: routed.begun?.upstreamId ?? null,
      attempts,
      received,
      settled: usage,
      charged,
      error,
      isCancelled,
      hasNoStatus: isCancelled && client?.hasSentHeaders !== true,
      timeToFirstTokenMs: firstContentAt === null ? null : Math.round(firstContentAt - countedFrom),
    },
  );
  const measured = {
    provider: target.provider.slug,
    source: charged.source,
    durationMs,
    isCancelled,
    isSlowReader: client?.gone === 'slow_reader',
    isConsistent: usage.isConsistent,
    isOverrun: charged.overrun !== null,
    droppedMembers: routed.begun?.droppedMembers ?? [],
    firstTokenMs,
    tokensPerSecond: charged.completionTokens / seconds,
  };
  return { settled: { ...executed, target, usage, charged }, generation, measured };
}
