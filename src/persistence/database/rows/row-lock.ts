// Locks a row for one transaction, so that its next read and write are one step.
import type { Transaction } from '../database.js';
import { Prisma } from '../../generated/client.js';

/** Prisma cannot express it. Does nothing if there is no such row. */
export async function lockRow(
  transaction: Transaction,
  table: 'provider_credentials' | 'workspaces',
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<void> {
  await transaction.$queryRaw(
    Prisma.sql`SELECT 1 FROM ${Prisma.raw(table)}
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid FOR NO KEY UPDATE`,
  );
}
