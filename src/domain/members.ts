// The forms of JSON values, and helpers for the members of an object.

/** An object of JSON: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As Array.isArray(), for lists that are only read. */
export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Neither absent nor null. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

/** The members that are not undefined; null stays. */
export function omitUndefined<Members extends object>(members: Members): Defined<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Defined<Members>;
}

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** An object under construction. */
export type Mutable<Members> = { -readonly [Name in keyof Members]: Members[Name] };
