// The queries of lists. Contract: docs/contract.md#conventions.
import { IntegerField, LimitField } from '../fields/scalar-fields.js';

export class PageQueryDto {
  @IntegerField({
    query: true,
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'Number of items to skip.',
  })
  offset = 0;

  @LimitField({ maximum: 100, default: 50, description: 'Maximum number of items to return.' })
  limit = 50;
}

/** A list without parameters: a misspelt one is rejected. */
export class EmptyQueryDto {}
