// How plain statements read rows that are handed to them as JSON, by the names of fields or of columns.

/** PostgreSQL's types by the names of a model's fields. */
export type RowFields = Readonly<Record<string, string>>;

/** The columns, as the models name them. */
export function columnsOf(fields: RowFields): string {
  return Object.keys(fields)
    .map((name) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`))
    .join(', ');
}

/** The members, in the order of the columns. */
export function membersOf(fields: RowFields): string {
  return Object.keys(fields)
    .map((name) => `"${name}"`)
    .join(', ');
}

/** The members with their types, as json_to_recordset wants them. */
export function typedMembersOf(fields: RowFields): string {
  return Object.entries(fields)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', ');
}
