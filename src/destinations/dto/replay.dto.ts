// The body of a replay: from a time on, or of dead letters.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsUUID, ValidateIf } from 'class-validator';
import { IsUtcTime } from '../../http/fields/is-utc-time.js';
import { IfGiven } from '../../http/fields/optional-members.js';

const MAX_NAMED = 1_000;

export class CreateReplayDto {
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Everything made since then is delivered again; at most 24 hours ago.',
  })
  @IfGiven()
  @IsUtcTime()
  from?: string;

  @ApiPropertyOptional({
    oneOf: [
      { type: 'string', enum: ['all'] },
      { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1, maxItems: MAX_NAMED },
    ],
    description: 'Dead letters that are delivered again: all, or those of these generations.',
  })
  @ValidateIf(({ dead_letters: letters }: CreateReplayDto) => letters !== undefined && letters !== 'all')
  @IsArray({ message: 'must be "all" or a list of generation ids' })
  @ArrayMinSize(1, { message: 'must not be empty' })
  @ArrayMaxSize(MAX_NAMED, { message: `must have at most ${MAX_NAMED} members` })
  @IsUUID('all', { each: true, message: 'must be generation ids' })
  dead_letters?: 'all' | string[];
}
