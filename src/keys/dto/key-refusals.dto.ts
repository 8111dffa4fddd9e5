// The refused calls of a key on the wire. Contract: docs/contract.md#refusals.
import { REFUSAL_REASONS } from '../../domain/keys/refusal.js';
import type { KeyRefusals } from '../../domain/keys/refusal.js';
import { EnumField, IntegerField, TimeField } from '../../http/fields/scalar-fields.js';

export class KeyRefusalsDto {
  @IntegerField({ description: 'In the last 60 minutes.' }) last_hour: number;
  @IntegerField({ description: 'In this UTC hour and the 23 before.' }) last_day: number;
  @TimeField({ description: 'The first of them.' }) since: string;
  @TimeField({ description: 'The newest of them.' }) last_at: string;
  @EnumField(REFUSAL_REASONS, { description: 'Of the newest.' }) last_reason: string;
}

export function toKeyRefusalsDto({
  lastHour,
  lastDay,
  since,
  lastAt,
  lastReason,
}: KeyRefusals): KeyRefusalsDto {
  return {
    last_hour: lastHour,
    last_day: lastDay,
    since: since.toISOString(),
    last_at: lastAt.toISOString(),
    last_reason: lastReason,
  };
}
