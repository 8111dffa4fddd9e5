// The operators' view and control of the events of a notification.
import { Injectable } from '@nestjs/common';
import { BucketRate, MemoryBuckets } from '../auth/token-buckets.js';
import { WebhookSignatures } from '../deliveries/batches/webhook-signatures.js';
import { NotificationClient } from '../deliveries/notifications/notification-client.js';
import { Clock } from '../domain/clock.js';
import { MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import type { ConnectionTest } from '../domain/destinations/delivery.js';
import { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { Manager } from '../domain/people/manager.js';
import { testPayload } from '../domain/notifications/notification-payload.js';
import type { NotificationEvent } from '../domain/notifications/notification-rule.js';
import { rateLimitExceeded } from '../domain/rate-limit.js';
import { NotificationQueuesRepository } from '../persistence/notifications/notification-queues.repository.js';
import type { NotificationEventsQueryDto } from './dto/notification-event.dto.js';
import { NotificationsService } from './notifications.service.js';

export interface NotificationEventPage {
  readonly events: readonly NotificationEvent[];
  /** Null: there is no next page. */
  readonly next: string | null;
}

// Accounts whose tests a process counts.
const MAX_TESTING_ACCOUNTS = 10_000;

@Injectable()
export class NotificationEventsService {
  private readonly tests = new MemoryBuckets(new BucketRate(MAX_TESTS_PER_MINUTE), MAX_TESTING_ACCOUNTS);

  constructor(
    private readonly notifications: NotificationsService,
    private readonly queues: NotificationQueuesRepository,
    private readonly client: NotificationClient,
    private readonly signatures: WebhookSignatures,
    private readonly clock: Clock,
  ) {}

  async list(
    manager: Manager,
    id: string,
    { state, after, limit }: NotificationEventsQueryDto,
  ): Promise<NotificationEventPage> {
    const { accountId, id: ruleId } = await this.notifications.get(manager, id);
    // One more event shows whether there is a next page.
    const found = await this.queues.listEvents({ accountId, ruleId }, { state, after, limit: limit + 1 });
    const events = found.slice(0, limit);
    return { events, next: found.length > limit ? (events.at(-1)?.id ?? null) : null };
  }

  /** Sends a signed test event. The limit holds for each account in each process. */
  async test(manager: Manager, id: string): Promise<ConnectionTest> {
    const rule = await this.notifications.get(manager, id);
    const now = this.clock.now();
    const retryAfter = this.tests.take(manager.accountId, now.getTime());
    if (retryAfter > 0) {
      throw rateLimitExceeded({
        limit: MAX_TESTS_PER_MINUTE,
        retryAfter,
        now,
        detail: () => `notifications can be tested ${MAX_TESTS_PER_MINUTE} times a minute`,
      });
    }
    const startedAt = performance.now();
    const event = { id: uuidV7(now), now };
    const body = testPayload(rule, event);
    const outcome = await this.client.send(rule, { id: event.id, body }, new AbortController().signal);
    const problem = outcome.outcome === 'delivered' ? null : outcome.reason;
    return { problem, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** The secret by which the receiver verifies signatures. */
  async signingSecret(manager: Manager, id: string): Promise<string> {
    const rule = await this.notifications.get(manager, id);
    return this.signatures.secretOf(rule.id);
  }

  /** Queues the dead letters again. Returns their number. */
  async replay(manager: Manager, id: string): Promise<number> {
    const { accountId, id: ruleId, enabled } = await this.notifications.get(manager, id);
    if (!enabled) {
      throw new AppError('conflict', { detail: 'the notification is switched off; switch it on first' });
    }
    return this.queues.replay({ accountId, ruleId });
  }
}
