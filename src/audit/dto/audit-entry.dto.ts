// An entry of the audit log on the wire: an extension of the contract. Contract: docs/contract.md#audit-log.
import { maskAddresses } from '../../destination-kinds/shared/destination-kind.js';
import { findDestinationKind } from '../../destination-kinds/index.js';
import { AUDIT_ACTIONS, AUDIT_OBJECT_TYPES, OBJECT_ID_RULE } from '../../domain/audit.js';
import type { AuditedState, StoredAuditEntry } from '../../domain/audit.js';
import { FreeObjectField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

const OF_A_WORKSPACE =
  'Objects that a workspace deletion affects show only their name and the changed members.';

class AuditActorDto {
  @TextField({ nullable: true, description: 'Hash of the key that made the change. Null: a person made it.' })
  key_hash: string | null;
  @TextField({ nullable: true, description: 'Id of the person that made the change. Null: a key made it.' })
  user_id: string | null;
  @TextField({
    description: 'The label of the key, or the e-mail address of the person, at the time of the change.',
    example: 'sk-sb-v1-0e6...1c96',
  })
  key_label: string;
  @TextField({
    nullable: true,
    description: 'The present name of the key. Null: its record is purged, or a person.',
  })
  key_name: string | null;
  @TextField({ description: 'IP address.' }) ip: string;
  @TextField({ description: 'The `x-request-id` of the request.' }) request_id: string;
  @TextField({ nullable: true }) user_agent: string | null;
}

export class AuditEntryDto {
  @UuidField() id: string;
  @TimeField() created_at: string;
  @ObjectField(AuditActorDto) actor: AuditActorDto;
  @EnumField(AUDIT_ACTIONS) action: string;
  @EnumField(AUDIT_OBJECT_TYPES) object_type: string;
  @TextField({ description: OBJECT_ID_RULE }) object_id: string;
  @UuidField({ nullable: true, description: 'Null: the object belongs to no workspace.' })
  workspace_id: string | null;
  @FreeObjectField({
    nullable: true,
    description: `The object before the change, secrets abbreviated; null: it did not exist. ${OF_A_WORKSPACE}`,
  })
  before: object | null;
  @FreeObjectField({
    nullable: true,
    description: `The object after the change, secrets abbreviated; null: it no longer exists. ${OF_A_WORKSPACE}`,
  })
  after: object | null;
}

export class AuditLogResponseDto {
  @ObjectListField(AuditEntryDto, { description: 'Newest first.' }) data: AuditEntryDto[];
  @UuidField({ nullable: true, description: '`after` of the next page; null on the last page.' })
  next: string | null;
}

export function toAuditEntryDto(entry: StoredAuditEntry, actorName: string | null): AuditEntryDto {
  return {
    id: entry.id,
    created_at: entry.createdAt.toISOString(),
    actor: {
      key_hash: entry.actorHash,
      user_id: entry.actorUserId,
      key_label: entry.actorLabel,
      key_name: actorName,
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

/** Older entries contain the unmasked addresses of destinations, and entries are immutable: mask on read. */
function shownState(state: AuditedState | null): AuditedState | null {
  const { type, config } = (state ?? {}) as { readonly type?: unknown; readonly config?: unknown };
  const kind = typeof type === 'string' ? findDestinationKind(type) : undefined;
  if (!kind || typeof config !== 'object' || config === null) return state;
  return { ...state, config: maskAddresses(kind, { ...config }) };
}
