// Destinations, their encrypted configs, and the cursors that deliveries start from.
import { Injectable, Logger } from '@nestjs/common';
import type { DescribeChange } from '../domain/audit.js';
import { Clock } from '../domain/clock.js';
import { MAX_DESTINATIONS_PER_KIND, REGIONS } from '../domain/destination.js';
import type {
  Destination,
  DestinationChange,
  DestinationConfig,
  NewDestination,
} from '../domain/destination.js';
import { needsContent } from '../domain/destination-selection.js';
import { AppError } from '../domain/errors.js';
import type { FilterRules } from '../domain/filter-rules.js';
import { uuidV7 } from '../domain/identifiers.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { ConfigCipher } from './config-cipher.js';
import { Database } from './database.js';
import { LOG_HORIZON } from './log-offset.js';
import { UniqueViolation } from './database-errors.js';
import { Prisma } from './generated/client.js';
import type { DestinationModel as DestinationRow } from './generated/models.js';

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
   * Creates the destination in a free one of its workspace's five slots of the kind, and throws `conflict` when all
   * are taken. The unique key on the slot makes the limit exact: whoever loses a race for a slot looks again.
   */
  async createWithinLimit(
    destination: NewDestination,
    describe?: DescribeChange<Destination>,
  ): Promise<Destination> {
    const now = this.clock.now();
    const id = uuidV7(now);
    const { apiKeyHashes, filterRules, regions, config, ...columns } = destination;
    const encrypted = this.encrypt(config, id);
    for (;;) {
      const slot = await this.findFreeSlot(destination);
      const cursor = await this.endOfLog();
      try {
        return await this.database.transact(async (transaction) => {
          const row = await transaction.destination.create({
            data: {
              ...columns,
              ...encrypted,
              id,
              slot,
              apiKeyHashes: [...(apiKeyHashes ?? [])],
              filterRules: toJson(filterRules),
              regions: [...regions],
              needsContent: needsContent(destination),
              createdAt: now,
              updatedAt: now,
              cursor: { create: cursor },
            },
          });
          const created = this.toDestination(row);
          if (describe) await this.auditLog.record(describe(null, created), transaction);
          return created;
        });
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
      }
    }
  }

  async find(accountId: string, id: string): Promise<Destination | null> {
    const row = await this.database.prisma.destination.findUnique({
      where: { accountId_id: { accountId, id }, deletedAt: null },
    });
    return row && this.toDestination(row);
  }

  /** Newest first. */
  async list(
    accountId: string,
    workspaceId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly destinations: readonly Destination[]; readonly total: number }> {
    const where = { accountId, workspaceId, deletedAt: null };
    const [rows, total] = await Promise.all([
      this.database.prisma.destination.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        skip: page.offset,
        take: page.limit,
      }),
      this.database.prisma.destination.count({ where }),
    ]);
    return { destinations: rows.map((row) => this.toDestination(row)), total };
  }

  /** Changes the destination as it was read; null: it has been changed or deleted since then. */
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
      const after = this.toDestination(row);
      await this.auditLog.record(describe(before, after), transaction);
      return after;
    });
  }

  /** Frees the destination's slot; its row stays, for the deliveries in flight. False: the account has no such one. */
  async delete(accountId: string, id: string, describe: DescribeChange<Destination>): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const [row] = await transaction.destination.updateManyAndReturn({
        where: { accountId, id, deletedAt: null },
        data: { slot: null, deletedAt: this.clock.now(), version: { increment: 1 } },
      });
      if (!row) return false;
      await this.auditLog.record(describe(this.toDestination(row), null), transaction);
      return true;
    });
  }

  /** The destinations that generations of the workspace are forwarded to; none while its broadcast switch is off. */
  async listForBroadcast(workspaceId: string): Promise<readonly Destination[]> {
    const rows = await this.database.prisma.destination.findMany({
      where: { workspaceId, enabled: true, deletedAt: null, workspace: { isBroadcastEnabled: true } },
    });
    return rows.flatMap((row) => this.readable(row));
  }

  /** One config that cannot be decrypted must not stop the others. */
  private readable(row: DestinationRow): Destination[] {
    try {
      return [this.toDestination(row)];
    } catch (error) {
      this.logger.error({ destinationId: row.id, error }, 'the config of a destination cannot be read');
      return [];
    }
  }

  private async findFreeSlot({ workspaceId, kind, type }: NewDestination): Promise<number> {
    const taken = await this.database.prisma.destination.findMany({
      select: { slot: true },
      where: { workspaceId, kind, slot: { not: null } },
    });
    const slots = new Set(taken.map(({ slot }) => slot));
    for (let slot = 1; slot <= MAX_DESTINATIONS_PER_KIND; slot++) if (!slots.has(slot)) return slot;
    throw new AppError('conflict', {
      detail:
        `workspace ${workspaceId} has ${MAX_DESTINATIONS_PER_KIND} destinations of type ${type}, ` +
        'which is the limit; delete one of them first',
    });
  }

  /** Where a new destination begins: behind everything that is committed, before everything that is not yet. */
  private async endOfLog(): Promise<{ logTransaction: bigint; logOrdinal: number }> {
    const [row] = await this.database.query<{ horizon: string }>({
      name: 'end-of-log',
      text: `SELECT ${LOG_HORIZON} AS horizon`,
    });
    return { logTransaction: BigInt(row?.horizon ?? 0) - 1n, logOrdinal: 2 ** 31 - 1 };
  }

  private encrypt(config: DestinationConfig, id: string) {
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(config, id);
    return { configCiphertext: ciphertext, configEncryptionKeyId: encryptionKeyId };
  }

  private toDestination(row: DestinationRow): Destination {
    const encrypted = { ciphertext: row.configCiphertext, encryptionKeyId: row.configEncryptionKeyId };
    return {
      id: row.id,
      accountId: row.accountId,
      workspaceId: row.workspaceId,
      kind: row.kind,
      type: row.type,
      name: row.name,
      enabled: row.enabled,
      privacyMode: row.privacyMode,
      broadcastCost: row.broadcastCost,
      broadcastIdentity: row.broadcastIdentity,
      broadcastRequestContext: row.broadcastRequestContext,
      samplingRate: row.samplingRate,
      apiKeyHashes: row.apiKeyHashes.length === 0 ? null : row.apiKeyHashes,
      filterRules: row.filterRules as unknown as FilterRules | null,
      regions: REGIONS.filter((region) => row.regions.includes(region)),
      config: this.cipher.decrypt(encrypted, row.id) as DestinationConfig,
      version: row.version,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }
}

function toJson(filterRules: FilterRules | null): Prisma.InputJsonObject | typeof Prisma.DbNull {
  return filterRules ? (filterRules as unknown as Prisma.InputJsonObject) : Prisma.DbNull;
}
