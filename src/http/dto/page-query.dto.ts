// The query of a list: where a page begins and how long it is. Source: contract 2.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

const MAX_OFFSET = 1_000_000;
const MAX_LIMIT = 100;

export class PageQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OFFSET,
    default: 0,
    description: 'How many are left out first.',
  })
  @Type(() => Number)
  @Min(0, { message: 'must not be negative' })
  @Max(MAX_OFFSET, { message: `must be at most ${MAX_OFFSET}` })
  @IsInt({ message: 'must be a whole number' })
  offset = 0;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: 50,
    description: 'How many at most.',
  })
  @Type(() => Number)
  @Min(1, { message: `must be from 1 to ${MAX_LIMIT}` })
  @Max(MAX_LIMIT, { message: `must be from 1 to ${MAX_LIMIT}` })
  @IsInt({ message: 'must be a whole number' })
  limit = 50;
}
