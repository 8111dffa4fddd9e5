// API keys, their secrets and their spend.
import { Injectable } from '@nestjs/common';
import { keyLabel } from '../../domain/keys/api-key.js';
import type {
  ApiKey,
  ApiKeyChange,
  ApiKeyKind,
  ApiKeySnapshot,
  ApiKeyWithSpend,
  Caller,
} from '../../domain/keys/api-key.js';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import type { PageRequest } from '../../domain/page.js';
import type { Scope } from '../../domain/people/manager.js';
import { findKeys, keysOfOperator, plainList } from './api-key-listing.js';
import type { ApiKeyListing, OperatorListing } from './api-key-listing.js';
import { FIND_CALLERS, READ_KEY, toApiKey, toCaller } from './api-key-statements.js';
import { readSpend, toKeySpend } from '../spend/spend-row.js';
import type { CallerRow, KeySnapshotRow } from './api-key-statements.js';
import { recordHashOf } from './key-hashes.js';
import { insertKey, lockKey, replaceSecrets, toAmount } from './key-writes.js';
import type { NewApiKey, SecretRotation } from './key-writes.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { Reports } from '../database/reports.js';
import type { Prisma } from '../generated/client.js';
import type { ApiKeyModel as ApiKeyRow, KeySpendModel } from '../generated/models.js';
import { readKeyRefusals } from '../refusals/refusals.repository.js';
import { readGuardrailLimits, readSharedLimits } from '../spend/shared-limits-json.js';
import { rejectAboveQuotas } from '../workspaces/quotas.js';
import type { Quota } from '../workspaces/quotas.js';

export type TracedKey = Pick<ApiKey, 'id' | 'hash' | 'name' | 'creatorUserId' | 'externalUser'>;

type ApiKeyRowWithSpend = ApiKeyRow & { readonly spend: KeySpendModel | null };

