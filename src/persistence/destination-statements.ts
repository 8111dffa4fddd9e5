// The text of the statement that creates destinations.
//
// Why plain SQL: finding free slots, reading where the log ends and writing three rows for each destination are one round
// trip and one commit here, for all that are asked for at the same time. What decides is the unique key on the slot.
import { MAX_DESTINATIONS_PER_KIND } from '../domain/destination.js';
import { recordEntries } from './audit-statements.js';
import { columnsOf, membersOf, typedMembersOf } from './json-rows.js';
import { LOG_HORIZON } from './log-offset.js';

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

/** A destination as the statement reads it, without its slot. */
export type NewDestinationRow = Readonly<Record<keyof typeof FIELDS, unknown>> & { readonly id: string };

/**
 * $1 destinations as JSON rows, $2 their audit entries.
 *
 * Answers those for which there was a free slot. `isMade` is false when somebody else has just taken the one that was
 * found: then nothing is written of it, and whoever asked has to look again. The cursors stand behind everything that is
 * committed and before everything that is not yet. Slots are taken in one order everywhere, so that those who want the
 * same ones wait for each other instead of deadlocking.
 */
export const CREATE_DESTINATIONS = `
WITH wanted AS (
  SELECT *, row_number() OVER (PARTITION BY "workspaceId", kind ORDER BY ordinal) AS turn
  FROM ROWS FROM (json_to_recordset($1::json) AS (${typedMembersOf(FIELDS)}))
    WITH ORDINALITY AS destination (${membersOf(FIELDS)}, ordinal)
), places AS (
  SELECT DISTINCT "workspaceId", kind FROM wanted
), free AS (
  SELECT "workspaceId", kind, slot, row_number() OVER (PARTITION BY "workspaceId", kind ORDER BY slot) AS turn
  FROM places CROSS JOIN LATERAL (
    SELECT slot FROM generate_series(1, ${MAX_DESTINATIONS_PER_KIND}) AS slot
    WHERE slot <> ALL (ARRAY(
      SELECT taken.slot FROM destinations AS taken
      WHERE taken.workspace_id = places."workspaceId" AND taken.kind = places.kind AND taken.slot IS NOT NULL
    ))
  ) AS slots
), placed AS (
  SELECT * FROM wanted JOIN free USING ("workspaceId", kind, turn)
), made AS (
  INSERT INTO destinations (slot, ${columnsOf(FIELDS)})
  SELECT slot, ${membersOf(FIELDS)} FROM placed ORDER BY "workspaceId", kind, slot
  ON CONFLICT (workspace_id, kind, slot) DO NOTHING
  RETURNING workspace_id, id, filter_rules
), started AS (
  INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal)
  SELECT workspace_id, id, horizon, ${2 ** 31 - 1} FROM made, (SELECT ${LOG_HORIZON} - 1 AS horizon) AS log
), recorded AS (${recordEntries('$2', 'made')}
)
SELECT placed.id, made.id IS NOT NULL AS "isMade", made.filter_rules AS "filterRules"
FROM placed LEFT JOIN made ON made.id = placed.id`;
