// Dead letters: generations that a destination would not take.
import { Injectable } from '@nestjs/common';
import type { DeadLetter } from '../domain/delivery.js';
import { Database } from './database.js';
import type { Prisma } from './generated/client.js';
import type { DestinationRef } from './delivery-cursors.repository.js';

export interface StoredDeadLetter extends DeadLetter {
  readonly createdAt: Date;
  readonly isReplayRequested: boolean;
}

/** Where in the list a letter stands, however many have come before it since. */
export type DeadLetterPlace = Pick<StoredDeadLetter, 'createdAt' | 'generationId'>;

export interface DeadLetterPage {
  readonly offset: number;
  readonly limit: number;
  /** Only what is listed behind this one. */
  readonly after?: DeadLetterPlace | undefined;
}

export interface DeadLetterBounds {
  /** Dead letters of one destination at most; the oldest give way. */
  readonly count: number;
  /** Days that one is kept. */
  readonly days: number;
}

export const DEAD_LETTER_BOUNDS: DeadLetterBounds = { count: 1_000, days: 7 };

@Injectable()
export class DeadLettersRepository {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list(
    { workspaceId, destinationId }: DestinationRef,
    { offset, limit, after }: DeadLetterPage,
  ): Promise<{ readonly letters: readonly StoredDeadLetter[]; readonly total: number }> {
    const where = { workspaceId, destinationId };
    const [rows, total] = await Promise.all([
      this.database.prisma.deadLetter.findMany({
        where: { ...where, ...(after && behind(after)) },
        orderBy: [{ createdAt: 'desc' }, { generationId: 'desc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.deadLetter.count({ where }),
    ]);
    return { letters: rows.map(toDeadLetter), total };
  }

  /** Those that somebody wants delivered again, oldest first. */
  async listRequested(
    { workspaceId, destinationId }: DestinationRef,
    limit: number,
  ): Promise<readonly StoredDeadLetter[]> {
    const rows = await this.database.prisma.deadLetter.findMany({
      where: { workspaceId, destinationId, replayRequestedAt: { not: null } },
      orderBy: [{ generationCreatedAt: 'asc' }, { generationId: 'asc' }],
      take: limit,
    });
    return rows.map(toDeadLetter);
  }

  /** Asks for these generations, or for all, to be delivered again. Answers how many there are. */
  async requestReplay(
    { workspaceId, destinationId }: DestinationRef,
    generationIds: readonly string[] | null,
    now: Date,
  ): Promise<number> {
    const { count } = await this.database.prisma.deadLetter.updateMany({
      where: {
        workspaceId,
        destinationId,
        ...(generationIds === null ? {} : { generationId: { in: [...generationIds] } }),
      },
      data: { replayRequestedAt: now },
    });
    return count;
  }

  async remove(
    { workspaceId, destinationId }: DestinationRef,
    generationIds: readonly string[],
  ): Promise<void> {
    await this.database.prisma.deadLetter.deleteMany({
      where: { workspaceId, destinationId, generationId: { in: [...generationIds] } },
    });
  }

  /** Removes what is beyond the bounds, of every destination. Answers how many. */
  async removeBeyond({ count, days }: DeadLetterBounds): Promise<number> {
    const [row] = await this.database.query<{ removed: number }>({
      text: `
WITH crowded AS (
  SELECT workspace_id, destination_id FROM dead_letters GROUP BY workspace_id, destination_id HAVING count(*) > $1
), surplus AS (
  SELECT letter.workspace_id, letter.destination_id, letter.generation_id FROM crowded, LATERAL (
    SELECT * FROM dead_letters AS one
    WHERE one.workspace_id = crowded.workspace_id AND one.destination_id = crowded.destination_id
    ORDER BY created_at DESC OFFSET $1
  ) AS letter
  UNION
  SELECT workspace_id, destination_id, generation_id FROM dead_letters
  WHERE created_at < now() - make_interval(days => $2)
), removed AS (
  DELETE FROM dead_letters AS letter USING surplus WHERE letter.workspace_id = surplus.workspace_id
    AND letter.destination_id = surplus.destination_id AND letter.generation_id = surplus.generation_id
  RETURNING 1
)
SELECT count(*)::integer AS removed FROM removed`,
      values: [count, days],
    });
    return row?.removed ?? 0;
  }
}

/** As the index is ordered: a page costs the same wherever it begins. */
function behind({ createdAt, generationId }: DeadLetterPlace): Prisma.DeadLetterWhereInput {
  return {
    createdAt: { lte: createdAt },
    NOT: { createdAt, generationId: { gte: generationId } },
  };
}

function toDeadLetter(row: {
  readonly generationId: string;
  readonly generationCreatedAt: Date;
  readonly reason: string;
  readonly message: string;
  readonly createdAt: Date;
  readonly replayRequestedAt: Date | null;
}): StoredDeadLetter {
  return {
    generationId: row.generationId,
    generationCreatedAt: row.generationCreatedAt,
    reason: row.reason === 'too_large' ? 'too_large' : 'refused',
    message: row.message,
    createdAt: row.createdAt,
    isReplayRequested: row.replayRequestedAt !== null,
  };
}
