// SQL fragments for statements that read rows from a JSON parameter, by names of fields or columns.

/** PostgreSQL's types by the names of a model's fields. */
export type RowFields = Readonly<Record<string, string>>;

/** The columns, by their names in the models. */
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

/** The members with their types, as json_to_recordset requires. */
export function typedMembersOf(fields: RowFields): string {
  return Object.entries(fields)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', ');
}
