// The query of GET /audit.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsUUID, Max, Min } from 'class-validator';
import { AUDIT_ACTIONS, AUDIT_OBJECT_TYPES, OBJECT_ID_RULE } from '../../domain/audit.js';
import type { AuditAction, AuditObjectType } from '../../domain/audit.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import { IsUtcTime } from '../../http/fields/is-utc-time.js';
import { IsStorableText } from '../../http/fields/storable-text.js';

const MAX_LIMIT = 100;
// The longest are users' ids.
const MAX_OBJECT_ID_LENGTH = 256;

export class AuditQueryDto {
  @ApiPropertyOptional({ enum: AUDIT_OBJECT_TYPES, description: 'Only changes of such objects.' })
  @IfGiven()
  @IsIn(AUDIT_OBJECT_TYPES, { message: `must be one of ${AUDIT_OBJECT_TYPES.join(', ')}` })
  object_type?: AuditObjectType;

  @ApiPropertyOptional({ description: OBJECT_ID_RULE })
  @IfGiven()
  @IsStorableText(MAX_OBJECT_ID_LENGTH)
  object_id?: string;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'Only changes of what belongs to this workspace, which may be deleted.',
  })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;

  @ApiPropertyOptional({ enum: AUDIT_ACTIONS, description: 'Only such changes.' })
  @IfGiven()
  @IsIn(AUDIT_ACTIONS, { message: `must be one of ${AUDIT_ACTIONS.join(', ')}` })
  action?: AuditAction;

  @ApiPropertyOptional({ format: 'date-time', description: 'The earliest moment, in UTC.' })
  @IfGiven()
  @IsUtcTime()
  from?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Behind the latest moment, in UTC.' })
  @IfGiven()
  @IsUtcTime()
  to?: string;

  @ApiPropertyOptional({ format: 'uuid', description: 'The `next` of the page before.' })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  after?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 50 })
  @Type(() => Number)
  @Min(1, { message: `must be from 1 to ${MAX_LIMIT}` })
  @Max(MAX_LIMIT, { message: `must be from 1 to ${MAX_LIMIT}` })
  @IsInt({ message: 'must be a whole number' })
  limit = 50;
}
