// The number of models on the wire. Contract: docs/contract.md#models.
import { IntegerField } from '../../http/fields/scalar-fields.js';

export class ModelCountDto {
  @IntegerField({ example: 42 }) count: number;
}
