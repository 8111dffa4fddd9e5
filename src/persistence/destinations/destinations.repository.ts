// Destinations, their encrypted configs, and the cursors from which deliveries start.
import { Injectable, Logger } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { MAX_DESTINATIONS_PER_KIND, REGIONS } from '../../domain/destinations/destination.js';
import type {
  Destination,
  DestinationChange,
  DestinationConfig,
  NewDestination,
} from '../../domain/destinations/destination.js';
import { needsContent } from '../../domain/destinations/destination-selection.js';
import { AppError } from '../../domain/errors.js';
import type { FilterRules } from '../../domain/destinations/filter-rules.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { lockRow } from '../database/rows/row-lock.js';
import { LOG_SNAPSHOT, horizonOf } from '../database/log-offset.js';
import { Prisma } from '../generated/client.js';
import type { DestinationModel as DestinationRow } from '../generated/models.js';

/** $1 workspace, $2 destination. The cursor is after every committed generation and before every later one. */
const START_CURSOR = `
INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal, start_snapshot)
SELECT $1::uuid, $2::uuid, ${horizonOf('snapshot')} - 1, ${2 ** 31 - 1}, snapshot
FROM (SELECT ${LOG_SNAPSHOT} AS snapshot) AS log`;

@Injectable()
export class DestinationsRepository {
  private readonly logger = new Logger(DestinationsRepository.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
    private readonly auditLog: AuditLogRepository,
  ) {}

  /**
   * Creates the destination in a free one of its workspace's five slots of the kind. Throws `limit_reached` when all are
   * taken, `invalid_request` when the account has no such workspace.
   */
  async createWithinLimit(
    destination: NewDestination,
    describe?: DescribeChange<Destination>,
  ): Promise<Destination> {
    const { accountId, workspaceId, apiKeyHashes, filterRules, regions, config, ...columns } = destination;
    const now = this.clock.now();
    const id = uuidV7(now);
    const encrypted = this.encrypt(config, id);
    return this.database.transact(async (transaction) => {
      const row = await transaction.destination.create({
        data: {
          ...columns,
          ...encrypted,
          id,
          accountId,
          workspaceId,
          slot: await findSlot(transaction, destination),
          apiKeyHashes: [...(apiKeyHashes ?? [])],
          filterRules: toJson(filterRules),
          regions: [...regions],
          needsContent: needsContent(destination),
          createdAt: now,
          updatedAt: now,
        },
      });
      await transaction.$executeRawUnsafe(START_CURSOR, workspaceId, id);
      const created = this.decrypted(row);
      if (describe) await this.auditLog.record(describe(null, created), transaction);
      return created;
    }, accountId);
  }

  async find(accountId: string, id: string): Promise<Destination | null> {
    const row = await this.database.prisma.destination.findUnique({
      where: { accountId_id: { accountId, id }, deletedAt: null },
    });
    return row && this.decrypted(row);
  }

