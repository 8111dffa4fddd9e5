// Quotas of existing objects. They are exact: triggers count in the transaction of every change (see the migration of
// quota_usage), and a creation reads the number after its own insert, while it holds the number's row lock.
import { AppError } from '../../domain/errors.js';
import type { Transaction } from '../database/database.js';
import type { Prisma } from '../generated/client.js';

const RESOURCES = {
  api_keys: 'API keys',
  members: 'members',
  workspaces: 'workspaces',
} as const;

/** A number that triggers keep. */
interface CountedQuota {
  readonly resource: keyof typeof RESOURCES;
  readonly owner: 'account' | 'workspace';
  readonly ownerId: string;
  /** The maximum of objects. */
  readonly limit: number;
  /** The variable that sets the limit. */
  readonly variable: string;
}

/** Of the keys that a person has made for himself in a workspace, without deleted and expired ones. */
export interface OwnKeyQuota {
  readonly resource: 'own_keys';
  readonly owner: 'person';
  readonly ownerId: string;
  readonly workspaceId: string;
  readonly limit: number;
  readonly now: Date;
}

export type Quota = CountedQuota | OwnKeyQuota;

/** Call it after the insert, in its transaction. Throws `limit_reached` when the owner exceeds a quota. */
export async function rejectAboveQuotas(transaction: Transaction, quotas: readonly Quota[]): Promise<void> {
  for (const quota of quotas) {
    if (quota.resource === 'own_keys') {
      await rejectAboveOwnKeys(transaction, quota);
      continue;
    }
    const { resource, owner, ownerId, limit, variable } = quota;
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

/** The insert holds the row lock of the number of the workspace's keys: of concurrent ones each counts those before. */
async function rejectAboveOwnKeys(
  transaction: Transaction,
  { ownerId, workspaceId, limit, now }: OwnKeyQuota,
): Promise<void> {
  const keys = await transaction.apiKey.count({ where: ownKeysWhere(workspaceId, ownerId, now) });
  if (keys <= limit) return;
  throw new AppError('limit_reached', {
    detail: `the own-key policy allows ${limit} keys of a person in the workspace; delete one of them first`,
  });
}

/** The keys of a user that count toward `max_keys` of the own-key policy. */
export function ownKeysWhere(workspaceId: string, userId: string, now: Date): Prisma.ApiKeyWhereInput {
  return {
    workspaceId,
    creatorUserId: userId,
    deletedAt: null,
    OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
  };
}
