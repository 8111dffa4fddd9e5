// Re-encrypts stored secrets with the first of the encryption keys, so that the others can be removed.
import type { AuditEntry } from '../domain/audit.js';
import { SystemClock } from '../domain/clock.js';
import { AuditLogRepository } from '../persistence/audit/audit-log.repository.js';
import { ConfigCipher, MissingEncryptionKey } from '../persistence/encryption/config-cipher.js';
import type { Encrypted } from '../persistence/encryption/config-cipher.js';
import type { Database } from '../persistence/database/database.js';
import {
  ENCRYPTED_TABLES,
  LIST_AFFECTED_ACCOUNTS,
  readRows,
  ROTATION_STEP,
  updateRow,
} from '../persistence/encryption/rotation-statements.js';
import type { EncryptedTable } from '../persistence/encryption/rotation-statements.js';
import { Reports } from '../persistence/database/reports.js';

export interface RotationProgress {
  readonly table: string;
  /** Number of re-encrypted rows of the table so far. */
  readonly rotated: number;
  /** Ids of rows that could not be decrypted since the last report. They stay unchanged. */
  readonly unreadable: readonly string[];
}

/**
 * Continues where an earlier run ended. It may run while the service serves: a concurrent change of a row encrypts it with
 * the first key anyway. Throws, naming the key, when a row's key is not configured. Unreadable rows are reported by an
 * error at the end, so that one of them does not keep the others under the old key.
 */
export async function rotateEncryption(
  database: Database,
  cipher: ConfigCipher,
  report: (progress: RotationProgress) => void,
): Promise<void> {
  await recordRotation(database, cipher);
  let unread = 0;
  for (const table of ENCRYPTED_TABLES) {
    let rotated = 0;
    let last: readonly string[] | null = null;
    do {
      const { rows, unreadable } = await rotateStep(database, cipher, table, last);
      rotated += rows.length - unreadable.length;
      unread += unreadable.length;
      last = rows.length === ROTATION_STEP ? (rows.at(-1)?.primary_key ?? null) : null;
      report({ table: table.name, rotated, unreadable });
    } while (last !== null);
  }
  if (unread > 0) {
    throw new Error(
      `${unread} ${unread === 1 ? 'row' : 'rows'} could not be decrypted and stay unchanged (listed above)`,
    );
  }
}

// The operator has no key of this service, but the column requires a hash.
const NO_KEY_HASH = '0'.repeat(64);

/** Before the rotation, records it in the audit log of every account that has secrets under another key. */
async function recordRotation(database: Database, cipher: ConfigCipher): Promise<void> {
  const affected = await database.query<{ account_id: string; key_ids: string[] }>({
    text: LIST_AFFECTED_ACCOUNTS,
    values: [cipher.currentKeyId, cipher.keyIds],
  });
  const auditLog = new AuditLogRepository(new Reports(database), new SystemClock());
  for (const { account_id: accountId, key_ids: keyIds } of affected) {
    const entry: AuditEntry = {
      author: {
        accountId,
        hash: NO_KEY_HASH,
        userId: null,
        label: 'operator',
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

interface EncryptedRow {
  readonly id: string;
  readonly ciphertext: Buffer;
  readonly encryption_key_id: string;
  /** The values of the primary key. */
  readonly primary_key: readonly string[];
}

/** The rows behind `after`, in the order of the primary key. */
async function rotateStep(
  database: Database,
  cipher: ConfigCipher,
  table: EncryptedTable,
  after: readonly string[] | null,
): Promise<{ readonly rows: readonly EncryptedRow[]; readonly unreadable: readonly string[] }> {
  const rows = await database.query<EncryptedRow>({
    text: readRows(table, after === null ? 'first' : 'next'),
    values: [cipher.currentKeyId, cipher.keyIds, ...(after ?? [])],
  });
  const unreadable: string[] = [];
  for (const row of rows) {
    const fresh = reencrypt(cipher, row);
    if (fresh === null) {
      unreadable.push(row.id);
      continue;
    }
    await database.query({
      text: updateRow(table),
      values: [row.ciphertext, Buffer.from(fresh.ciphertext), fresh.encryptionKeyId, ...row.primary_key],
    });
  }
  return { rows, unreadable };
}

/** Returns null when the ciphertext was changed or belongs to another row. */
function reencrypt(cipher: ConfigCipher, row: EncryptedRow): Encrypted | null {
  const old = { ciphertext: row.ciphertext, encryptionKeyId: row.encryption_key_id };
  let value: unknown;
  try {
    value = cipher.decrypt(old, row.id);
  } catch (error) {
    if (error instanceof MissingEncryptionKey) throw error;
    return null;
  }
  return cipher.encrypt(value, row.id);
}
