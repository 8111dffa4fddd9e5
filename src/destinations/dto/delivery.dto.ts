// The wire shapes of what operators see of deliveries: extensions of the contract, under the same prefix.
import { ApiProperty } from '@nestjs/swagger';
import type { ConnectionTest } from '../../deliveries/connection-test.js';
import type { StoredDeadLetter } from '../../persistence/deliveries/dead-letters.repository.js';
import type { DeliveryState } from '../../persistence/deliveries/delivery-states.repository.js';

const MESSAGE =
  'What the platform answered, cut; never a secret. After 24 hours, and with `privacy_mode`, the HTTP status alone.';

class ConnectionTestDto {
  @ApiProperty({ description: 'Whether the platform took the test.' })
  ok: boolean;

  @ApiProperty({ type: String, nullable: true, description: 'What is wrong; null when nothing is.' })
  reason: string | null;

  @ApiProperty({ type: 'integer' })
  duration_ms: number;
}

export class ConnectionTestResponseDto {
  @ApiProperty()
  data: ConnectionTestDto;
}

class SigningSecretDto {
  @ApiProperty({ example: 'whsec_...', description: '`whsec_` and base64.' })
  secret: string;
}

export class SigningSecretResponseDto {
  @ApiProperty()
  data: SigningSecretDto;
}

class DeliveryErrorDto {
  @ApiProperty({ format: 'date-time' })
  at: string;

  @ApiProperty({
    enum: ['retry', 'blocked'],
    description: '`retry`: it may pass. `blocked`: nothing is taken until somebody changes something.',
  })
  class: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status; null when there was no answer.',
  })
  status: number | null;

  @ApiProperty({ description: MESSAGE })
  message: string;
}

class DeliveriesDto {
  @ApiProperty({
    enum: ['active', 'retrying', 'paused', 'disabled'],
    description:
      '`paused`: the platform refuses everything and is asked again from time to time, or the stored rules or config cannot be used; `last_error` says why.',
  })
  status: string;

  @ApiProperty({ type: 'integer', description: 'Generations confirmed.' })
  delivered: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      'Generations given up, by reason: `expired`, `refused`, `too_large`, `rejected`, `content_gone`.',
    example: { expired: 3 },
  })
  dropped: object;

  @ApiProperty({ type: 'integer' })
  dead_letters: number;

  @ApiProperty({
    type: 'integer',
    description: 'Generations that wait, those that its rules will pass over included; counted up to 10000.',
  })
  pending: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  oldest_pending_at: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'Calls of the workspace since the beginning of yesterday (UTC) whose inputs were not stored, because the workspace ' +
      'was above its quota of stored contents. They are delivered without their input.',
  })
  contents_skipped: number;

  @ApiProperty({ type: 'integer', description: 'Failed attempts since the last success.' })
  failures: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_success_at: string | null;

  @ApiProperty({ type: DeliveryErrorDto, nullable: true })
  last_error: DeliveryErrorDto | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  next_attempt_at: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  paused_at: string | null;
}

export class DeliveriesResponseDto {
  @ApiProperty()
  data: DeliveriesDto;
}

class DeadLetterDto {
  @ApiProperty({ format: 'uuid' })
  generation_id: string;

  @ApiProperty({ format: 'date-time' })
  generation_created_at: string;

  @ApiProperty({ enum: ['refused', 'too_large'] })
  reason: string;

  @ApiProperty({ description: MESSAGE })
  message: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ description: 'Whether it is on its way again.' })
  replay_requested: boolean;
}

export class DeadLettersResponseDto {
  @ApiProperty({ type: [DeadLetterDto], description: 'Newest first.' })
  data: DeadLetterDto[];

  @ApiProperty({ type: 'integer' })
  total_count: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The `cursor` of the next page; null: there is none.',
  })
  next_cursor: string | null;
}

class ReplayDto {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Dead letters that are on their way again; null for a replay from a time.',
  })
  dead_letters: number | null;
}

export class ReplayResponseDto {
  @ApiProperty()
  data: ReplayDto;
}

export function toConnectionTestDto({ problem, durationMs }: ConnectionTest): ConnectionTestDto {
  return { ok: problem === null, reason: problem, duration_ms: durationMs };
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
  };
}
