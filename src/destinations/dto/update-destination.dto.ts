// The body of PATCH /observability/destinations/{id}. Source: contract 2.2; decisions 8 and 13.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { IfGiven } from '../../http/fields/optional-members.js';
import { DestinationOptionsDto, IsDestinationName } from './destination-options.dto.js';

export class UpdateDestinationDto extends DestinationOptionsDto {
  @ApiPropertyOptional({ example: 'Production traces' })
  @IfGiven()
  @IsDestinationName()
  name?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      "Members of the kind's config. What is not sent stays; a value as the record shows it, abbreviated, stays as " +
      'well, and another abbreviation is refused; null takes an optional member away. `headers` are replaced as a whole.',
    example: { url: 'https://example.com/traces' },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  config?: Readonly<Record<string, unknown>>;
}
