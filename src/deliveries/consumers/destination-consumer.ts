// Consumes the generation log for one destination, batch by batch in the order of the log, while this process owns its
// cursor. A slow or failing platform delays no other destination.
import { Logger } from '@nestjs/common';
import type { AppConfig } from '../../config/app-config.js';
import type { Clock } from '../../domain/clock.js';
import { MAX_DELIVERY_AGE } from '../../domain/destinations/delivery.js';
import { jitteredDelay } from '../../concurrency/backoff.js';
import { WakeSignal } from '../../concurrency/wake-signal.js';
import { UnusableFilter } from '../../domain/destinations/filter-match.js';
import type { DeadLettersRepository } from '../../persistence/deliveries/dead-letters.repository.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { BatchBuilder } from '../batches/batch-builder.js';
import type { BatchSender } from '../batches/batch-sender.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { DeliveryTarget, WorkspaceDestinationsCache } from '../workspace-destinations.js';
import type { ConsumerCursor } from './consumer-cursor.js';
import { retryDelay } from '../retry-delay.js';
import { DeliverySteps } from './delivery-steps.js';
import type { Step } from './delivery-steps.js';
import { PoisonIsolation } from './poison-isolation.js';
import type { SendFailure } from './parallel-sender.js';
import type { SettledAhead } from './settled-ahead.js';

// Milliseconds that an idle consumer keeps its claim, so that a trickle of calls does not need a claim for each.
const IDLE_TIME = 2_000;
// Milliseconds until the log behind an open transaction is read again, at first and at most.
const HELD_BACK_DELAY = { base: 25, max: 500 };
// Running consumers that lengthen the linger of each by one, and the bound of the linger in milliseconds.
const CONSUMERS_PER_LINGER = 5;
const MAX_LINGER = 1_000;
// Milliseconds that a consumer waits with its claim; before a longer pause it releases the claim.
const MAX_DELAY = 5_000;

// An error that interrupts every delivery must not repeat without a pause.
const INTERRUPTED: SendFailure = {
  class: 'retry',
  status: null,
  message: 'interrupted by an internal error',
};

/** Consumers of this process that deliver now. */
export interface ConsumerLoad {
  running: number;
}

export class DestinationConsumer {
  /** Settles when the consumer has ended and its claim is released. Never rejects. */
  readonly finished: Promise<void>;
  private readonly logger = new Logger(DestinationConsumer.name);
  private readonly wakeSignal = new WakeSignal();
  /** Aborts the request in flight. */
  private readonly inFlight = new AbortController();
  private readonly sender: PoisonIsolation;
  private readonly steps: DeliverySteps;

  constructor(
    private readonly cursor: ConsumerCursor,
    private readonly load: ConsumerLoad,
    private readonly settledAhead: SettledAhead,
    private readonly destinations: WorkspaceDestinationsCache,
    builder: BatchBuilder,
    sender: BatchSender,
    deadLetters: DeadLettersRepository,
    private readonly metrics: DeliveryMetrics,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.sender = new PoisonIsolation(sender, cursor.claim, {
      maxRequests: config.deliveries.requestsInFlight,
      ahead: settledAhead.take(cursor.claim),
    });
    const { signal } = this.inFlight;
    this.steps = new DeliverySteps(cursor, this.sender, builder, deadLetters, clock, signal);
    this.finished = this.run();
  }

  get claim(): ClaimedCursor {
    return this.cursor.claim;
  }

  /** Whether a wake signal has arrived that the consumer has not handled. */
  get isWoken(): boolean {
    return this.wakeSignal.isWoken;
  }

  /** The log may have new generations. */
  wake(): void {
    this.wakeSignal.wake();
  }

  /** The destination or its requested replays have changed: a pause after a failure ends. */
  reconsider(): void {
    this.steps.mayHaveReplays = true;
    this.cursor.mayHaveMoved = true;
    this.wakeSignal.interrupt();
    void this.endIfUnwanted();
  }

  /** Aborts the request in flight of a destination that is deleted or disabled. */
  private async endIfUnwanted(): Promise<void> {
    try {
      const destinations = await this.destinations.find(this.claim.workspaceId);
      const { destinationId } = this.claim;
      if (destinations?.targets.has(destinationId) || destinations?.problems.has(destinationId)) return;
      this.wakeSignal.stop();
      this.inFlight.abort();
    } catch {
      // The next request checks it again.
    }
  }

