// What a request says of an object's members.

/** The members that are there, null included. */
export function withoutAbsent<Members extends object>(members: Members): Given<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Given<Members>;
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** To be filled in as its members come to be known. */
export type Unfinished<Members> = { -readonly [Name in keyof Members]: Members[Name] };
