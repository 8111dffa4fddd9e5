// The deliveries to one destination, one batch after the other in the order of the log, while this process holds its
// claim. Whatever the platform does holds back nobody else.
import { Logger } from '@nestjs/common';
import type { AppConfig } from '../../config/app-config.js';
import type { Clock } from '../../domain/clock.js';
import type { DropReason, LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import { MAX_DELIVERY_AGE, isBehind } from '../../domain/destinations/delivery.js';
import { jitteredDelay } from '../../concurrency/backoff.js';
import { WakeSignal } from '../../concurrency/wake-signal.js';
import { UnusableFilter } from '../../domain/destinations/filter-match.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { DeadLettersRepository } from '../../persistence/deliveries/dead-letters.repository.js';
import type {
  ClaimedCursor,
  DeliveryCursorsRepository,
} from '../../persistence/deliveries/delivery-cursors.repository.js';
import { concludeBatch, concludeReplay } from '../batches/batch-outcome.js';
import type { BatchOutcome } from '../batches/batch-outcome.js';
import type { BatchBuilder, PlannedBatch, PlannedEntry } from '../batches/batch-builder.js';
import type { BatchSender } from '../batches/batch-sender.js';
import type { DeliveryTarget, WorkspaceDestinationsCache } from '../workspace-destinations.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { ContentSweeper } from '../log/content-sweeper.js';
import { PoisonIsolation } from './poison-isolation.js';
import type { SendFailure } from './poison-isolation.js';
import { delayAfter } from './retry-delay.js';

// Milliseconds that an idle lane keeps its claim: under a trickle nobody has to claim anew for every call.
const IDLE_TIME = 2_000;
// Milliseconds until what an open transaction holds back is looked at again, at first and at most.
const HELD_BACK_DELAY = { base: 25, max: 500 };
// Running lanes for which each gathers for one linger longer, and how long (milliseconds) they do at most for that.
const CONSUMERS_PER_LINGER = 5;
const MAX_LINGER = 1_000;
// Milliseconds that a lane waits in place; through a longer pause it gives its claim back.
const MAX_DELAY = 5_000;

// What breaks off a delivery again and again must not do so without a pause.
const BROKEN_OFF: SendFailure = {
  class: 'retry',
  status: null,
  message: 'broken off by an error of this service',
};

type Step = 'more' | 'idle' | 'held_back' | 'moved' | SendFailure;

/** Consumers of this process that deliver now. */
export interface ConsumerLoad {
  running: number;
}

export class DestinationConsumer {
  /** Settles when the lane has ended and its claim is given back. Never rejects. */
  readonly finished: Promise<void>;
  private readonly logger = new Logger(DestinationConsumer.name);
  private readonly wakeSignal = new WakeSignal();
  /** Aborts the request in flight. */
  private readonly inFlight = new AbortController();
  private readonly sender: PoisonIsolation;
  position: LogPosition;
  start: LogSnapshot;
  private wantsReplay = true;
  private mayHaveMoved = false;

  constructor(
    readonly claim: ClaimedCursor,
    private readonly load: ConsumerLoad,
    private readonly destinations: WorkspaceDestinationsCache,
    private readonly planner: BatchBuilder,
    sender: BatchSender,
    private readonly cursors: DeliveryCursorsRepository,
    private readonly deadLetters: DeadLettersRepository,
    private readonly contents: ContentSweeper,
    private readonly metrics: DeliveryMetrics,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.position = claim.position;
    this.start = claim.start;
    this.sender = new PoisonIsolation(sender, claim);
    this.finished = this.run();
  }

  /** Whether something came that the lane has not looked at. */
  get isWoken(): boolean {
    return this.wakeSignal.isWoken;
  }

  /** There may be something new in the log. */
  wake(): void {
    this.wakeSignal.wake();
  }

  /** The destination, or what is asked of it, has changed: a pause after a failure is over. */
  reconsider(): void {
    this.wantsReplay = true;
    this.mayHaveMoved = true;
    this.wakeSignal.interrupt();
    void this.endIfUnwanted();
  }

  /** To a destination that is deleted or switched off not even the request in flight is finished. */
  private async endIfUnwanted(): Promise<void> {
    try {
      const destinations = await this.destinations.find(this.claim.workspaceId);
      const { destinationId } = this.claim;
      if (destinations?.targets.has(destinationId) || destinations?.problems.has(destinationId)) return;
      this.wakeSignal.stop();
      this.inFlight.abort();
    } catch {
      // It is looked at again before the next request.
    }
  }

  /** Lets the request that is under way end, for a while. */
  async stop(grace: AbortSignal): Promise<void> {
    this.wakeSignal.stop();
    grace.addEventListener('abort', () => this.inFlight.abort(), { once: true });
    await this.finished;
  }

  private async run(): Promise<void> {
    this.load.running++;
    let failure: SendFailure | null = null;
    try {
      await this.expireBacklog();
      await this.deliver();
    } catch (error) {
      // Nothing was confirmed that is not in the database: whoever claims next goes on from there.
      if (error instanceof UnusableFilter) {
        failure = { class: 'blocked', status: null, message: error.message };
      } else if (!this.wakeSignal.isStopped) {
        this.logger.warn({ ...this.name, error }, 'a delivery was broken off');
        failure = BROKEN_OFF;
      }
    }
    this.load.running--;
    try {
      if (failure) await this.cursors.fail(this.claim, failure, this.delayAfter(failure));
      await this.cursors.release(this.claim);
    } catch {
      // The claim expires by itself.
    }
  }

  /** Gives up what is too old for pages of the log to reach it, where the cursor has stood for long. */
  private async expireBacklog(): Promise<void> {
    const { hasStood, stoodFor } = this.claim;
    let hasMore = hasStood;
    const before = new Date(this.clock.now().getTime() - MAX_DELIVERY_AGE);
    while (hasMore && !this.wakeSignal.isStopped) {
      const target = await this.findTarget();
      if (!target) return;
      const old = await this.planner.planExpired(target, this, { before, stoodFor });
      const now = this.clock.now();
      const outcome = concludeBatch(old.entries, new Map(), { start: this.position, rejected: 0, now });
      // Where there is nothing, that it was looked at.
      if (!(await this.advance(target, outcome))) return;
      hasMore = old.hasMore;
    }
  }

  /** Moves the cursor; false when it was moved by somebody else. */
  private async advance(target: DeliveryTarget, outcome: BatchOutcome): Promise<boolean> {
    if (!(await this.cursors.advance(this.claim, this, outcome))) {
      this.mayHaveMoved = true;
      return false;
    }
    this.position = outcome.position;
    this.count(target, outcome);
    return true;
  }

  private async deliver(): Promise<void> {
    let isFirst = true;
    let heldBack = 0;
    while (!this.wakeSignal.isStopped) {
      if (this.mayHaveMoved && !(await this.refreshCursor())) return;
      const target = await this.findTarget();
      if (!target) return this.reportProblem();
      const { linger } = target.kind.delivery.limits;
      if (isFirst && this.sender.failures === 0) await this.linger(linger);
      isFirst = false;
      const step = await this.takeStep(target);
      heldBack = step === 'held_back' ? heldBack + 1 : 0;
      if (heldBack > 0) await this.wakeSignal.sleep(jitteredDelay(heldBack, HELD_BACK_DELAY, 1));
      if (step === 'idle') {
        if (!(await this.wakeSignal.untilWoken(IDLE_TIME))) return;
        await this.linger(linger);
      }
      if (typeof step === 'object' && !(await this.waitAfterFailure(target, step))) return;
    }
  }

  /**
   * Waits for more, so that what every batch costs is paid for many traces. The more lanes share the processor with the
   * calls, the longer, and each for a time of its own: woken together, they would all need it together.
   */
  private async linger(linger: number): Promise<void> {
    const shared = Math.min(
      linger * (1 + this.load.running / CONSUMERS_PER_LINGER),
      Math.max(linger, MAX_LINGER),
    );
    await this.wakeSignal.sleep(shared * (0.75 + Math.random() / 2));
  }

  /** False when the claim was lost: what is to be done is somebody else's. */
  private async refreshCursor(): Promise<boolean> {
    this.mayHaveMoved = false;
    const found = await this.cursors.lookAgain(this.claim);
    if (!found) return false;
    if (isBehind(this.position, found.position)) this.sender.forget();
    this.position = found.position;
    this.start = found.start;
    return true;
  }

  /** Undefined when the destination is not to be delivered to any more. */
  private async findTarget(): Promise<DeliveryTarget | undefined> {
    const destinations = await this.destinations.find(this.claim.workspaceId);
    return destinations?.targets.get(this.claim.destinationId);
  }

  /** A destination that is switched on, and cannot be delivered to as it is stored, waits for somebody to change it. */
  private async reportProblem(): Promise<void> {
    const destinations = await this.destinations.find(this.claim.workspaceId);
    const message = destinations?.problems.get(this.claim.destinationId);
    if (message === undefined) return;
    const failure: SendFailure = { class: 'blocked', status: null, message };
    await this.cursors.fail(this.claim, failure, this.delayAfter(failure));
  }

  /** What is asked for again comes after what is new: neither may hold up the other. */
  private async takeStep(target: DeliveryTarget): Promise<Step> {
    const step = await this.deliverNext(target);
    if (typeof step === 'object' || step === 'moved' || !this.wantsReplay) return step;
    this.wantsReplay = false;
    const replayed = await this.replay(target);
    if (replayed === 'idle') return step;
    this.wantsReplay = true;
    return replayed;
  }

  private async deliverNext(target: DeliveryTarget): Promise<Step> {
    this.wakeSignal.reset();
    const size = this.sender.batchSize(target);
    const batch = await this.planner.planNext(target, { position: this.position, start: this.start }, size);
    try {
      if (batch.entries.length === 0) return batch.isHeldBack ? 'held_back' : 'idle';
      return await this.sendBatch(target, batch);
    } finally {
      batch.release();
    }
  }

  private async sendBatch(target: DeliveryTarget, batch: PlannedBatch): Promise<Step> {
    const traces = tracesOf(batch.entries);
    const { results, rejected, failure, hasRest } = await this.sender.send(
      target,
      traces,
      this.inFlight.signal,
    );
    const now = this.clock.now();
    const outcome = concludeBatch(batch.entries, results, { start: this.position, rejected, now });
    if (outcome.position !== this.position) {
      if (!(await this.advance(target, outcome))) return 'moved';
    }
    if (failure) return failure;
    if (hasRest || batch.hasMore) return 'more';
    return batch.isHeldBack ? 'held_back' : 'idle';
  }

  /** Sends dead letters that somebody asked for again; `idle` when there are none. */
  private async replay(target: DeliveryTarget): Promise<Step> {
    const { deadLetters, planner, clock } = this;
    const letters = await deadLetters.listRequested(this.claim, target.kind.delivery.limits.maxTraces);
    if (letters.length === 0) return 'idle';
    const batch = await planner.planNamed(
      target,
      letters.map(({ generationId: id, generationCreatedAt: createdAt }) => ({ id, createdAt })),
    );
    try {
      const traces = tracesOf(batch.entries);
      const { results, rejected, failure } = await this.sender.sendAgain(
        target,
        traces,
        this.inFlight.signal,
      );
      const outcome = concludeReplay(letters, batch, results, {
        start: this.position,
        rejected,
        now: clock.now(),
      });
      if (!(await this.advance(target, outcome))) return 'moved';
      await deadLetters.remove(this.claim, outcome.replayed);
      return failure ?? 'more';
    } finally {
      batch.release();
    }
  }

  private count(
    { kind }: DeliveryTarget,
    outcome: { readonly lags: readonly number[]; readonly dropped: object },
  ): void {
    const { metrics, contents } = this;
    if (outcome.lags.length > 0) metrics.countDelivered(kind.type, outcome.lags);
    for (const [reason, count] of Object.entries(outcome.dropped) as [DropReason, number][])
      metrics.countDropped(kind.type, reason, count);
    contents.note(this.claim.workspaceId);
  }

  /** Notes the failure and waits; false when the lane is to end instead. */
  private async waitAfterFailure({ kind }: DeliveryTarget, failure: SendFailure): Promise<boolean> {
    const delay = this.delayAfter(failure);
    this.metrics.countFailure(kind.type, failure.class);
    // It may have been set up otherwise since it was asked: as it is now, it is to be tried at once.
    if (this.mayHaveMoved) return true;
    this.sender.failures++;
    if (this.wakeSignal.isStopped || !(await this.cursors.fail(this.claim, failure, delay))) return false;
    if (delay > MAX_DELAY) return false;
    await this.wakeSignal.sleep(delay);
    return true;
  }

  private delayAfter(failure: SendFailure): number {
    return delayAfter(failure, this.sender.failures, this.config.deliveries, Math.random());
  }

  private get name(): object {
    return { destinationId: this.claim.destinationId, workspaceId: this.claim.workspaceId };
  }
}

function tracesOf(entries: readonly PlannedEntry[]): readonly GenerationTrace[] {
  return entries.flatMap(({ decision }) => (typeof decision === 'object' ? [decision] : []));
}
