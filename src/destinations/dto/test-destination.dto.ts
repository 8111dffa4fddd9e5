// The body of POST /observability/destinations/test. Contract: docs/contract.md#delivery-operations.
import { PickType } from '@nestjs/swagger';
import { UuidField } from '../../http/fields/scalar-fields.js';
import { CreateDestinationDto } from './create-destination.dto.js';

export class TestDestinationDto extends PickType(CreateDestinationDto, ['type', 'config'] as const) {
  @UuidField({
    optional: true,
    description: 'The destination whose stored secrets replace abbreviated values of `config`.',
  })
  destination_id?: string;
}
