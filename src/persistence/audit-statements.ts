// The part of plain statements that writes audit entries beside the change that they tell of.
import { columnsOf, membersOf, typedMembersOf } from './json-rows.js';

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

/** An entry as statements read it. */
export type NewAuditRow = Readonly<Record<keyof typeof FIELDS, unknown>>;

/** Writes those entries of a JSON parameter whose objects the CTE of the change has among its ids. */
export function recordEntries(parameter: string, change: string): string {
  return `
  INSERT INTO audit_log (${columnsOf(FIELDS)})
  SELECT ${membersOf(FIELDS)} FROM json_to_recordset(${parameter}::json) AS entry (${typedMembersOf(FIELDS)})
  WHERE "objectId" IN (SELECT id::text FROM ${change})`;
}
