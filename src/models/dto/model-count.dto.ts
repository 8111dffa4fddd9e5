// The number of models on the wire. Contract: docs/contract.md#models.
import { ObjectField } from '../../http/fields/compound-fields.js';
import { IntegerField } from '../../http/fields/scalar-fields.js';

class ModelCountDto {
  @IntegerField({ example: 42 }) count: number;
}

export class ModelCountResponseDto {
  @ObjectField(ModelCountDto) data: ModelCountDto;
}