  /** Lets the request in flight finish until `grace` aborts. */
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
      // All confirmed deliveries are in the database: the next claim continues from there.
      if (error instanceof UnusableFilter) {
        failure = { class: 'blocked', status: null, message: error.message };
      } else if (!this.wakeSignal.isStopped) {
        this.logger.warn({ ...this.name, error }, 'failed to deliver: internal error; will retry');
        failure = INTERRUPTED;
      }
    }
    this.load.running--;
    this.settledAhead.keep(this.claim.destinationId, this.cursor, this.sender.ahead);
    try {
      if (failure) await this.cursor.fail(failure, this.delayAfter(failure));
      await this.cursor.release();
    } catch {
      // The claim expires by itself.
    }
  }

  /** Expires generations that are too old for pages of the log, after a cursor has stood for long. */
  private async expireBacklog(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - MAX_DELIVERY_AGE);
    let step: Step = this.claim.hasStood ? 'more' : 'idle';
    while (step === 'more' && !this.wakeSignal.isStopped) {
      const target = await this.findTarget();
      if (!target) return;
      step = await this.steps.expire(target, before);
    }
  }

  private async deliver(): Promise<void> {
    let isFirst = true;
    let heldBack = 0;
    while (!this.wakeSignal.isStopped) {
      if (this.cursor.mayHaveMoved && !(await this.refreshCursor())) return;
      const target = await this.findTarget();
      if (!target) return this.reportProblem();
      const { linger } = target.kind.delivery.limits;
      if (isFirst && this.sender.failures === 0) await this.linger(linger);
      isFirst = false;
      this.wakeSignal.reset();
      const step = await this.steps.deliver(target);
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
   * Waits for more traces, which share the cost of a batch. It waits longer the more consumers share the processor with
   * the calls, and for a random time, so that consumers that wake together do not work together.
   */
  private async linger(linger: number): Promise<void> {
    const shared = Math.min(
      linger * (1 + this.load.running / CONSUMERS_PER_LINGER),
      Math.max(linger, MAX_LINGER),
    );
    await this.wakeSignal.sleep(shared * (0.75 + Math.random() / 2));
  }

  /** Returns false when the claim was lost: another process continues. */
  private async refreshCursor(): Promise<boolean> {
    const state = await this.cursor.refresh();
    if (state === 'set_back') this.sender.forget();
    return state !== 'lost';
  }

  /** Undefined when the destination is deleted or disabled. */
  private async findTarget(): Promise<DeliveryTarget | undefined> {
    const destinations = await this.destinations.find(this.claim.workspaceId);
    return destinations?.targets.get(this.claim.destinationId);
  }

  /** An enabled destination whose stored config is unusable stays blocked until it is changed. */
  private async reportProblem(): Promise<void> {
    const destinations = await this.destinations.find(this.claim.workspaceId);
    const message = destinations?.problems.get(this.claim.destinationId);
    if (message === undefined) return;
    const failure: SendFailure = { class: 'blocked', status: null, message };
    await this.cursor.fail(failure, this.delayAfter(failure));
  }

  /** Records the failure and waits. Returns false when the consumer must end instead. */
  private async waitAfterFailure({ kind }: DeliveryTarget, failure: SendFailure): Promise<boolean> {
    const delay = this.delayAfter(failure);
    this.metrics.countFailure(kind.type, failure.class);
    // The destination may have changed since the request: its new config is tried at once.
    if (this.cursor.mayHaveMoved) return true;
    this.sender.failures++;
    if (this.wakeSignal.isStopped || !(await this.cursor.fail(failure, delay))) return false;
    if (delay > MAX_DELAY) return false;
    await this.wakeSignal.sleep(delay);
    return true;
  }

  /** Milliseconds until the next attempt. */
  private delayAfter(failure: SendFailure): number {
    return retryDelay(failure, this.sender.failures, this.config.deliveries, Math.random());
  }

  private get name(): object {
    return { destinationId: this.claim.destinationId, workspaceId: this.claim.workspaceId };
  }
}
