// The statement that creates destinations.
//
// Why plain SQL: it finds free slots, reads the end of the log and writes three rows for each destination of a batch,
// in one round trip and one commit. The unique key on the slot decides.
import { MAX_DESTINATIONS_PER_KIND } from '../../domain/destinations/destination.js';
import { recordEntries } from '../audit/audit-statements.js';
import { columnsOf, membersOf, typedMembersOf } from '../database/rows/json-rows.js';
import { LOG_SNAPSHOT, horizonOf } from '../generations/log-offset.js';

const FIELDS = {
  id: 'uuid',
  workspaceId: 'uuid',
  accountId: 'uuid',
  kind: 'text',
  type: 'text',
  name: 'text',
  enabled: 'boolean',
  privacyMode: 'boolean',
  broadcastCost: 'boolean',
  broadcastIdentity: 'boolean',
  broadcastRequestContext: 'boolean',
  samplingRate: 'float8',
  apiKeyHashes: 'text[]',
  filterRules: 'jsonb',
  needsContent: 'boolean',
  regions: 'text[]',
  configCiphertext: 'bytea',
  configEncryptionKeyId: 'text',
  version: 'integer',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
} as const;

/** A destination as a parameter of the statement, without its slot. */
export type NewDestinationRow = Readonly<Record<keyof typeof FIELDS, unknown>> & { readonly id: string };

/**
 * $1 destinations as JSON rows, $2 their audit entries.
 *
 * Returns the results in order. `hasWorkspace` is false when the account has no such workspace, `hasSlot` when all
 * slots are taken. `isCreated` alone is false when another transaction took the slot: no row of it is written, and
 * the caller retries.
 *
 * The cursors are after every committed generation and before every later one. Slots are taken in one order
 * everywhere, so that concurrent creations wait instead of deadlocking. A scalar subquery looks a workspace up: for
 * EXISTS the planner would read all of them.
 */
export const CREATE_DESTINATIONS = `
WITH asked AS (
  SELECT destination.*, coalesce((
    SELECT account_id = "accountId" AND deleted_at IS NULL FROM workspaces AS workspace WHERE workspace.id = "workspaceId"
  ), false) AS "hasWorkspace"
  FROM ROWS FROM (json_to_recordset($1::json) AS (${typedMembersOf(FIELDS)}))
    WITH ORDINALITY AS destination (${membersOf(FIELDS)}, ordinal)
), wanted AS (
  SELECT *, row_number() OVER (PARTITION BY "workspaceId", kind ORDER BY ordinal) AS turn FROM asked WHERE "hasWorkspace"
), places AS MATERIALIZED (
  SELECT "workspaceId", kind, ARRAY(
    SELECT taken.slot FROM destinations AS taken
    WHERE taken.workspace_id = "workspaceId" AND taken.kind = wanted.kind AND taken.slot IS NOT NULL
  ) AS taken
  FROM wanted GROUP BY "workspaceId", kind
), free AS (
  SELECT "workspaceId", kind, slot, row_number() OVER (PARTITION BY "workspaceId", kind ORDER BY slot) AS turn
  FROM places CROSS JOIN generate_series(1, ${MAX_DESTINATIONS_PER_KIND}) AS slot WHERE slot <> ALL (taken)
), placed AS (
  SELECT * FROM wanted JOIN free USING ("workspaceId", kind, turn)
), made AS (
  INSERT INTO destinations (slot, ${columnsOf(FIELDS)})
  SELECT slot, ${membersOf(FIELDS)} FROM placed ORDER BY "workspaceId", kind, slot
  ON CONFLICT (workspace_id, kind, slot) DO NOTHING
  RETURNING workspace_id, id, filter_rules
), log AS MATERIALIZED (
  SELECT ${LOG_SNAPSHOT} AS snapshot
), started AS (
  INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal, start_snapshot)
  SELECT workspace_id, id, ${horizonOf('snapshot')} - 1, ${2 ** 31 - 1}, snapshot FROM made, log
), recorded AS (${recordEntries('$2', 'made')}
)
SELECT "hasWorkspace", asked.id IN (SELECT id FROM placed) AS "hasSlot", made.id IS NOT NULL AS "isCreated",
  made.filter_rules AS "filterRules"
FROM asked LEFT JOIN made ON made.id = asked.id ORDER BY ordinal`;
