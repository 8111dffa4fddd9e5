// Keys that programs get by a code: one for each maker and label, whose secret every sign-in replaces.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { keyLabel } from '../../domain/keys/api-key.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { lockRow } from '../database/rows/row-lock.js';
import type { ApiKeyModel as ApiKeyRow } from '../generated/models.js';
import { rejectAboveQuotas } from '../workspaces/quotas.js';
import type { Quota } from '../workspaces/quotas.js';
import { toApiKey } from './api-key-statements.js';
import { insertKey, lockKey, replaceSecrets, toAmount } from './key-writes.js';
import type { NewApiKey } from './key-writes.js';

interface Login {
  /** See AuthCode. */
  readonly maker: string;
  readonly key: NewApiKey;
  readonly quotas: readonly Quota[];
}

@Injectable()
export class LoginKeysRepository {
  constructor(
    private readonly database: Database,
    private readonly auditLog: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates the key, or gives the one of the same maker and label a new secret and these terms. Null: that one is disabled,
   * and no sign-in enables it. Throws `limit_reached`, and `invalid_request` when the workspace is gone.
   */
  async createOrRotate(
    { maker, key, quotas }: Login,
    describe: Readonly<Record<'create' | 'rotate', DescribeChange<ApiKey>>>,
  ): Promise<ApiKey | null> {
    const { accountId, workspaceId, name: label } = key;
    const id = { workspaceId, maker, label };
    return this.database.transact(async (transaction) => {
      // Two sign-ins at once wait here, so that they share one key.
      if (!(await lockRow(transaction, 'workspaces', { accountId, id: workspaceId })))
        throw noSuchWorkspace();
      const known = await this.findKnown(transaction, accountId, id);
      if (known?.disabled) return null;
      const row = known
        ? await this.rotate(transaction, known, key)
        : await insertKey(transaction, key, this.clock.now());
      if (!known) {
        await rejectAboveQuotas(transaction, quotas);
        await transaction.loginKey.upsert({
          where: { workspaceId_maker_label: id },
          create: { ...id, apiKeyId: row.id },
          update: { apiKeyId: row.id },
        });
      }
      const after = toApiKey(row);
      const entry = known ? describe.rotate(toApiKey(known), after) : describe.create(null, after);
      await this.auditLog.record(entry, transaction);
      return after;
    }, accountId);
  }

  /** Undefined: this is the first sign-in, or the key was deleted. */
  private async findKnown(
    transaction: Transaction,
    accountId: string,
    id: { readonly workspaceId: string; readonly maker: string; readonly label: string },
  ): Promise<ApiKeyRow | undefined> {
    const login = await transaction.loginKey.findUnique({
      where: { workspaceId_maker_label: id },
      include: { apiKey: { select: { hash: true } } },
    });
    return login ? lockKey(transaction, accountId, login.apiKey.hash) : undefined;
  }

  /** Without grace: the program that had the old secret has asked for the new one. */
  private async rotate(
    transaction: Transaction,
    { workspaceId, id }: ApiKeyRow,
    { secret, limit, limitReset, expiresAt, includeByokInLimit }: NewApiKey,
  ): Promise<ApiKeyRow> {
    const now = this.clock.now();
    await replaceSecrets(transaction, { workspaceId, id }, { secret, oldSecretsUntil: null }, now);
    return transaction.apiKey.update({
      where: { workspaceId_id: { workspaceId, id } },
      data: {
        label: keyLabel(secret),
        limit: toAmount(limit),
        limitReset,
        expiresAt,
        includeByokInLimit,
        updatedAt: now,
      },
    });
  }
}
