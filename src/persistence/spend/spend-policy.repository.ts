// The spend policy of a workspace: its budgets, and its account's credits.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SharedLimits, SpendLimitWindow } from '../../domain/spend/spend-limit.js';
import { utcDay } from '../../domain/spend/spend.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import { toKeySpend } from './spend-row.js';
import { READ_SHARED_LIMITS, READ_UNPAID_KEYS } from './spend-policy-statements.js';
import type { UnpaidRow } from './spend-policy-statements.js';
import { readSharedLimits, windowOf } from './shared-limits-json.js';
import type { SharedLimitsJson } from './shared-limits-json.js';

export interface SpendPolicy {
  /** The workspace's budgets. */
  readonly budgets: readonly SpendLimitWindow[];
  /** USD bought so far; null: the account is not metered. */
  readonly credits: PicoUsd | null;
  /** By key: those that have left as much unpaid in a UTC day as one may. Absent: none. */
  readonly unpaid?: ReadonlyMap<string, UnpaidOfDay>;
}

export interface UnpaidOfDay {
  /** UTC day, as YYYY-MM-DD. */
  readonly day: string;
  readonly amount: PicoUsd;
}

@Injectable()
export class SpendPolicyRepository {
  private readonly policies = new BatchReader<string, SpendPolicy>({
    idOf: (workspaceId) => workspaceId,
    read: (workspaceIds) => this.readPolicies(workspaceIds),
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Batched with those of other calls: policies that many calls miss at once cost few statements. */
  async find(workspaceId: string): Promise<SpendPolicy> {
    const policy = await this.policies.find(workspaceId);
    if (!policy) throw new Error('the workspace of a key is gone');
    return policy;
  }

  private async readPolicies(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, SpendPolicy>> {
    const [workspaces, unpaid] = await Promise.all([
      this.database.prisma.workspace.findMany({
        where: { id: { in: [...workspaceIds] } },
        select: {
          id: true,
          includeByokInBudgets: true,
          budgets: { select: { interval: true, limit: true } },
          account: { select: { credits: true } },
        },
      }),
      this.readUnpaid(workspaceIds),
    ]);
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
          ...unpaid.get(id),
        },
      ]),
    );
  }

  /** The settlement that takes a key to the limit announces a change of its workspace's policy. */
  private async readUnpaid(
    workspaceIds: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly unpaid: ReadonlyMap<string, UnpaidOfDay> }>> {
    const { maxUnpaid } = this.config;
    if (maxUnpaid === null) return new Map();
    const rows = await this.database.query<UnpaidRow>({
      name: 'read-unpaid-keys',
      text: READ_UNPAID_KEYS,
      values: [[...workspaceIds], utcDay(this.clock.now()), formatUsd(maxUnpaid)],
    });
    const found = new Map<string, { readonly unpaid: Map<string, UnpaidOfDay> }>();
    for (const { workspaceId, apiKeyId, day, amount } of rows) {
      const known = found.get(workspaceId) ?? { unpaid: new Map<string, UnpaidOfDay>() };
      known.unpaid.set(apiKeyId, { day, amount: parseUsd(amount) });
      found.set(workspaceId, known);
    }
    return found;
  }

  /** The budgets and credits above a key, and their spend in the windows of `now`. */
  async findSharedLimits(workspaceId: string, now: Date): Promise<SharedLimits> {
    const found = (await this.findSharedLimitsOf([workspaceId], now)).get(workspaceId);
    if (!found) throw new Error('the workspace of a key is gone');
    return found;
  }

  /** The same by workspace. */
  async findSharedLimitsOf(
    workspaceIds: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, SharedLimits>> {
    const rows = await this.database.query<{ id: string; sharedLimits: SharedLimitsJson }>({
      name: 'read-shared-limits',
      text: READ_SHARED_LIMITS,
      values: [workspaceIds],
    });
    return new Map(rows.map(({ id, sharedLimits }) => [id, readSharedLimits(sharedLimits, now)]));
  }

  /** The spend of all calls of the workspace, in the windows of `now`. */
  async findWorkspaceSpend(workspaceId: string, now: Date): Promise<KeySpend> {
    return toKeySpend(await this.database.prisma.workspaceSpend.findUnique({ where: { workspaceId } }), now);
  }
}
