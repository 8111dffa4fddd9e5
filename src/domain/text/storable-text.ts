// Which text the database can keep as it came.

export const NOT_STORABLE = 'must not hold NUL or half a surrogate pair';

/** PostgreSQL stores no NUL, and no half of a surrogate pair in JSON. */
export function isStorableText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** As class-validator's ValidateBy takes it. */
export const STORABLE_RULE = {
  name: 'isStorable',
  validator: { validate: isStorableText, defaultMessage: (): string => NOT_STORABLE },
};
