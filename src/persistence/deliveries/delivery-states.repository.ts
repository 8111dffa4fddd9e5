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
  readonly deadLetters: ReadonlyMap<string, { readonly reason: string; readonly createdAt: Date }>;
}

export interface CursorState extends Pick<
  DeliveryState,
  'dropped' | 'failures' | 'lastSuccessAt' | 'lastError' | 'nextAttemptAt' | 'pausedAt'
> {
  readonly position: LogPosition;
  readonly start: LogSnapshot;
}

/** The upper bound of the count. */
export const MAX_PENDING = 10_000;

/**
 * $1 workspace, $2 and $3 the position of the cursor, $4 its start snapshot, $5 the oldest moment to read.
 * The position is a parameter, and the statement is planned for it. Joined, it would be searched among all
 * generations of the workspace since that moment.
 */
const COUNT_PENDING = `
SELECT count(*)::integer AS pending, min(created_at) AS oldest FROM (
  SELECT created_at FROM generations
  WHERE workspace_id = $1 AND (log_transaction, log_ordinal) > ($2, $3) AND created_at >= $5
    AND NOT pg_visible_in_snapshot(log_transaction::text::xid8, $4::pg_snapshot)
  ORDER BY log_transaction, log_ordinal LIMIT ${MAX_PENDING}
) AS waiting`;

/**
 * $1 workspace, $2 destination, $3 a moment. Moves the cursor back, to before the first generation created since
 * then. It never moves forward, and not while the destination is off: switched on, the cursor would jump to the end.
 *
 * The start snapshot, which excludes generations from before the activation, is cut at that first generation. The
 * cursor may already be before it, if a transaction was open at the activation, and would skip the generations that
 * follow.
 *
 * The first such generation in the log is among those of the first hour: no call takes so long, and no clocks differ
 * so much. OFFSET 0 keeps the planner from searching it from the beginning of the log.
 */
const SET_BACK = `
WITH destination AS (
  SELECT destination.enabled AND workspace.is_broadcast_enabled AS "isOn" FROM destinations AS destination
  JOIN workspaces AS workspace ON workspace.id = destination.workspace_id
  WHERE destination.workspace_id = $1 AND destination.id = $2
), first AS (
  SELECT min(log_transaction) AS log_transaction FROM (
    SELECT log_transaction FROM generations WHERE workspace_id = $1 AND created_at >= $3 AND created_at <= (
      SELECT min(created_at) FROM generations WHERE workspace_id = $1 AND created_at >= $3
    ) + interval '1 hour' OFFSET 0
  ) AS early
), moved AS (
  UPDATE delivery_cursors AS cursor
  SET (log_transaction, log_ordinal) = (
      SELECT back.log_transaction, back.log_ordinal
      FROM (VALUES (first.log_transaction - 1, 2147483647), (cursor.log_transaction, cursor.log_ordinal))
        AS back (log_transaction, log_ordinal)
      ORDER BY 1, 2 LIMIT 1
    ),
    start_snapshot = concat_ws(':',
      least(pg_snapshot_xmin(cursor.start_snapshot::pg_snapshot)::text::bigint, first.log_transaction),
      first.log_transaction,
      coalesce((
        SELECT string_agg(open.id::text, ',' ORDER BY open.id::text::bigint)
        FROM pg_snapshot_xip(cursor.start_snapshot::pg_snapshot) AS open (id)
        WHERE open.id::text::bigint < first.log_transaction
      ), '')),
    next_attempt_at = NULL
  FROM first, destination
  WHERE destination."isOn" AND cursor.workspace_id = $1 AND cursor.destination_id = $2
    AND (first.log_transaction <= cursor.log_transaction
      OR first.log_transaction < pg_snapshot_xmax(cursor.start_snapshot::pg_snapshot)::text::bigint)
)
SELECT "isOn" FROM destination`;

/** $1 workspace, $2 destination. */
const RESUME = `
UPDATE delivery_cursors SET next_attempt_at = NULL, paused_at = NULL, failures = 0
WHERE workspace_id = $1 AND destination_id = $2 AND next_attempt_at > now() RETURNING 1`;

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
      this.database.prisma.deadLetter.groupBy({ by: ['destinationId'], where, _count: true }),
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
        select: { destinationId: true, reason: true, createdAt: true },
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
