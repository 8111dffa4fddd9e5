// Destinations, their encrypted configs, and the cursors that deliveries start from.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { MAX_DESTINATIONS_PER_KIND, REGIONS } from '../domain/destination.js';
import type { Destination, DestinationConfig, NewDestination } from '../domain/destination.js';
import { AppError } from '../domain/errors.js';
import type { FilterRules } from '../domain/filter-rules.js';
import { uuidV7 } from '../domain/identifiers.js';
import { ConfigCipher } from './config-cipher.js';
import { Database } from './database.js';
import { UniqueViolation } from './database-errors.js';
import { Prisma } from './generated/client.js';
import type { DestinationModel as DestinationRow } from './generated/models.js';

@Injectable()
export class DestinationsRepository {
  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates the destination in a free one of its workspace's five slots of the kind, and throws `conflict` when all
   * are taken. The unique key on the slot makes the limit exact: whoever loses a race for a slot looks again.
   */
  async createWithinLimit(destination: NewDestination): Promise<Destination> {
    const now = this.clock.now();
    const id = uuidV7(now);
    const { ciphertext, encryptionKeyId } = this.cipher.encrypt(destination.config, id);
    for (;;) {
      const slot = await this.findFreeSlot(destination);
      try {
        const row = await this.database.prisma.destination.create({
          data: {
            id,
            workspaceId: destination.workspaceId,
            accountId: destination.accountId,
            kind: destination.kind,
            type: destination.type,
            slot,
            name: destination.name,
            enabled: destination.enabled,
            privacyMode: destination.privacyMode,
            broadcastCost: destination.broadcastCost,
            broadcastIdentity: destination.broadcastIdentity,
            broadcastRequestContext: destination.broadcastRequestContext,
            samplingRate: destination.samplingRate,
            apiKeyHashes: [...(destination.apiKeyHashes ?? [])],
            filterRules: destination.filterRules
              ? (destination.filterRules as unknown as Prisma.InputJsonObject)
              : Prisma.DbNull,
            regions: [...destination.regions],
            configCiphertext: ciphertext,
            configEncryptionKeyId: encryptionKeyId,
            createdAt: now,
            updatedAt: now,
            cursor: { create: await this.endOfLog() },
          },
        });
        return this.toDestination(row);
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
      }
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
    const [row] = await this.database.query<{ transaction: string }>({
      name: 'end-of-log',
      text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS transaction`,
    });
    return { logTransaction: BigInt(row?.transaction ?? 0) - 1n, logOrdinal: 2 ** 31 - 1 };
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
