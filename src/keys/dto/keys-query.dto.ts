// The query of GET /keys. Source: contract 3.1.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsInt, IsUUID, Max, Min } from 'class-validator';
import { IfGiven } from '../../http/fields/optional-members.js';

const MAX_OFFSET = 1_000_000;

export class KeysQueryDto {
  @ApiPropertyOptional({ default: false, description: 'Whether disabled keys are listed as well.' })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  include_disabled: boolean = false;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MAX_OFFSET, default: 0 })
  @Type(() => Number)
  @Min(0, { message: 'must not be negative' })
  @Max(MAX_OFFSET, { message: `must be at most ${MAX_OFFSET}` })
  @IsInt({ message: 'must be a whole number' })
  offset = 0;

  @ApiPropertyOptional({
    format: 'uuid',
    description:
      "Absent: the account's default workspace. Either may be deleted: management keys in it go on working.",
  })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;
}
