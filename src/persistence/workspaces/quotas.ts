// Quotas of existing objects. They are exact: triggers count in the transaction of every change (see the migration of
// quota_usage), and a creation reads the number after its own insert, while it holds the number's row lock.
import { AppError } from '../../domain/errors.js';
import type { Transaction } from '../database/database.js';

const RESOURCES = {
  api_keys: 'API keys',
  members: 'members',
  workspaces: 'workspaces',
} as const;

export interface Quota {
  readonly resource: keyof typeof RESOURCES;
  readonly owner: 'account' | 'workspace';
  readonly ownerId: string;
  /** The maximum of objects. */
  readonly limit: number;
  /** The variable that sets the limit. */
  readonly variable: string;
}

/** Call it after the insert, in its transaction. Throws `limit_reached` when the owner exceeds a quota. */
export async function rejectAboveQuotas(transaction: Transaction, quotas: readonly Quota[]): Promise<void> {
  for (const { resource, owner, ownerId, limit, variable } of quotas) {
    const usage = await transaction.quotaUsage.findUnique({
      where: { ownerId_resource: { ownerId, resource } },
    });
    if (usage === null || usage.used <= BigInt(limit)) continue;
    throw new AppError('limit_reached', {
      detail:
        `${owner} ${ownerId} may have ${limit} ${RESOURCES[resource]}; delete some of them first, or have the ` +
        `operator raise ${variable}`,
    });
  }
}
