// The queries of lists. Contract: docs/contract.md#conventions.
import { IntegerField } from '../fields/scalar-fields.js';

const MAX_LIMIT = 100;

export class PageQueryDto {
  @IntegerField({
    query: true,
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'Number of items to skip.',
  })
  offset = 0;

  @IntegerField({
    query: true,
    minimum: 1,
    maximum: MAX_LIMIT,
    rangeMessage: `must be from 1 to ${MAX_LIMIT}`,
    default: 50,
    description: 'Maximum number of items to return.',
  })
  limit = 50;
}

/** A list without parameters: a misspelt one is rejected. */
export class EmptyQueryDto {}