@Injectable()
export class ApiKeysRepository {
  private readonly callers = new BatchReader<string, Caller>({
    idOf: (secretHash) => secretHash,
    read: (secretHashes) => this.readCallers(secretHashes),
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly auditLog: AuditLogRepository,
    private readonly reports: Reports,
  ) {}

  /** Throws UniqueViolation when the secret is in use already, `limit_reached` when a quota is used up. */
  async create(
    key: NewApiKey,
    describe?: DescribeChange<ApiKey>,
    quotas: readonly Quota[] = [],
  ): Promise<ApiKey> {
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      const row = await insertKey(transaction, key, now);
      await rejectAboveQuotas(transaction, quotas);
      const created = toApiKey(row);
      if (describe) await this.auditLog.record(describe(null, created), transaction);
      return created;
    }, key.accountId);
  }

  /** Null: the account has no such key. */
  async update(
    accountId: string,
    hash: string,
    change: ApiKeyChange,
    describe: DescribeChange<ApiKey>,
  ): Promise<ApiKeyWithSpend | null> {
    const { limit, ...others } = change;
    return this.change(accountId, hash, describe, (transaction, { workspaceId, id }) =>
      transaction.apiKey.update({
        where: { workspaceId_id: { workspaceId, id } },
        data: {
          ...others,
          ...(limit === undefined ? {} : { limit: toAmount(limit) }),
          updatedAt: this.clock.now(),
        },
        include: { spend: true },
      }),
    );
  }

  /** Null: the account has no such key. A key has at most two secrets: those replaced before expire now. */
  async rotate(
    accountId: string,
    hash: string,
    { secret, oldSecretsUntil, ...ending }: SecretRotation,
    describe: DescribeChange<ApiKey>,
  ): Promise<ApiKeyWithSpend | null> {
    const now = this.clock.now();
    return this.change(accountId, hash, describe, async (transaction, { workspaceId, id }) => {
      await replaceSecrets(transaction, { workspaceId, id }, { secret, oldSecretsUntil }, now);
      return transaction.apiKey.update({
        where: { workspaceId_id: { workspaceId, id } },
        data: { ...ending, label: keyLabel(secret), updatedAt: now },
        include: { spend: true },
      });
    });
  }

  /** False: the account has no such key. Its row stays, for the records that name it; its secrets are deleted. */
  async delete(accountId: string, hash: string, describe: DescribeChange<ApiKey>): Promise<boolean> {
    const deleted = await this.change(accountId, hash, describe, async (transaction, { workspaceId, id }) => {
      const row = await transaction.apiKey.update({
        where: { workspaceId_id: { workspaceId, id } },
        data: { deletedAt: this.clock.now() },
        include: { spend: true },
      });
      await transaction.apiKeySecret.deleteMany({ where: { workspaceId, apiKeyId: id } });
      return row;
    });
    return deleted !== null;
  }

  /** Those within reach. */
  async list(scope: Scope, listing: ApiKeyListing): Promise<readonly ApiKeyWithSpend[]> {
    const { accountId } = scope;
    const plain = plainList(scope, listing);
    if (plain) return this.listWhere(plain, listing);
    const statement = findKeys(scope, listing, this.clock.now());
    const ids = (await this.reports.read<{ id: string }>(accountId, statement)).map(({ id }) => id);
    const found = await this.listWhere({ accountId, id: { in: ids } }, { offset: 0, limit: listing.limit });
    const positions = new Map(ids.map((id, position) => [id, position]));
    const positionOf = ({ key }: ApiKeyWithSpend): number => positions.get(key.id) ?? 0;
    return found.toSorted((one, other) => positionOf(one) - positionOf(other));
  }

  /** Returns the keys of all accounts, newest first. For commands alone: no API caller may see other accounts. */
  async listForOperator(listing: OperatorListing): Promise<readonly ApiKeyWithSpend[]> {
    return this.listWhere(keysOfOperator(listing), listing);
  }

  private async listWhere(
    where: Prisma.ApiKeyWhereInput,
    { offset, limit }: PageRequest,
  ): Promise<readonly ApiKeyWithSpend[]> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { ...where, deletedAt: null },
      include: { spend: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      skip: offset,
      take: limit,
    });
    const now = this.clock.now();
    return rows.map((row) => ({ key: toApiKey(row), spend: toKeySpend(row.spend, now) }));
  }

  /**
   * The caller of a secret: the one look-up on the request path that the caller cache misses. Batched with those of
   * other requests: however many secrets are guessed, few statements run, and no valid one waits long.
   */
  async findCaller(secretHash: string): Promise<Caller | null> {
    return this.callers.find(secretHash);
  }

  private async readCallers(secretHashes: readonly string[]): Promise<ReadonlyMap<string, Caller>> {
    const rows = await this.database.query<CallerRow & Record<string, unknown>>({
      name: 'find-callers',
      text: FIND_CALLERS,
      values: [secretHashes],
    });
    return new Map(rows.map((row) => [row.secretHash, toCaller(row)]));
  }

  /** By the hash of the record or of a valid secret. Null: the account has no such key. */
  async find(accountId: string, hash: string): Promise<ApiKeySnapshot | null> {
    const found = await this.findByRecordHash(accountId, hash);
    if (found) return found;
    const recordHash = await recordHashOf(this.database.prisma, accountId, hash, this.clock.now());
    return recordHash === null ? null : this.findByRecordHash(accountId, recordHash);
  }

  private async findByRecordHash(accountId: string, recordHash: string): Promise<ApiKeySnapshot | null> {
    const now = this.clock.now();
    const [row] = await this.database.query<KeySnapshotRow>({
      name: 'read-key',
      text: READ_KEY,
      values: [accountId, recordHash, now],
    });
    if (!row) return null;
    return {
      key: toApiKey(row),
      spend: readSpend(row.spend, now),
      sharedLimits: readSharedLimits(row.sharedLimits, now),
      guardrailLimits: readGuardrailLimits(row.guardrailLimits, now),
      lastUse: { day: row.day, moment: row.moment },
      refusals: readKeyRefusals(row.refusals),
    };
  }

  /** The trace members of these keys, deleted ones included. */
  async findForTraces(workspaceId: string, ids: readonly string[]): Promise<readonly TracedKey[]> {
    return this.database.prisma.apiKey.findMany({
      select: { id: true, hash: true, name: true, creatorUserId: true, externalUser: true },
      where: { workspaceId, id: { in: [...ids] } },
    });
  }

  async count(kind: ApiKeyKind): Promise<number> {
    return this.database.prisma.apiKey.count({ where: { kind, deletedAt: null } });
  }

  /**
   * One change of one key, found by the hash of its record or of a valid secret, and its entry in the audit log. The result is read before the commit: nothing may fail
   * after the key is changed.
   */
  private async change(
    accountId: string,
    hash: string,
    describe: DescribeChange<ApiKey>,
    apply: (transaction: Transaction, row: ApiKeyRow) => Promise<ApiKeyRowWithSpend>,
  ): Promise<ApiKeyWithSpend | null> {
    return this.database.transact(async (transaction) => {
      let row = await lockKey(transaction, accountId, hash);
      if (!row) {
        const recordHash = await recordHashOf(transaction, accountId, hash, this.clock.now());
        row = recordHash === null ? undefined : await lockKey(transaction, accountId, recordHash);
      }
      if (!row) return null;
      const changed = await apply(transaction, row);
      const key = toApiKey(changed);
      await this.auditLog.record(describe(toApiKey(row), changed.deletedAt ? null : key), transaction);
      return { key, spend: toKeySpend(changed.spend, this.clock.now()) };
    }, accountId);
  }
}
