// The deliveries of one generation on the wire: an extension of the contract. Contract: docs/contract.md#generations.
import { ObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  TextField,
  TimeField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import { DELIVERY_STATES } from '../generation-deliveries.service.js';
import type { GenerationDelivery } from '../generation-deliveries.service.js';

class LastDeliveryErrorDto {
  @TimeField() at: string;
  @EnumField(['retry', 'blocked', 'refused']) class: string;
  @IntegerField({ nullable: true, description: 'HTTP status; null: no response.' }) status: number | null;
  @TextField({ description: 'The response of the platform, as in the delivery status of the destination.' })
  message: string;
}

export class GenerationDeliveryDto {
  @UuidField() destination_id: string;
  @TextField() name: string;
  @TextField({ example: 'langfuse' }) type: string;
  @EnumField(DELIVERY_STATES, {
    description:
      '`delivered`: the destination has passed this call in its log. `waiting`, `retrying`, `paused`: it has not. ' +
      '`dead_letter`: the platform rejected it. `dropped`: it was passed over without a delivery. `not_selected`: the rules, ' +
      'as they are now, exclude it. `unknown`: a rule on the input cannot be evaluated again.',
  })
  state: string;
  @TextField({
    nullable: true,
    example: null,
    description:
      'dead_letter: `refused`, `too_large`. dropped: `expired`, `rejected`, `content_gone`, or null for one of several. ' +
      'not_selected: `disabled`, `workspace_disabled`, `before_start`, `region`, `api_key`, `sampling`, `filter`. ' +
      'unknown: `content_gone`.',
  })
  reason: string | null;
  @TimeField({
    nullable: true,
    description:
      'The newest successful delivery of the destination: no later than this, the call was delivered.',
  })
  delivered_before: string | null;
  @TimeField({ nullable: true, description: 'While retrying or paused.' }) next_attempt_at: string | null;
  @ObjectField(LastDeliveryErrorDto, { nullable: true, description: 'While retrying or paused.' })
  last_error: LastDeliveryErrorDto | null;
  @FlagField({
    description: 'Whether the destination was changed after the call: its rules may have been others.',
  })
  rules_changed: boolean;
}

export function toGenerationDeliveryDto(delivery: GenerationDelivery): GenerationDeliveryDto {
  const { destination, lastError } = delivery;
  return {
    destination_id: destination.id,
    name: destination.name,
    type: destination.type,
    state: delivery.state,
    reason: delivery.reason,
    delivered_before: delivery.deliveredBefore?.toISOString() ?? null,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_error: lastError && { ...lastError, at: lastError.at.toISOString() },
    rules_changed: delivery.isChanged,
  };
}
