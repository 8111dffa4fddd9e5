// The part of plain statements that writes audit entries together with their change.

/** PostgreSQL's types by the names of the model's fields. */
const FIELDS = {
  id: 'uuid',
  accountId: 'uuid',
  workspaceId: 'uuid',
  createdAt: 'timestamptz',
  actorHash: 'text',
  actorLabel: 'text',
  address: 'text',
  requestId: 'text',
  userAgent: 'text',
  action: 'text',
  objectType: 'text',
  objectId: 'text',
  before: 'jsonb',
  after: 'jsonb',
} as const;

/** An entry as a parameter of statements. */
export type NewAuditRow = Readonly<Record<keyof typeof FIELDS, unknown>>;

const COLUMNS = Object.keys(FIELDS)
  .map((name) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`))
  .join(', ');
const TYPED_MEMBERS = Object.entries(FIELDS)
  .map(([name, type]) => `"${name}" ${type}`)
  .join(', ');

/** The members that differ between the entries of one change. */
const OF_EACH: ReadonlySet<string> = new Set(['action', 'objectType', 'objectId', 'before', 'after']);
// The time prefix of `entry`'s id, and version 7: pages are read in the order of the ids.
const NEW_ID = '(left(entry.id::text, 15) || substr(gen_random_uuid()::text, 16))::uuid';

/**
 * Writes an entry for every row of the CTE, which has the members of OF_EACH. One entry, a JSON parameter, holds the
 * actor, the time and the origin of the change.
 */
export function recordEntryOfEach(parameter: string, change: string): string {
  const values = Object.keys(FIELDS).map((name) =>
    name === 'id' ? NEW_ID : `${OF_EACH.has(name) ? change : 'entry'}."${name}"`,
  );
  return `
  INSERT INTO audit_log (${COLUMNS})
  SELECT ${values.join(', ')} FROM json_to_record(${parameter}::json) AS entry (${TYPED_MEMBERS}), ${change}`;
}
