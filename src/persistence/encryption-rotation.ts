// Encrypts what is stored anew with the first of the encryption keys, so that the others can be taken away.
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
  for (const table of TABLES) {
    let rotated = 0;
    for (let count = STEP; count === STEP;) {
      count = await rotateStep(database, cipher, table);
      rotated += count;
      report({ table: table.name, rotated });
    }
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
