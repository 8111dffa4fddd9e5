// The spend policy of a workspace: its budgets, and its account's credits.
import { Injectable } from '@nestjs/common';
import { parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SharedLimits, SpendLimitWindow } from '../../domain/spend/spend-limit.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import { toKeySpend } from './spend-row.js';
import { READ_SHARED_LIMITS } from './spend-policy-statements.js';
import { readSharedLimits, windowOf } from './shared-limits-json.js';
import type { SharedLimitsJson } from './shared-limits-json.js';

export interface SpendPolicy {
  /** The workspace's budgets. */
  readonly budgets: readonly SpendLimitWindow[];
  /** USD bought so far; null: the account is not metered. */
  readonly credits: PicoUsd | null;
}

@Injectable()
export class SpendPolicyRepository {
  private readonly policies = new BatchReader<string, SpendPolicy>({
    idOf: (workspaceId) => workspaceId,
    read: (workspaceIds) => this.readPolicies(workspaceIds),
  });

  constructor(private readonly database: Database) {}

  /** Batched with those of other calls: policies that many calls miss at once cost few statements. */
  async find(workspaceId: string): Promise<SpendPolicy> {
    const policy = await this.policies.find(workspaceId);
    if (!policy) throw new Error('the workspace of a key is gone');
    return policy;
  }

  private async readPolicies(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, SpendPolicy>> {
    const workspaces = await this.database.prisma.workspace.findMany({
      where: { id: { in: [...workspaceIds] } },
      select: {
        id: true,
        includeByokInBudgets: true,
        budgets: { select: { interval: true, limit: true } },
        account: { select: { credits: true } },
      },
    });
    return new Map(
      workspaces.map(({ id, includeByokInBudgets: includeByok, budgets, account: { credits } }) => [
        id,
        {
          budgets: budgets.map(({ interval, limit }) => ({
            window: windowOf(interval),
            limit: parseUsd(limit.toFixed()),
            includeByok,
          })),
          credits: credits === null ? null : parseUsd(credits.toFixed()),
        },
      ]),
    );
  }

  /** The budgets and credits above a key, and their spend in the windows of `now`. */
  async findSharedLimits(workspaceId: string, now: Date): Promise<SharedLimits> {
    const [row] = await this.database.query<{ sharedLimits: SharedLimitsJson }>({
      name: 'read-shared-limits',
      text: READ_SHARED_LIMITS,
      values: [workspaceId],
    });
    if (!row) throw new Error('the workspace of a key is gone');
    return readSharedLimits(row.sharedLimits, now);
  }

  /** The spend of all calls of the workspace, in the windows of `now`. */
  async findWorkspaceSpend(workspaceId: string, now: Date): Promise<KeySpend> {
    return toKeySpend(await this.database.prisma.workspaceSpend.findUnique({ where: { workspaceId } }), now);
  }
}
