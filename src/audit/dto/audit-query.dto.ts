// The query of GET /audit. Contract: docs/contract.md#audit-log.
import { AUDIT_ACTIONS, AUDIT_OBJECT_TYPES, OBJECT_ID_RULE } from '../../domain/audit.js';
import type { AuditAction, AuditObjectType } from '../../domain/audit.js';
import { EnumField, LimitField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

// User ids are the longest object ids.
const MAX_OBJECT_ID_LENGTH = 256;

export class AuditQueryDto {
  @EnumField(AUDIT_OBJECT_TYPES, { optional: true, description: 'Only changes of objects of this type.' })
  object_type?: AuditObjectType;

  @TextField({ optional: true, hiddenMaxLength: MAX_OBJECT_ID_LENGTH, description: OBJECT_ID_RULE })
  object_id?: string;

  @UuidField({
    optional: true,
    description: 'Only changes of objects of this workspace, which may be deleted.',
  })
  workspace_id?: string;

  @EnumField(AUDIT_ACTIONS, { optional: true, description: 'Only changes with this action.' })
  action?: AuditAction;

  @TimeField({ optional: true, description: 'Start of the range, inclusive, in UTC.' })
  from?: string;

  @TimeField({ optional: true, description: 'End of the range, exclusive, in UTC.' })
  to?: string;

  @UuidField({ optional: true, description: 'The `next` of the previous page.' })
  after?: string;

  @LimitField({ maximum: 100, default: 50 })
  limit = 50;
}
