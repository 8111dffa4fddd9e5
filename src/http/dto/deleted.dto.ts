// The response of a deletion. Contract: docs/contract.md#conventions.
import { EnumField } from '../fields/scalar-fields.js';

export class DeletedDto {
  @EnumField([true]) deleted: boolean;
}
