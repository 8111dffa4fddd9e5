// An entry of the audit log on the wire: an extension of the contract.
import { ApiProperty } from '@nestjs/swagger';
import { maskAddresses } from '../../destination-kinds/shared/destination-kind.js';
import { findDestinationKind } from '../../destination-kinds/index.js';
import { AUDIT_ACTIONS, AUDIT_OBJECT_TYPES, OBJECT_ID_RULE } from '../../domain/audit.js';
import type { AuditedState, StoredAuditEntry } from '../../domain/audit.js';

const OF_A_WORKSPACE = 'Of what goes with a workspace only what changed, and its name.';

class AuditActorDto {
  @ApiProperty({ description: 'Hash of the key that made the change.' })
  key_hash: string;

  @ApiProperty({ description: "The key's label at that time.", example: 'sk-sb-v1-0e6...1c96' })
  key_label: string;

  @ApiProperty({ description: 'IP address.' })
  ip: string;

  @ApiProperty({ description: 'The `x-request-id` of the request.' })
  request_id: string;

  @ApiProperty({ type: String, nullable: true })
  user_agent: string | null;
}

class AuditEntryDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty()
  actor: AuditActorDto;

  @ApiProperty({ enum: AUDIT_ACTIONS })
  action: string;

  @ApiProperty({ enum: AUDIT_OBJECT_TYPES })
  object_type: string;

  @ApiProperty({ description: OBJECT_ID_RULE })
  object_id: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Null: the object belongs to no workspace.',
  })
  workspace_id: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: `The object before the change, secrets abbreviated; null: it was not there. ${OF_A_WORKSPACE}`,
  })
  before: object | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: `The object after the change, secrets abbreviated; null: it is not there any more. ${OF_A_WORKSPACE}`,
  })
  after: object | null;
}

export class AuditLogResponseDto {
  @ApiProperty({ type: [AuditEntryDto], description: 'Newest first.' })
  data: AuditEntryDto[];

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'What `after` of the next page is; null on the last page.',
  })
  next: string | null;
}

export function toAuditEntryDto(entry: StoredAuditEntry): AuditEntryDto {
  return {
    id: entry.id,
    created_at: entry.createdAt.toISOString(),
    actor: {
      key_hash: entry.actorHash,
      key_label: entry.actorLabel,
      ip: entry.address,
      request_id: entry.requestId,
      user_agent: entry.userAgent,
    },
    action: entry.action,
    object_type: entry.objectType,
    object_id: entry.objectId,
    workspace_id: entry.workspaceId,
    before: shownState(entry.before),
    after: shownState(entry.after),
  };
}

/** Older entries have the addresses of destinations in clear, and no entry is ever changed. */
function shownState(state: AuditedState | null): AuditedState | null {
  const { type, config } = (state ?? {}) as { readonly type?: unknown; readonly config?: unknown };
  const kind = typeof type === 'string' ? findDestinationKind(type) : undefined;
  if (!kind || typeof config !== 'object' || config === null) return state;
  return { ...state, config: maskAddresses(kind, { ...config }) };
}
