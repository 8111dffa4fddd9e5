// The steps of a destination consumer: the next batch of the log, requested dead letters, expired generations. Each step
// plans a batch, sends its traces and moves the cursor.
import type { Clock } from '../../domain/clock.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { DeadLettersRepository } from '../../persistence/deliveries/dead-letters.repository.js';
import type { Batch, BatchBuilder, BatchEntry } from '../batches/batch-builder.js';
import { concludeBatch, concludeReplay } from '../batches/batch-outcome.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import type { ConsumerCursor } from './consumer-cursor.js';
import type { SendFailure } from './parallel-sender.js';
import type { PoisonIsolation } from './poison-isolation.js';

/** `moved`: another process has moved the cursor. `held_back`: an older open transaction hides the next entries. */
export type Step = 'more' | 'idle' | 'held_back' | 'moved' | SendFailure;

export class DeliverySteps {
  /** Whether a replay may have been requested since dead letters were last read. */
  mayHaveReplays = true;

  constructor(
    private readonly cursor: ConsumerCursor,
    private readonly sender: PoisonIsolation,
    private readonly builder: BatchBuilder,
    private readonly deadLetters: DeadLettersRepository,
    private readonly clock: Clock,
    /** Aborts the request in flight. */
    private readonly signal: AbortSignal,
  ) {}

  /** Delivers the next batch. Replays follow new generations, batch by batch: neither may delay the other. */
  async deliver(target: DeliveryTarget): Promise<Step> {
    const step = await this.deliverNext(target);
    if (typeof step === 'object' || step === 'moved' || !this.mayHaveReplays) return step;
    this.mayHaveReplays = false;
    const replayed = await this.replay(target);
    if (replayed === 'idle') return step;
    this.mayHaveReplays = true;
    return replayed;
  }

  /** Passes the next generations created before `before` as expired. Pages of the log do not reach back to them. */
  async expire(target: DeliveryTarget, before: Date): Promise<Step> {
    const { cursor, clock } = this;
    const { stoodFor } = cursor.claim;
    const { entries, hasMore } = await this.builder.listExpired(target, cursor, { before, stoodFor });
    const sent = { start: cursor.position, rejected: 0, now: clock.now() };
    // Without entries it records that the log was read.
    if (!(await cursor.advance(target, concludeBatch(entries, new Map(), sent)))) return 'moved';
    return hasMore ? 'more' : 'idle';
  }

  private async deliverNext(target: DeliveryTarget): Promise<Step> {
    const { position, start } = this.cursor;
    const batch = await this.builder.buildNext(target, { position, start }, this.sender.batchBounds(target));
    try {
      if (batch.entries.length === 0) {
        this.sender.noteBacklog(false);
        return batch.isHeldBack ? 'held_back' : 'idle';
      }
      return await this.sendBatch(target, batch);
    } finally {
      batch.release();
    }
  }

  private async sendBatch(target: DeliveryTarget, batch: Batch): Promise<Step> {
    const { cursor, sender, clock, signal } = this;
    const { results, rejected, rejection, failure, hasRest } = await sender.send(
      target,
      tracesOf(batch.entries),
      signal,
    );
    const sent = { start: cursor.position, rejected, rejection, now: clock.now() };
    const outcome = concludeBatch(batch.entries, results, sent);
    if (outcome.position !== cursor.position) {
      if (!(await cursor.advance(target, outcome))) return 'moved';
    }
    if (failure) return failure;
    if (hasRest) return 'more';
    sender.noteBacklog(batch.hasMore);
    if (batch.hasMore) return 'more';
    return batch.isHeldBack ? 'held_back' : 'idle';
  }

  /** Sends dead letters whose replay was requested; `idle` when there are none. */
  private async replay(target: DeliveryTarget): Promise<Step> {
    const { cursor, sender, deadLetters, builder, clock, signal } = this;
    const letters = await deadLetters.listRequested(cursor.claim, target.kind.delivery.limits.maxTraces);
    if (letters.length === 0) return 'idle';
    const batch = await builder.buildNamed(
      target,
      letters.map(({ generationId: id, generationCreatedAt: createdAt }) => ({ id, createdAt })),
    );
    try {
      const { results, rejected, rejection, failure } = await sender.sendAgain(
        target,
        tracesOf(batch.entries),
        signal,
      );
      const sent = { start: cursor.position, rejected, rejection, now: clock.now() };
      const outcome = concludeReplay(letters, batch, results, sent);
      if (!(await cursor.advance(target, outcome))) return 'moved';
      await deadLetters.markDelivered(cursor.claim, outcome.replayed, clock.now());
      return failure ?? 'more';
    } finally {
      batch.release();
    }
  }
}

function tracesOf(entries: readonly BatchEntry[]): readonly GenerationTrace[] {
  return entries.flatMap(({ decision }) => (typeof decision === 'object' ? [decision] : []));
}
