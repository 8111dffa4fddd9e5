// What a request says of an object's members.

/** The members that are there, null included. */
export function omitUndefined<Members extends object>(members: Members): Defined<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Defined<Members>;
}

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** To be filled in as its members come to be known. */
export type Mutable<Members> = { -readonly [Name in keyof Members]: Members[Name] };
