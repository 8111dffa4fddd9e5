// Encrypts what is stored anew with the first of the encryption keys, so that the others can be taken away.
import type { AuditEntry } from '../domain/audit.js';
import { SystemClock } from '../domain/clock.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { ConfigCipher } from './config-cipher.js';
import type { Database } from './database.js';

interface EncryptedTable {
  readonly name: string;
  readonly id: string;
  readonly ciphertext: string;
  readonly encryptionKeyId: string;
}

const TABLES: readonly EncryptedTable[] = [
  {
    name: 'destinations',
    id: 'id',
    ciphertext: 'config_ciphertext',
    encryptionKeyId: 'config_encryption_key_id',
  },
  { name: 'provider_credentials', id: 'id', ciphertext: 'ciphertext', encryptionKeyId: 'encryption_key_id' },
  {
    name: 'generation_contents',
    id: 'generation_id',
    ciphertext: 'ciphertext',
    encryptionKeyId: 'encryption_key_id',
  },
];

// Rows of one step: a rotation of millions holds nobody up.
const STEP = 200;

export interface RotationProgress {
  readonly table: string;
  /** Rows of the table that were encrypted anew so far. */
  readonly rotated: number;
}

/**
 * Goes on where an earlier run ended, and may run while the service serves: a row that is changed meanwhile is encrypted
 * with the first key by who changes it. Throws, naming the key, where a row's key is not configured.
 */
export async function rotateEncryption(
  database: Database,
  cipher: ConfigCipher,
  report: (progress: RotationProgress) => void,
): Promise<void> {
  await recordRotation(database, cipher);
  for (const table of TABLES) {
    let rotated = 0;
    for (let count = STEP; count === STEP;) {
      count = await rotateStep(database, cipher, table);
      rotated += count;
      report({ table: table.name, rotated });
    }
  }
}

// The operator has no key of this service; the column wants a hash.
const NO_KEY_HASH = '0'.repeat(64);

/** The audit log of every account that has secrets under another key tells of the rotation, before it begins. */
async function recordRotation(database: Database, cipher: ConfigCipher): Promise<void> {
  const affected = await database.query<{ account_id: string; key_ids: string[] }>({
    text: `SELECT account_id, array_agg(DISTINCT key_id ORDER BY key_id) AS key_ids FROM (
        SELECT account_id, config_encryption_key_id AS key_id FROM destinations
        UNION ALL SELECT account_id, encryption_key_id FROM provider_credentials) AS used
      WHERE key_id <> $1 GROUP BY account_id`,
    values: [cipher.currentKeyId],
  });
  const auditLog = new AuditLogRepository(database, new SystemClock());
  for (const { account_id: accountId, key_ids: keyIds } of affected) {
    const entry: AuditEntry = {
      actor: {
        key: { accountId, hash: NO_KEY_HASH, label: 'operator' },
        address: '',
        requestId: '',
        userAgent: null,
      },
      action: 'rotate',
      objectType: 'encryption_key',
      objectId: cipher.currentKeyId,
      workspaceId: null,
      before: { key_ids: keyIds },
      after: { key_ids: [cipher.currentKeyId] },
    };
    await database.transact((transaction) => auditLog.record(entry, transaction));
  }
}

async function rotateStep(
  database: Database,
  cipher: ConfigCipher,
  { name, id, ciphertext, encryptionKeyId }: EncryptedTable,
): Promise<number> {
  const rows = await database.query<{ id: string; ciphertext: Buffer; key: string }>({
    text: `SELECT ${id} AS id, ${ciphertext} AS ciphertext, ${encryptionKeyId} AS key FROM ${name}
      WHERE ${encryptionKeyId} <> $1 LIMIT ${STEP}`,
    values: [cipher.currentKeyId],
  });
  for (const row of rows) {
    const value = cipher.decrypt({ ciphertext: row.ciphertext, encryptionKeyId: row.key }, row.id);
    const fresh = cipher.encrypt(value, row.id);
    await database.query({
      text: `UPDATE ${name} SET ${ciphertext} = $3, ${encryptionKeyId} = $4 WHERE ${id} = $1 AND ${ciphertext} = $2`,
      values: [row.id, row.ciphertext, Buffer.from(fresh.ciphertext), fresh.encryptionKeyId],
    });
  }
  return rows.length;
}