  /** Newest first. */
  async list(
    accountId: string,
    workspaceId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly destinations: readonly Destination[]; readonly total: number }> {
    const where = { accountId, workspaceId, deletedAt: null };
    const rows = await this.database.prisma.destination.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      skip: page.offset,
      take: page.limit,
    });
    // The last page gives the total: a count would be a second statement, which may read deleted rows.
    const isLast = rows.length < page.limit && (rows.length > 0 || page.offset === 0);
    const total = isLast
      ? page.offset + rows.length
      : await this.database.prisma.destination.count({ where });
    return { destinations: rows.map((row) => this.decrypted(row)), total };
  }

  /** Updates the destination if it is unchanged since `before` was read; else null. */
  async update(
    before: Destination,
    change: DestinationChange,
    describe: DescribeChange<Destination>,
  ): Promise<Destination | null> {
    const { accountId, workspaceId, id, version } = before;
    const { apiKeyHashes, filterRules, regions, config, ...columns } = change;
    return this.database.transact(async (transaction) => {
      const [row] = await transaction.destination.updateManyAndReturn({
        where: { workspaceId, id, accountId, version, deletedAt: null },
        data: {
          ...columns,
          ...(config === undefined ? {} : this.encrypt(config, id)),
          ...(apiKeyHashes === undefined ? {} : { apiKeyHashes: [...(apiKeyHashes ?? [])] }),
          ...(filterRules === undefined ? {} : { filterRules: toJson(filterRules) }),
          ...(regions === undefined ? {} : { regions: [...regions] }),
          needsContent: needsContent({ ...before, ...change }),
          version: { increment: 1 },
          updatedAt: this.clock.now(),
        },
      });
      if (!row) return null;
      const after = this.decrypted(row);
      await this.auditLog.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /**
   * Frees the destination's slot. A trigger deletes its cursor and dead letters; its row stays until it is purged.
   * False: the account has no such destination.
   */
  async delete(accountId: string, id: string, describe: DescribeChange<Destination>): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const [row] = await transaction.destination.updateManyAndReturn({
        where: { accountId, id, deletedAt: null },
        data: { slot: null, deletedAt: this.clock.now(), version: { increment: 1 } },
      });
      if (!row) return false;
      await this.auditLog.record(describe(this.decrypted(row), null), transaction);
      return true;
    }, accountId);
  }

  /** The destinations of the workspace's generations; none while its broadcast switch is off. */
  async listForDelivery(workspaceId: string): Promise<readonly Destination[]> {
    const rows = await this.database.prisma.destination.findMany({
      where: { workspaceId, enabled: true, deletedAt: null, workspace: { isBroadcastEnabled: true } },
    });
    return rows.flatMap((row) => this.readable(row));
  }

  /** Whether one is in privacy mode, enabled or not. */
  async hasPrivate(workspaceId: string): Promise<boolean> {
    // Deleted ones have no slot: the index of slots passes over them.
    const rows = await this.database.prisma.destination.findMany({
      select: { privacyMode: true },
      where: { workspaceId, slot: { gte: 0 }, deletedAt: null },
    });
    return rows.some(({ privacyMode }) => privacyMode);
  }

  /** A config that cannot be decrypted must not stop the others. */
  private readable(row: DestinationRow): Destination[] {
    try {
      return [this.decrypted(row)];
    } catch (error) {
      this.logger.error({ destinationId: row.id, error }, 'failed to decrypt the config of a destination');
      return [];
    }
  }

  private encrypt(config: DestinationConfig, id: string) {
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(config, id);
    return { configCiphertext: ciphertext, configEncryptionKeyId: encryptionKeyId };
  }

  private decrypted(row: DestinationRow): Destination {
    const encrypted = { ciphertext: row.configCiphertext, encryptionKeyId: row.configEncryptionKeyId };
    const config = this.cipher.decrypt(encrypted, row.id) as DestinationConfig;
    const { id, version, createdAt, updatedAt } = row;
    return toDestination(row, { id, config, version, createdAt, updatedAt });
  }
}

function toDestination(
  columns: Omit<NewDestination, 'config' | 'regions' | 'filterRules'> & {
    readonly regions: readonly string[];
    readonly filterRules: unknown;
  },
  own: Pick<Destination, 'id' | 'config' | 'version' | 'createdAt' | 'updatedAt'>,
): Destination {
  const { apiKeyHashes, regions } = columns;
  return {
    id: own.id,
    accountId: columns.accountId,
    workspaceId: columns.workspaceId,
    kind: columns.kind,
    type: columns.type,
    name: columns.name,
    enabled: columns.enabled,
    privacyMode: columns.privacyMode,
    broadcastCost: columns.broadcastCost,
    broadcastIdentity: columns.broadcastIdentity,
    broadcastRequestContext: columns.broadcastRequestContext,
    samplingRate: columns.samplingRate,
    apiKeyHashes: apiKeyHashes === null || apiKeyHashes.length === 0 ? null : apiKeyHashes,
    filterRules: columns.filterRules as FilterRules | null,
    regions: REGIONS.filter((region) => regions.includes(region)),
    config: own.config,
    version: own.version,
    createdAt: own.createdAt,
    updatedAt: own.updatedAt,
  };
}

/** Concurrent creations in one workspace wait here, so that the limit is exact. */
async function findSlot(transaction: Transaction, destination: NewDestination): Promise<number> {
  const { accountId, workspaceId, kind } = destination;
  if (!(await lockRow(transaction, 'workspaces', { accountId, id: workspaceId }))) throw noSuchWorkspace();
  const rows = await transaction.destination.findMany({
    where: { workspaceId, kind, slot: { not: null } },
    select: { slot: true },
  });
  const taken = new Set(rows.map(({ slot }) => slot));
  for (let slot = 1; slot <= MAX_DESTINATIONS_PER_KIND; slot++) if (!taken.has(slot)) return slot;
  return rejectOneMore(destination);
}

function rejectOneMore({ workspaceId, kind }: NewDestination): never {
  throw new AppError('limit_reached', {
    detail:
      `workspace ${workspaceId} has ${MAX_DESTINATIONS_PER_KIND} destinations of type ${kind}, ` +
      'which is the limit; delete one of them first',
  });
}

function toJson(filterRules: FilterRules | null): Prisma.InputJsonObject | typeof Prisma.DbNull {
  return filterRules ? (filterRules as unknown as Prisma.InputJsonObject) : Prisma.DbNull;
}
