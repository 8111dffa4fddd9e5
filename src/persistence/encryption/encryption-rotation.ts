// Re-encrypts stored secrets with the first of the encryption keys, so that the others can be removed.
import type { AuditEntry } from '../../domain/audit.js';
import { SystemClock } from '../../domain/clock.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { ConfigCipher, MissingEncryptionKey } from './config-cipher.js';
import type { Encrypted } from './config-cipher.js';
import type { Database } from '../database/database.js';
import { Reports } from '../database/reports.js';

interface EncryptedTable {
  readonly name: string;
  /** SQL of the associated data of the ciphertext. */
  readonly id: string;
  /** Columns of the primary key and their types: rows are read and updated in its order. */
  readonly key: Readonly<Record<string, string>>;
  readonly ciphertext: string;
  readonly encryptionKeyId: string;
  /** SQL condition: the row is read. Other rows are re-encrypted if their key is configured. */
  readonly isInUse: string;
}

const TABLES = [
  {
    name: 'destinations',
    id: 'id',
    key: { workspace_id: 'uuid', id: 'uuid' },
    ciphertext: 'config_ciphertext',
    encryptionKeyId: 'config_encryption_key_id',
    isInUse: 'deleted_at IS NULL',
  },
  {
    name: 'provider_credentials',
    id: 'id',
    key: { workspace_id: 'uuid', id: 'uuid' },
    ciphertext: 'ciphertext',
    encryptionKeyId: 'encryption_key_id',
    isInUse: 'deleted_at IS NULL',
  },
  {
    name: 'notification_rules',
    id: 'id',
    key: { account_id: 'uuid', id: 'uuid' },
    ciphertext: 'config_ciphertext',
    encryptionKeyId: 'config_encryption_key_id',
    isInUse: 'true',
  },
  {
    name: 'generation_contents',
    id: 'generation_id',
    key: { workspace_id: 'uuid', created_at: 'timestamptz', generation_id: 'uuid' },
    ciphertext: 'ciphertext',
    encryptionKeyId: 'encryption_key_id',
    isInUse: 'true',
  },
  // `platform-texts.ts` builds the associated data of the last two.
  {
    name: 'dead_letters',
    id: "'dead letter ' || destination_id || ' ' || generation_id",
    key: { workspace_id: 'uuid', destination_id: 'uuid', generation_id: 'uuid' },
    ciphertext: 'message_ciphertext',
    encryptionKeyId: 'message_encryption_key_id',
    isInUse: 'message_ciphertext IS NOT NULL',
  },
  {
    name: 'delivery_cursors',
    id: "'last error ' || destination_id",
    key: { workspace_id: 'uuid', destination_id: 'uuid' },
    ciphertext: 'last_error_ciphertext',
    encryptionKeyId: 'last_error_encryption_key_id',
    isInUse: 'last_error_ciphertext IS NOT NULL',
  },
] as const satisfies readonly EncryptedTable[];

// Rows of one statement: a rotation of millions must not block other statements.
const STEP = 200;

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
  for (const table of TABLES) {
    let rotated = 0;
    let last: readonly string[] | null = null;
    do {
      const { rows, unreadable } = await rotateStep(database, cipher, table, last);
      rotated += rows.length - unreadable.length;
      unread += unreadable.length;
      last = rows.length === STEP ? (rows.at(-1)?.primary_key ?? null) : null;
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
  const [destinations, credentials, notifications] = TABLES;
  const keys = [destinations, credentials, notifications].map(
    (table) =>
      `SELECT account_id, ${table.encryptionKeyId} AS key_id FROM ${table.name} WHERE ${toRotate(table)}`,
  );
  const affected = await database.query<{ account_id: string; key_ids: string[] }>({
    text: `SELECT account_id, array_agg(DISTINCT key_id ORDER BY key_id) AS key_ids
      FROM (${keys.join(' UNION ALL ')}) AS used GROUP BY account_id`,
    values: [cipher.currentKeyId, cipher.keyIds],
  });
  const auditLog = new AuditLogRepository(new Reports(database), new SystemClock());
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

/**
 * $1 the id of the first key, $2 those of all. The secret of a deleted row may have been removed, and its key too: the
 * start does not require that key.
 */
function toRotate({ ciphertext, encryptionKeyId, isInUse }: EncryptedTable): string {
  return `${encryptionKeyId} <> $1
    AND (${isInUse} OR octet_length(${ciphertext}) > 0 AND ${encryptionKeyId} = ANY ($2::text[]))`;
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
  const { name, id, ciphertext, encryptionKeyId } = table;
  const names = Object.keys(table.key);
  const columns = names.join(', ');
  const placeholdersFrom = (first: number): string =>
    Object.values(table.key)
      .map((type, index) => `$${first + index}::${type}`)
      .join(', ');
  const rows = await database.query<EncryptedRow>({
    text: `SELECT ${id} AS id, ${ciphertext} AS ciphertext, ${encryptionKeyId} AS encryption_key_id,
        ARRAY[${names.map((column) => `${column}::text`).join(', ')}] AS primary_key
      FROM ${name} WHERE ${toRotate(table)} ${after === null ? '' : `AND (${columns}) > (${placeholdersFrom(3)})`}
      ORDER BY ${columns} LIMIT ${STEP}`,
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
      text: `UPDATE ${name} SET ${ciphertext} = $2, ${encryptionKeyId} = $3
        WHERE ${ciphertext} = $1 AND (${columns}) = (${placeholdersFrom(4)})`,
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
