// Rules of budget alerts with their encrypted receivers.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { MAX_NOTIFICATIONS_PER_ACCOUNT } from '../../domain/notifications/notification-rule.js';
import type {
  NewNotificationRule,
  NotificationRule,
  NotificationRuleChange,
} from '../../domain/notifications/notification-rule.js';
import type { Page, PageRequest } from '../../domain/page.js';
import type { Scope } from '../../domain/people/manager.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { lockAccount, lockRow } from '../database/rows/row-lock.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import type { NotificationRuleModel } from '../generated/models.js';
import { toCovers } from './budget-subjects.repository.js';

@Injectable()
export class NotificationRulesRepository {
  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
    private readonly auditLog: AuditLogRepository,
  ) {}

  /**
   * Creates the rule in a free slot of its account. Throws `limit_reached` when all are taken, `invalid_request` when the
   * account has no such workspace.
   */
  async create(
    rule: NewNotificationRule,
    describe: DescribeChange<NotificationRule>,
  ): Promise<NotificationRule> {
    const { accountId, covers, thresholds, config, ...columns } = rule;
    const now = this.clock.now();
    const id = uuidV7(now);
    return this.database.transact(async (transaction) => {
      const row = await transaction.notificationRule.create({
        data: {
          ...columns,
          ...this.encrypt(config, id),
          accountId,
          id,
          slot: await findSlot(transaction, rule),
          covers: [...covers],
          thresholds: [...thresholds],
          createdAt: now,
          updatedAt: now,
        },
      });
      await transaction.notificationQueue.create({ data: { accountId, ruleId: id } });
      const created = this.decrypted(row);
      await this.auditLog.record(describe(null, created), transaction);
      return created;
    }, accountId);
  }

  async find(accountId: string, id: string): Promise<NotificationRule | null> {
    const row = await this.database.prisma.notificationRule.findUnique({
      where: { accountId_id: { accountId, id } },
    });
    return row && this.decrypted(row);
  }

  /** Newest first: those of a workspace, or all within reach. Rules of the account are within that of the whole account alone. */
  async list(
    { accountId, reach }: Scope,
    workspaceId: string | undefined,
    { offset, limit }: PageRequest,
  ): Promise<Page<NotificationRule>> {
    const { workspaceIds } = reach;
    const places = workspaceId === undefined ? workspaceIds : [workspaceId];
    const where = { accountId, ...(places && { workspaceId: { in: [...places] } }) };
    const [rows, total] = await Promise.all([
      this.database.prisma.notificationRule.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.notificationRule.count({ where }),
    ]);
    return { items: rows.map((row) => this.decrypted(row)), total };
  }

  /** Updates the rule if it is unchanged since `before` was read; else null. Pending events are due at once. */
  async update(
    before: NotificationRule,
    change: NotificationRuleChange,
    describe: DescribeChange<NotificationRule>,
  ): Promise<NotificationRule | null> {
    const { accountId, id, version } = before;
    const { covers, thresholds, config, ...columns } = change;
    return this.database.transact(async (transaction) => {
      const [row] = await transaction.notificationRule.updateManyAndReturn({
        where: { accountId, id, version },
        data: {
          ...columns,
          ...(covers === undefined ? {} : { covers: [...covers] }),
          ...(thresholds === undefined ? {} : { thresholds: [...thresholds] }),
          ...(config === undefined ? {} : this.encrypt(config, id)),
          version: { increment: 1 },
          updatedAt: this.clock.now(),
        },
      });
      if (!row) return null;
      await transaction.$executeRaw`UPDATE notification_queues SET next_attempt_at = now()
        WHERE account_id = ${accountId}::uuid AND rule_id = ${id}::uuid`;
      const after = this.decrypted(row);
      await this.auditLog.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /** Deletes the rule with its events. False: the account has no such rule. */
  async delete(accountId: string, id: string, describe: DescribeChange<NotificationRule>): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const row = await transaction.notificationRule.findUnique({
        where: { accountId_id: { accountId, id } },
      });
      if (!row) return false;
      const { count } = await transaction.notificationRule.deleteMany({ where: { accountId, id } });
      if (count === 0) return false;
      await this.auditLog.record(describe(this.decrypted(row), null), transaction);
      return true;
    }, accountId);
  }

  private encrypt(config: DestinationConfig, id: string) {
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(config, id);
    return { configCiphertext: ciphertext, configEncryptionKeyId: encryptionKeyId };
  }

  private decrypted(row: NotificationRuleModel): NotificationRule {
    const encrypted = { ciphertext: row.configCiphertext, encryptionKeyId: row.configEncryptionKeyId };
    return {
      accountId: row.accountId,
      id: row.id,
      workspaceId: row.workspaceId,
      name: row.name,
      enabled: row.enabled,
      covers: toCovers(row.covers),
      thresholds: row.thresholds,
      config: this.cipher.decrypt(encrypted, row.id) as DestinationConfig,
      version: row.version,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }
}

/** Concurrent creations in one account wait here, so that the quota is exact. */
async function findSlot(
  transaction: Transaction,
  { accountId, workspaceId }: NewNotificationRule,
): Promise<number> {
  await lockAccount(transaction, accountId);
  if (workspaceId !== null && !(await lockRow(transaction, 'workspaces', { accountId, id: workspaceId }))) {
    throw noSuchWorkspace();
  }
  const rows = await transaction.notificationRule.findMany({ where: { accountId }, select: { slot: true } });
  const taken = new Set(rows.map(({ slot }) => slot));
  for (let slot = 1; slot <= MAX_NOTIFICATIONS_PER_ACCOUNT; slot++) if (!taken.has(slot)) return slot;
  throw new AppError('limit_reached', {
    detail: `the account has ${MAX_NOTIFICATIONS_PER_ACCOUNT} notifications, which is the limit; delete one of them first`,
  });
}
