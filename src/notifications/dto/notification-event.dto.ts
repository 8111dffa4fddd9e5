// The events of a notification on the wire. Contract: docs/contract.md#notifications.
import { EVENT_STATES } from '../../domain/notifications/notification-rule.js';
import type { EventState, NotificationEvent } from '../../domain/notifications/notification-rule.js';
import { FreeObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  IntegerField,
  LimitField,
  TextField,
  TimeField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

export class NotificationEventsQueryDto {
  @EnumField(EVENT_STATES, { optional: true, description: 'Only events in this state.' })
  state?: EventState;

  @UuidField({ optional: true, description: 'The `next` of the previous page.' })
  after?: string;

  @LimitField({ maximum: 100, default: 50 })
  limit = 50;
}

class NotificationEventDto {
  @UuidField({ description: 'The `webhook-id` of its requests.' }) id: string;
  @EnumField(EVENT_STATES, {
    description: '`dead_letter`: the receiver refused it, or no attempt succeeded within 24 hours.',
  })
  state: string;
  @IntegerField({ description: 'Finished attempts.' }) attempts: number;
  @IntegerField({ nullable: true, description: 'HTTP status of the last attempt; null: no response.' })
  last_status: number | null;
  @TextField({ nullable: true, description: 'Why the last attempt failed; null: it did not.' })
  last_error: string | null;
  @TimeField() created_at: string;
  @TimeField({ nullable: true, description: 'When it was delivered or became a dead letter; null: pending.' })
  concluded_at: string | null;
  @FreeObjectField({ description: 'The body of its requests.' }) payload: object;
}

export class NotificationEventsResponseDto {
  @ObjectListField(NotificationEventDto, { description: 'Newest first.' }) data: NotificationEventDto[];
  @UuidField({ nullable: true, description: '`after` of the next page; null on the last page.' })
  next: string | null;
}

export class NotificationReplayDto {
  @IntegerField({ description: 'Number of dead letters queued for delivery.' }) dead_letters: number;
}

export function toNotificationEventDto(event: NotificationEvent): NotificationEventDto {
  return {
    id: event.id,
    state: event.state,
    attempts: event.attempts,
    last_status: event.lastStatus,
    last_error: event.lastError,
    created_at: event.createdAt.toISOString(),
    concluded_at: event.concludedAt?.toISOString() ?? null,
    payload: JSON.parse(event.payload) as object,
  };
}
