// The rule for texts in requests that are stored.
import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength, ValidateBy } from 'class-validator';
import { STORABLE_RULE } from '../../domain/text/storable-text.js';

/** A string of at most `length` characters. */
export function IsStorableText(length: number): PropertyDecorator {
  // The first failing rule is told, and the first decorator of this list is the first rule.
  return applyDecorators(
    IsString({ message: 'must be a string' }),
    MaxLength(length, { message: `must have at most ${length} characters` }),
    ValidateBy(STORABLE_RULE),
  );
}
