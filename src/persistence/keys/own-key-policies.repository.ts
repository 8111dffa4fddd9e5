// The bounds of keys that developers make for themselves, by workspace.
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { NO_OWN_KEYS } from '../../domain/keys/own-key-policy.js';
import type { OwnKeyPolicy, StoredOwnKeyPolicy } from '../../domain/keys/own-key-policy.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import { lockRow } from '../database/rows/row-lock.js';
import type { OwnKeyPolicyModel } from '../generated/models.js';
import { toUsd } from '../spend/spend-row.js';
import { ownKeysWhere } from '../workspaces/quotas.js';
import { toAmount } from './key-writes.js';

@Injectable()
export class OwnKeyPoliciesRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** That of a workspace without one allows no keys. */
  async find(workspaceId: string): Promise<StoredOwnKeyPolicy> {
    const row = await this.database.prisma.ownKeyPolicy.findUnique({ where: { workspaceId } });
    return toPolicy(workspaceId, row);
  }

  /** The keys of the user that count toward `maxKeys`. */
  async countKeys(workspaceId: string, userId: string): Promise<number> {
    const where = ownKeysWhere(workspaceId, userId, this.clock.now());
    return this.database.prisma.apiKey.count({ where });
  }

  /** Null: there is no such workspace. */
  async put(
    { accountId, id: workspaceId }: { readonly accountId: string; readonly id: string },
    policy: OwnKeyPolicy,
    describe: DescribeChange<StoredOwnKeyPolicy>,
  ): Promise<StoredOwnKeyPolicy | null> {
    return this.database.transact(async (transaction) => {
      if (!(await lockRow(transaction, 'workspaces', { accountId, id: workspaceId }))) return null;
      const found = await transaction.ownKeyPolicy.findUnique({ where: { workspaceId } });
      const before = found && toPolicy(workspaceId, found);
      if (before && isDeepStrictEqual(policy, settingsOf(before))) return before;
      const { enabled, maxKeys, limitReset, maxDays, includeByokInLimit } = policy;
      const data = {
        enabled,
        maxKeys,
        limitReset,
        maxDays,
        includeByokInLimit,
        defaultLimit: toAmount(policy.defaultLimit),
        maxLimit: toAmount(policy.maxLimit),
        updatedAt: this.clock.now(),
      };
      const row = await transaction.ownKeyPolicy.upsert({
        where: { workspaceId },
        create: { workspaceId, ...data },
        update: data,
      });
      const after = toPolicy(workspaceId, row);
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }
}

function settingsOf({
  workspaceId: _workspace,
  updatedAt: _updated,
  ...policy
}: StoredOwnKeyPolicy): OwnKeyPolicy {
  return policy;
}

function toPolicy(workspaceId: string, row: OwnKeyPolicyModel | null): StoredOwnKeyPolicy {
  if (row === null) return { ...NO_OWN_KEYS, workspaceId, updatedAt: null };
  return {
    workspaceId,
    enabled: row.enabled,
    maxKeys: row.maxKeys,
    defaultLimit: row.defaultLimit && toUsd(row.defaultLimit),
    maxLimit: row.maxLimit && toUsd(row.maxLimit),
    limitReset: LIMIT_RESETS.find((reset) => reset === row.limitReset) ?? null,
    maxDays: row.maxDays,
    includeByokInLimit: row.includeByokInLimit,
    updatedAt: row.updatedAt,
  };
}
