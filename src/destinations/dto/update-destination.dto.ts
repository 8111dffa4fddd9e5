// The body of PATCH /observability/destinations/{id}. Contract: docs/contract.md#destinations, #masking.
import { FreeObjectField } from '../../http/fields/compound-fields.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import { DestinationDto } from './destination.dto.js';
import { DestinationNameField, DestinationOptionsDto } from './destination-options.dto.js';

@TakesRecord(DestinationDto)
export class UpdateDestinationDto extends DestinationOptionsDto {
  @DestinationNameField({ optional: true })
  name?: string;

  @FreeObjectField({
    optional: true,
    description:
      "Members of the kind's config. Omitted members keep their value. An abbreviated value as the record shows it keeps " +
      'the stored value; any other abbreviation is rejected. Null removes an optional member. `headers` are replaced as a whole.',
    example: { url: 'https://example.com/traces' },
  })
  config?: Readonly<Record<string, unknown>>;

  @FixedField() type?: string;
  @FixedField() workspace_id?: string;
}
