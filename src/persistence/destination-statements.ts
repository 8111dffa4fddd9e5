// The text of the statement that creates a destination.
//
// Why plain SQL: finding a free slot, reading where the log ends and writing three rows are one round trip and one commit
// here. What decides is the unique key on the slot.
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
export type NewDestinationRow = Readonly<Record<keyof typeof FIELDS, unknown>>;

/**
 * $1 workspace, $2 kind, $3 the destination as a list of one JSON row, $4 its audit entry as such a list, or an empty one.
 *
 * Answers nothing when all slots are taken. `isMade` is false when somebody else has just taken the one that was found:
 * then nothing is written, and whoever asked has to look again. The cursor stands behind everything that is committed
 * and before everything that is not yet.
 */
export const CREATE_DESTINATION = `
WITH free AS (
  SELECT slot FROM generate_series(1, ${MAX_DESTINATIONS_PER_KIND}) AS slot
  WHERE slot NOT IN (
    SELECT taken.slot FROM destinations AS taken
    WHERE taken.workspace_id = $1::uuid AND taken.kind = $2 AND taken.slot IS NOT NULL
  )
  ORDER BY slot LIMIT 1
), made AS (
  INSERT INTO destinations (slot, ${columnsOf(FIELDS)})
  SELECT free.slot, ${membersOf(FIELDS)}
  FROM free, json_to_recordset($3::json) AS destination (${typedMembersOf(FIELDS)})
  ON CONFLICT (workspace_id, kind, slot) DO NOTHING
  RETURNING workspace_id, id, filter_rules
), started AS (
  INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal)
  SELECT workspace_id, id, ${LOG_HORIZON} - 1, ${2 ** 31 - 1} FROM made
), recorded AS (${recordEntries('$4', 'made')}
)
SELECT made.id IS NOT NULL AS "isMade", made.filter_rules AS "filterRules" FROM free LEFT JOIN made ON true`;
