// Delivery operations on the wire: extensions under the contract's prefix. Contract: docs/contract.md#delivery-operations.
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { FreeObjectField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  TextField,
  TimeField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import type { StoredDeadLetter } from '../../persistence/deliveries/dead-letters.repository.js';
import type { DeliveryState } from '../../persistence/deliveries/delivery-states.repository.js';

const MESSAGE =
  'The response of the platform, truncated, without secrets. Only the HTTP status after 24 hours, and with `privacy_mode`.';

class DeliveryErrorDto {
  @TimeField() at: string;
  @EnumField(['retry', 'blocked', 'refused'], {
    description:
      '`retry`: a later attempt may succeed. `blocked`: deliveries fail until the configuration changes. ' +
      '`refused`: a generation became a dead letter.',
  })
  class: string;
  @IntegerField({ nullable: true, description: 'HTTP status; null: no response.' }) status: number | null;
  @TextField({ description: MESSAGE }) message: string;
}

export class DeliveriesDto {
  @EnumField(['active', 'retrying', 'paused', 'disabled'], {
    description:
      '`paused`: the platform rejects all deliveries and is probed periodically, or the stored rules or config are invalid; `last_error` has the reason.',
  })
  status: string;
  @IntegerField({ description: 'Delivered generations.' }) delivered: number;
  @FreeObjectField({
    members: { type: 'integer' },
    description:
      'Dropped generations, by reason: `expired`, `refused`, `too_large`, `rejected`, `content_gone`.',
    example: { expired: 3 },
  })
  dropped: object;
  @IntegerField({ description: 'Without those that a replay has delivered.' }) dead_letters: number;
  @IntegerField({
    description: 'Undelivered generations, including those that its rules exclude; counted up to 10000.',
  })
  pending: number;
  @TimeField({ nullable: true }) oldest_pending_at: string | null;
  @IntegerField({
    description:
      'Calls of the workspace since the start of yesterday (UTC) whose inputs were not stored because the workspace ' +
      'exceeded its content quota. They are delivered without their input.',
  })
  contents_skipped: number;
  @IntegerField({ description: 'Failed attempts since the last success.' }) failures: number;
  @TimeField({ nullable: true }) last_success_at: string | null;
  @ObjectField(DeliveryErrorDto, { nullable: true }) last_error: DeliveryErrorDto | null;
  @TimeField({ nullable: true }) next_attempt_at: string | null;
  @TimeField({ nullable: true }) paused_at: string | null;
}

export class DestinationDeliveriesDto extends DeliveriesDto {
  @UuidField() destination_id: string;
}

class DeadLetterDto {
  @UuidField() generation_id: string;
  @TimeField() generation_created_at: string;
  @EnumField(['refused', 'too_large']) reason: string;
  @TextField({ description: MESSAGE }) message: string;
  @TimeField() created_at: string;
  @FlagField({ description: 'Whether it is queued for another delivery.' }) replay_requested: boolean;
  @EnumField(['delivered', 'rejected'], {
    nullable: true,
    description: 'The result of the last replay; null: none has ended.',
  })
  replay_result: string | null;
  @TimeField({ nullable: true, description: 'When the last replay ended.' }) replayed_at: string | null;
}

export class DeadLettersResponseDto {
  @ObjectListField(DeadLetterDto, { description: 'Newest first.' }) data: DeadLetterDto[];
  @IntegerField() total_count: number;
  @TextField({ nullable: true, description: 'The `cursor` of the next page; null on the last page.' })
  next_cursor: string | null;
}

export class ReplayDto {
  @IntegerField({
    nullable: true,
    description: 'Number of dead letters queued for delivery; null for a replay from a time.',
  })
  dead_letters: number | null;
}

export function toDeliveriesDto(state: DeliveryState, isEnabled: boolean): DeliveriesDto {
  return {
    status: statusOf(state, isEnabled),
    delivered: state.delivered,
    dropped: state.dropped,
    contents_skipped: state.contentsSkipped,
    dead_letters: state.deadLetters,
    pending: state.pending,
    oldest_pending_at: state.oldestPendingAt?.toISOString() ?? null,
    failures: state.failures,
    last_success_at: state.lastSuccessAt?.toISOString() ?? null,
    last_error: state.lastError && { ...state.lastError, at: state.lastError.at.toISOString() },
    next_attempt_at: state.nextAttemptAt?.toISOString() ?? null,
    paused_at: state.pausedAt?.toISOString() ?? null,
  };
}

function statusOf({ pausedAt, failures }: DeliveryState, isEnabled: boolean): string {
  if (!isEnabled) return 'disabled';
  if (pausedAt !== null) return 'paused';
  return failures > 0 ? 'retrying' : 'active';
}

export function toDeadLetterDto(letter: StoredDeadLetter): DeadLetterDto {
  return {
    generation_id: letter.generationId,
    generation_created_at: letter.generationCreatedAt.toISOString(),
    reason: letter.reason,
    message: letter.message,
    created_at: letter.createdAt.toISOString(),
    replay_requested: letter.isReplayRequested,
    replay_result: letter.replay && (letter.replay.isDelivered ? 'delivered' : 'rejected'),
    replayed_at: letter.replay?.at.toISOString() ?? null,
  };
}

/** The query of GET /observability/destinations/{id}/dead-letters. */
export class DeadLettersQueryDto extends PageQueryDto {
  @TextField({
    optional: true,
    hiddenMaxLength: 200,
    description:
      'The `next_cursor` of the previous page. Continues behind it, regardless of later dead letters. Replaces `offset`.',
  })
  cursor?: string;
}
