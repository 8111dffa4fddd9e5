// The body of a replay: from a time, or of dead letters. Contract: docs/contract.md#delivery-operations.
import { ArrayMaxSize, ArrayMinSize, IsArray, IsUUID, ValidateIf } from 'class-validator';
import { CustomField } from '../../http/fields/compound-fields.js';
import { TimeField } from '../../http/fields/scalar-fields.js';

const MAX_NAMED = 1_000;

export class CreateReplayDto {
  @TimeField({
    optional: true,
    description: 'Delivers all generations since then again; at most 24 hours ago.',
  })
  from?: string;

  @CustomField(
    {
      oneOf: [
        { type: 'string', enum: ['all'] },
        { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1, maxItems: MAX_NAMED },
      ],
    },
    {
      optional: true,
      rules: [
        IsUUID('all', { each: true, message: 'must be generation ids' }),
        ArrayMaxSize(MAX_NAMED, { message: `must have at most ${MAX_NAMED} members` }),
        ArrayMinSize(1, { message: 'must not be empty' }),
        IsArray({ message: 'must be "all" or a list of generation ids' }),
        ValidateIf(({ dead_letters: letters }: CreateReplayDto) => letters !== 'all'),
      ],
      description: 'Dead letters to deliver again: all, or those of these generations.',
    },
  )
  dead_letters?: 'all' | string[];
}
