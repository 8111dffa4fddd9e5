// Locks a row for one transaction, so that its next read and write are one step.
import type { Transaction } from '../database.js';
import { Prisma } from '../../generated/client.js';

/** Prisma cannot express it. False: there is no such row, or it is deleted. */
export async function lockRow(
  transaction: Transaction,
  table: 'provider_credentials' | 'workspaces',
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<boolean> {
  const rows = await transaction.$queryRaw<unknown[]>(
    Prisma.sql`SELECT 1 FROM ${Prisma.raw(table)}
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL FOR NO KEY UPDATE`,
  );
  return rows.length > 0;
}

/** The same for an account. */
export async function lockAccount(transaction: Transaction, id: string): Promise<void> {
  await transaction.$queryRaw`SELECT 1 FROM accounts WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
}
