// Texts that the database can store unchanged.

export const NOT_WELL_FORMED = 'must not hold half a surrogate pair';
export const NOT_STORABLE = 'must not hold NUL or half a surrogate pair';

/** PostgreSQL stores no NUL, and no lone surrogate in JSON. */
export function isStorableText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** A rule for class-validator's ValidateBy. */
export const STORABLE_RULE = {
  name: 'isStorable',
  validator: { validate: isStorableText, defaultMessage: (): string => NOT_STORABLE },
};
