// Delivers the events of notification rules, oldest first, one rule's after the other. A receiver that fails or hangs
// holds back its own rule; its account holds a few of the claims at most.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { AppConfig } from '../../config/app-config.js';
import { DELIVERIES_TIME } from '../../config/shutdown-times.js';
import { UnusableConfig } from '../../destination-kinds/shared/destination-kind.js';
import type { NotificationRule } from '../../domain/notifications/notification-rule.js';
import { NotificationQueuesRepository } from '../../persistence/notifications/notification-queues.repository.js';
import type {
  ClaimedQueue,
  PendingEvent,
} from '../../persistence/notifications/notification-queues.repository.js';
import { NotificationRulesRepository } from '../../persistence/notifications/notification-rules.repository.js';
import type { FinalOutcome } from '../batches/platform-client.js';
import { retryDelay } from '../retry-delay.js';
import { NotificationClient } from './notification-client.js';
import { NotificationMetrics } from './notification-metrics.js';

// Milliseconds.
const POLL_INTERVAL = 1_000;
const COUNT_INTERVAL = 15_000;
// Rules that this process delivers at once, and those of one account.
const MAX_DELIVERIES = 64;
const MAX_DELIVERIES_OF_ACCOUNT = 2;
// Events of one claim: then other rules of the account have their turn.
const MAX_EVENTS = 20;
// Pending events that are counted for the metric.
const MAX_COUNTED = 10_000;

/** Whether the claim continues with the next event. */
type Step = 'more' | 'done' | 'failed';

@Injectable()
export class NotificationSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(NotificationSender.name);
  /** Deliveries of this process, with their accounts. */
  private readonly inFlight = new Map<Promise<void>, string>();
  /** Aborts the requests in flight. */
  private readonly abort = new AbortController();
  private polling: Promise<void> | null = null;
  private readonly polls = RepeatedTask.every(POLL_INTERVAL, () => this.poll());
  private readonly counts = RepeatedTask.every(COUNT_INTERVAL, () => this.countPending());
  private isStopping = false;

  constructor(
    private readonly queues: NotificationQueuesRepository,
    private readonly rules: NotificationRulesRepository,
    private readonly client: NotificationClient,
    private readonly metrics: NotificationMetrics,
    private readonly config: AppConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.polls.start(POLL_INTERVAL);
    this.counts.start(COUNT_INTERVAL);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    const grace = setTimeout(() => this.abort.abort(), DELIVERIES_TIME);
    await Promise.all([this.polls.stop(), this.counts.stop(), this.polling]);
    await Promise.all(this.inFlight.keys());
    clearTimeout(grace);
  }

  /** Starts the deliveries that are due. Never rejects. */
  poll(): Promise<void> {
    this.polling ??= this.startDue()
      .catch((error: unknown) => this.logger.warn({ error }, 'failed to claim notifications; will retry'))
      .finally(() => {
        this.polling = null;
      });
    return this.polling;
  }

  private async startDue(): Promise<void> {
    const free = MAX_DELIVERIES - this.inFlight.size;
    if (this.isStopping || free <= 0) return;
    for (const claim of await this.queues.claim(free, this.busyAccounts())) {
      const delivery = this.deliver(claim)
        .catch((error: unknown) =>
          this.logger.warn(
            { ruleId: claim.ruleId, error },
            'failed to deliver notifications; the claim expires',
          ),
        )
        .finally(() => this.inFlight.delete(delivery));
      this.inFlight.set(delivery, claim.accountId);
    }
  }

  private busyAccounts(): readonly string[] {
    const counts = new Map<string, number>();
    for (const accountId of this.inFlight.values()) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    return [...counts]
      .filter(([, count]) => count >= MAX_DELIVERIES_OF_ACCOUNT)
      .map(([accountId]) => accountId);
  }

  private async deliver(claim: ClaimedQueue): Promise<void> {
    let step: Step = 'more';
    for (let sent = 0; step === 'more' && sent < MAX_EVENTS && !this.isStopping; sent++) {
      step = await this.deliverNext(claim, sent === 0 ? claim.failures : 0);
    }
    if (step !== 'failed') await this.queues.release(claim);
  }

  private async deliverNext(claim: ClaimedQueue, failures: number): Promise<Step> {
    const event = await this.queues.findNext(claim);
    if (event === null) return 'done';
    // A change of the rule holds for the next event.
    const rule = await this.rules.find(claim.accountId, claim.ruleId);
    if (rule?.enabled !== true) return 'done';
    if (event.isExpired) return this.bury(claim, event, 'expired', null);
    const outcome = await this.send(rule, event);
    switch (outcome.outcome) {
      case 'delivered':
        return this.conclude(claim, event, outcome);
      case 'refused':
      case 'too_large':
        return this.bury(claim, event, 'refused', outcome);
      case 'retry':
      case 'blocked':
        return this.retry(claim, event, outcome, failures);
    }
  }

  private async send(rule: NotificationRule, { id, payload }: PendingEvent): Promise<FinalOutcome> {
    try {
      return await this.client.send(rule, { id, body: payload }, this.abort.signal);
    } catch (error) {
      if (!(error instanceof UnusableConfig)) throw error;
      return { outcome: 'blocked', reason: error.message, status: null };
    }
  }

  private async conclude(claim: ClaimedQueue, event: PendingEvent, { status }: FinalOutcome): Promise<Step> {
    this.metrics.countAttempt('delivered');
    return (await this.queues.conclude(claim, event.id, 'delivered', { status, error: null }))
      ? 'more'
      : 'done';
  }

  private async bury(
    claim: ClaimedQueue,
    event: PendingEvent,
    reason: 'refused' | 'expired',
    outcome: FinalOutcome | null,
  ): Promise<Step> {
    this.metrics.countAttempt(reason);
    const error = outcome?.reason ?? 'no attempt has succeeded in time';
    const attempt = outcome && { status: outcome.status, error };
    return (await this.queues.conclude(claim, event.id, 'dead_letter', attempt, error)) ? 'more' : 'done';
  }

  private async retry(
    claim: ClaimedQueue,
    event: PendingEvent,
    outcome: Extract<FinalOutcome, { readonly outcome: 'retry' | 'blocked' }>,
    failures: number,
  ): Promise<Step> {
    // The request was cut by the end of this process, not by the receiver.
    if (this.abort.signal.aborted) return 'done';
    const { outcome: failureClass, status, reason } = outcome;
    this.metrics.countAttempt(failureClass);
    const delay = retryDelay(
      { ...outcome, class: failureClass },
      failures,
      this.config.deliveries,
      Math.random(),
    );
    await this.queues.fail(claim, event.id, { status, error: reason }, delay);
    return 'failed';
  }

  /** Never rejects. */
  private async countPending(): Promise<void> {
    try {
      this.metrics.notePending(await this.queues.countPending(MAX_COUNTED));
    } catch (error) {
      this.logger.debug({ error }, 'failed to count pending notifications');
    }
  }
}
