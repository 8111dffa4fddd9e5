// The statements that re-encrypt stored secrets, for every table that has some.
//
// Why plain SQL: one statement serves tables with different keys, and a row changes only if its ciphertext is the one read.

export interface EncryptedTable {
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

export const ENCRYPTED_TABLES = [
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
export const ROTATION_STEP = 200;

/**
 * $1 the id of the first key, $2 those of all. The secret of a deleted row may have been removed, and its key too: the
 * start does not require that key.
 */
function toRotate({ ciphertext, encryptionKeyId, isInUse }: EncryptedTable): string {
  return `${encryptionKeyId} <> $1
    AND (${isInUse} OR octet_length(${ciphertext}) > 0 AND ${encryptionKeyId} = ANY ($2::text[]))`;
}

const OF_ACCOUNTS: ReadonlySet<string> = new Set([
  'destinations',
  'provider_credentials',
  'notification_rules',
]);

/** The parameters of toRotate(). The accounts that have secrets under another key, and the ids of those keys. */
export const LIST_AFFECTED_ACCOUNTS = `
SELECT account_id, array_agg(DISTINCT key_id ORDER BY key_id) AS key_ids FROM (${ENCRYPTED_TABLES.filter(
  ({ name }) => OF_ACCOUNTS.has(name),
)
  .map(
    (table) =>
      `SELECT account_id, ${table.encryptionKeyId} AS key_id FROM ${table.name} WHERE ${toRotate(table)}`,
  )
  .join(' UNION ALL ')}) AS used GROUP BY account_id`;

/** The columns of the primary key, and their values from `$first`. */
function keyOf(
  { key }: EncryptedTable,
  first: number,
): { readonly columns: string; readonly values: string } {
  const values = Object.values(key).map((type, index) => `$${first + index}::${type}`);
  return { columns: Object.keys(key).join(', '), values: values.join(', ') };
}

/** The parameters of toRotate(); for the next rows, from $3 the primary key of the last row before them. */
export function readRows(table: EncryptedTable, which: 'first' | 'next'): string {
  const { columns, values } = keyOf(table, 3);
  const texts = Object.keys(table.key).map((column) => `${column}::text`);
  return `
SELECT ${table.id} AS id, ${table.ciphertext} AS ciphertext, ${table.encryptionKeyId} AS encryption_key_id,
  ARRAY[${texts.join(', ')}] AS primary_key
FROM ${table.name} WHERE ${toRotate(table)} ${which === 'first' ? '' : `AND (${columns}) > (${values})`}
ORDER BY ${columns} LIMIT ${ROTATION_STEP}`;
}

/** $1 the ciphertext that was read, $2 the new one, $3 the id of its key, from $4 the primary key. */
export function updateRow(table: EncryptedTable): string {
  const { columns, values } = keyOf(table, 4);
  return `
UPDATE ${table.name} SET ${table.ciphertext} = $2, ${table.encryptionKeyId} = $3
WHERE ${table.ciphertext} = $1 AND (${columns}) = (${values})`;
}
