// Which text the database can keep as it came, and the rule for texts in requests.
import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength, ValidateBy } from 'class-validator';

export const NOT_STORABLE = 'must not hold NUL or half a surrogate pair';

/** PostgreSQL stores no NUL, and no half of a surrogate pair in JSON. */
export function isStorableText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** A string of at most `length` characters. */
export function IsStorableText(length: number): PropertyDecorator {
  // The first failing rule is told, and the first decorator of this list is the first rule.
  return applyDecorators(
    IsString({ message: 'must be a string' }),
    MaxLength(length, { message: `must have at most ${length} characters` }),
    ValidateBy({
      name: 'isStorable',
      validator: { validate: isStorableText, defaultMessage: () => NOT_STORABLE },
    }),
  );
}
