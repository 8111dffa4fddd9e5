// The delivery state of a destination for operators, and the replay that sets its cursor back.
import { Injectable } from '@nestjs/common';
import { parseSnapshot } from '../../domain/destinations/delivery.js';
import type { DropCounts, LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import type { Generation } from '../../domain/generations/generation.js';
import { utcDay } from '../../domain/spend/spend.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import type { DeliveryCursorModel } from '../generated/models.js';
import { COUNT_PENDING, RESUME, SET_BACK } from './replay-statements.js';
import type { DestinationRef } from './delivery-cursors.repository.js';
import { decryptText, ownerOfLastError } from './platform-texts.js';

export interface DeliveryError {
  readonly at: Date;
  readonly class: string;
  readonly status: number | null;
  readonly message: string;
}

export interface DeliveryState {
  readonly delivered: number;
  readonly dropped: DropCounts;
  readonly deadLetters: number;
  /** Generations after the cursor, including those that its rules will drop; at most MAX_PENDING. */
  readonly pending: number;
  readonly oldestPendingAt: Date | null;
  /** Calls of the workspace since the UTC day of `since` whose contents were not stored because of its quota. */
  readonly contentsSkipped: number;
  readonly failures: number;
  readonly lastSuccessAt: Date | null;
  readonly lastError: DeliveryError | null;
  readonly nextAttemptAt: Date | null;
  readonly pausedAt: Date | null;
}

export interface StatesOfGeneration {
  /** Whether the workspace delivers at all. */
  readonly isSwitchedOn: boolean;
  /** By destination. */
  readonly cursors: ReadonlyMap<string, CursorState>;
  readonly deadLetters: ReadonlyMap<string, { readonly reason: string; readonly isDelivered: boolean }>;
}

export interface CursorState extends Pick<
  DeliveryState,
  'dropped' | 'failures' | 'lastSuccessAt' | 'lastError' | 'nextAttemptAt' | 'pausedAt'
> {
  readonly position: LogPosition;
  readonly start: LogSnapshot;
}

@Injectable()
export class DeliveryStatesRepository {
  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
  ) {}

  /** Ends a pause after failures; false: there was none. */
  async resume({ workspaceId, destinationId }: DestinationRef): Promise<boolean> {
    const rows = await this.database.query({ text: RESUME, values: [workspaceId, destinationId] });
    return rows.length > 0;
  }

  /** By the id of the destination, of those that exist. All destinations are of one workspace. */
  async findAll(
    destinations: readonly DestinationRef[],
    since: Date,
  ): Promise<ReadonlyMap<string, DeliveryState>> {
    const [first] = destinations;
    if (first === undefined) return new Map();
    const { workspaceId } = first;
    const where = {
      workspaceId,
      destinationId: { in: destinations.map(({ destinationId }) => destinationId) },
    };
    const [cursors, letters, storage] = await Promise.all([
      this.database.prisma.deliveryCursor.findMany({ where }),
      this.database.prisma.deadLetter.groupBy({
        by: ['destinationId'],
        where: { ...where, isDelivered: false },
        _count: true,
      }),
      this.database.prisma.storageDay.aggregate({
        _sum: { contentsSkipped: true },
        where: { workspaceId, day: { gte: new Date(utcDay(since)) } },
      }),
    ]);
    const deadLetters = new Map(letters.map(({ destinationId, _count }) => [destinationId, _count]));
    const states = await Promise.all(
      cursors.map(async (cursor) => {
        const waiting = await this.countPending(cursor, since);
        return [
          cursor.destinationId,
          {
            delivered: Number(cursor.delivered),
            dropped: cursor.dropped as DropCounts,
            deadLetters: deadLetters.get(cursor.destinationId) ?? 0,
            pending: waiting?.pending ?? 0,
            oldestPendingAt: waiting?.oldest ?? null,
            contentsSkipped: Number(storage._sum.contentsSkipped ?? 0),
            failures: cursor.failures,
            lastSuccessAt: cursor.lastSuccessAt,
            lastError: this.lastErrorOf(cursor),
            nextAttemptAt: cursor.nextAttemptAt,
            pausedAt: cursor.pausedAt,
          },
        ] as const;
      }),
    );
    return new Map(states);
  }

  private async countPending(
    { workspaceId, logTransaction, logOrdinal, startSnapshot }: DeliveryCursorModel,
    since: Date,
  ) {
    const [waiting] = await this.database.query<{ pending: number; oldest: Date | null }>({
      text: COUNT_PENDING,
      values: [workspaceId, logTransaction, logOrdinal, startSnapshot, since],
    });
    return waiting;
  }

  /** The cursors, dead letters and switch that decide about one generation. */
  async findOfGeneration({
    workspaceId,
    id: generationId,
  }: Pick<Generation, 'workspaceId' | 'id'>): Promise<StatesOfGeneration> {
    const { prisma } = this.database;
    const [cursors, letters, workspace] = await Promise.all([
      prisma.deliveryCursor.findMany({ where: { workspaceId } }),
      prisma.deadLetter.findMany({
        select: { destinationId: true, reason: true, isDelivered: true },
        where: { workspaceId, generationId },
      }),
      prisma.workspace.findFirst({ select: { isBroadcastEnabled: true }, where: { id: workspaceId } }),
    ]);
    return {
      isSwitchedOn: workspace?.isBroadcastEnabled === true,
      cursors: new Map(
        cursors.map((cursor) => [
          cursor.destinationId,
          {
            position: { transaction: cursor.logTransaction, ordinal: cursor.logOrdinal },
            start: parseSnapshot(cursor.startSnapshot),
            dropped: cursor.dropped as DropCounts,
            failures: cursor.failures,
            lastSuccessAt: cursor.lastSuccessAt,
            lastError: this.lastErrorOf(cursor),
            nextAttemptAt: cursor.nextAttemptAt,
            pausedAt: cursor.pausedAt,
          },
        ]),
      ),
      deadLetters: new Map(letters.map((letter) => [letter.destinationId, letter])),
    };
  }

  private lastErrorOf(cursor: DeliveryCursorModel): DeliveryError | null {
    if (cursor.lastErrorAt === null) return null;
    return {
      at: cursor.lastErrorAt,
      class: cursor.lastErrorClass ?? 'retry',
      status: cursor.lastErrorStatus,
      message: decryptText(
        this.cipher,
        {
          status: cursor.lastErrorMessage ?? '',
          ciphertext: cursor.lastErrorCiphertext,
          encryptionKeyId: cursor.lastErrorEncryptionKeyId,
        },
        ownerOfLastError(cursor.destinationId),
      ),
    };
  }

  /**
   * Requests a new delivery of all generations created since `from`; false when the destination or its workspace is
   * off. The database notifies the current consumer.
   */
  async replayFrom(run: Run, { workspaceId, destinationId }: DestinationRef, from: Date): Promise<boolean> {
    const [row] = await run<{ isOn: boolean }>({
      text: SET_BACK,
      values: [workspaceId, destinationId, from],
    });
    return row?.isOn === true;
  }
}
