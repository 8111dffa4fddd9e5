// The events of notification rules and the queues from which they are delivered.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EVENT_HOURS, EVENT_STATES } from '../../domain/notifications/notification-rule.js';
import type { EventState, NotificationEvent } from '../../domain/notifications/notification-rule.js';
import { Database } from '../database/database.js';
import { Notifications } from '../database/notifications.js';
import type { NotificationEventModel } from '../generated/models.js';
import {
  CLAIM_QUEUES,
  CONCLUDE_EVENT,
  COUNT_PENDING,
  FAIL_EVENT,
  LOCK_QUEUE,
  READ_NEXT_EVENT,
  RELEASE_QUEUE,
  REPLAY,
} from './notification-statements.js';

export interface NotificationRuleRef {
  readonly accountId: string;
  readonly ruleId: string;
}

/** A queue that this process delivers until its lease expires. */
export interface ClaimedQueue extends NotificationRuleRef {
  readonly claimId: string;
  /** Failed attempts since the last success, by any process. */
  readonly failures: number;
}

export interface PendingEvent {
  readonly id: string;
  readonly payload: string;
  readonly isExpired: boolean;
}

/** The result of an attempt. */
export interface EventAttempt {
  /** Null: no answer. */
  readonly status: number | null;
  /** Without words of the receiver; null: none. */
  readonly error: string | null;
}

export interface EventFilter {
  readonly state?: EventState | undefined;
  /** Only events older than this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

@Injectable()
export class NotificationQueuesRepository {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
  ) {}

  /** Newest first. */
  async listEvents(
    { accountId, ruleId }: NotificationRuleRef,
    { state, after, limit }: EventFilter,
  ): Promise<readonly NotificationEvent[]> {
    const rows = await this.database.prisma.notificationEvent.findMany({
      where: {
        accountId,
        ruleId,
        ...(state === undefined ? {} : { state }),
        ...(after === undefined ? {} : { id: { lt: after } }),
      },
      // Ids begin with the time.
      orderBy: { id: 'desc' },
      take: limit,
    });
    return rows.map(toEvent);
  }

  /** Claims queues with a due attempt, at most `limit`, of accounts that are not `busy`. */
  async claim(limit: number, busy: readonly string[]): Promise<readonly ClaimedQueue[]> {
    const claimId = randomUUID();
    const rows = await this.database.query<Omit<ClaimedQueue, 'claimId'>>({
      name: 'claim-notification-queues',
      text: CLAIM_QUEUES,
      values: [claimId, this.notifications.session, limit, busy],
    });
    return rows.map(({ accountId, ruleId, failures }) => ({ accountId, ruleId, failures, claimId }));
  }

  /** The oldest pending event; null: there is none. */
  async findNext({ accountId, ruleId }: NotificationRuleRef): Promise<PendingEvent | null> {
    const [event] = await this.database.query<PendingEvent & Record<string, unknown>>({
      name: 'read-next-notification-event',
      text: READ_NEXT_EVENT,
      values: [accountId, ruleId],
    });
    return event ?? null;
  }

  /** False: the claim was lost, or the rule is gone. `attempt` is null for an event that was not sent. */
  async conclude(
    claim: ClaimedQueue,
    eventId: string,
    state: Exclude<EventState, 'pending'>,
    attempt: EventAttempt | null,
    error: string | null = attempt?.error ?? null,
  ): Promise<boolean> {
    const rows = await this.database.query({
      name: 'conclude-notification-event',
      text: CONCLUDE_EVENT,
      values: [...keyOf(claim), eventId, state, attempt?.status ?? null, error, attempt !== null],
    });
    return rows.length === 1;
  }

  /** Ends the claim; the next attempt is due in `delay` milliseconds. */
  async fail(
    claim: ClaimedQueue,
    eventId: string,
    { status, error }: EventAttempt,
    delay: number,
  ): Promise<void> {
    await this.database.query({
      name: 'fail-notification-event',
      text: FAIL_EVENT,
      values: [...keyOf(claim), eventId, status, error, Math.ceil(delay)],
    });
  }

  /** Ends the claim; pending events are due at once. */
  async release(claim: ClaimedQueue): Promise<void> {
    await this.database.writeWithin(async (run) => {
      await run({ text: LOCK_QUEUE, values: keyOf(claim) });
      await run({ text: RELEASE_QUEUE, values: keyOf(claim) });
    });
  }

  /** Queues the dead letters of a rule again. Returns their number. */
  async replay({ accountId, ruleId }: NotificationRuleRef): Promise<number> {
    const rows = await this.database.query({ text: REPLAY, values: [accountId, ruleId, EVENT_HOURS] });
    return rows.length;
  }

  /** The number of pending events of all accounts, counted up to `max`. */
  async countPending(max: number): Promise<number> {
    const [row] = await this.database.query<{ pending: number }>({
      name: 'count-pending-notification-events',
      text: COUNT_PENDING,
      values: [max],
    });
    return row?.pending ?? 0;
  }
}

function keyOf({ accountId, ruleId, claimId }: ClaimedQueue): string[] {
  return [accountId, ruleId, claimId];
}

function toEvent(row: NotificationEventModel): NotificationEvent {
  const state = EVENT_STATES.find((known) => known === row.state);
  if (!state) throw new Error(`unknown state of an event: ${row.state}`);
  const { id, payload, attempts, lastStatus, lastError, createdAt, concludedAt } = row;
  return { id, payload, state, attempts, lastStatus, lastError, createdAt, concludedAt };
}
