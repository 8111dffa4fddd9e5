// The query of GET /observability/destinations. Source: contract 2.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { IfGiven } from '../../http/fields/optional-members.js';

export class DestinationsQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;
}
