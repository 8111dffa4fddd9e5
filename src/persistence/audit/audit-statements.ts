// Plain statements of the audit log: the part that writes entries together with their change, and the list.
import type pg from 'pg';
import { firstUuidOf } from '../../domain/identifiers.js';

/** PostgreSQL's types by the names of the model's fields. */
const FIELDS = {
  id: 'uuid',
  accountId: 'uuid',
  workspaceId: 'uuid',
  createdAt: 'timestamptz',
  actorHash: 'text',
  actorUserId: 'text',
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

const columnOf = (field: string): string => field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
const COLUMNS = Object.keys(FIELDS).map(columnOf).join(', ');
const SELECTED = Object.keys(FIELDS)
  .map((field) => `${columnOf(field)} AS "${field}"`)
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

export interface AuditFilter {
  readonly objectType?: string | undefined;
  readonly objectId?: string | undefined;
  readonly workspaceId?: string | undefined;
  /** Null: those of the account, and of all its workspaces. */
  readonly workspaceIds: readonly string[] | null;
  readonly action?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
  /** Only entries older than this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Newest first. Each condition is one of an index that ends with the id. Ids begin with the time, so that a range of
 * time is one of ids.
 */
export function listEntries(accountId: string, filter: AuditFilter): pg.QueryConfig {
  const { workspaceId, workspaceIds } = filter;
  const conditions: readonly (readonly [condition: string, value: unknown])[] = [
    ['account_id = ?', accountId],
    ['object_type = ?', filter.objectType],
    ['object_id = ?', filter.objectId],
    ['workspace_id = ?', workspaceId],
    ['workspace_id = ANY (?)', workspaceIds ?? undefined],
    ['action = ?', filter.action],
    ['id < ?', filter.after],
    ['id >= ?', filter.from && firstUuidOf(filter.from)],
    ['id < ?', filter.to && firstUuidOf(filter.to)],
  ];
  const asked = conditions.filter(([, value]) => value !== undefined);
  const where = asked.map(([condition], index) => condition.replace('?', `$${index + 1}`)).join(' AND ');
  return {
    text: `SELECT ${SELECTED} FROM audit_log WHERE ${where} ORDER BY id DESC LIMIT $${asked.length + 1}`,
    values: [...asked.map(([, value]) => value), filter.limit],
  };
}
