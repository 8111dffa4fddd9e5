// Dead letters: generations that a destination rejected for good.
import { Injectable } from '@nestjs/common';
import type { DeadLetter } from '../../domain/destinations/delivery.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import type { Prisma } from '../generated/client.js';
import type { DeadLetterModel } from '../generated/models.js';
import type { DestinationRef } from './delivery-cursors.repository.js';
import { decryptText, ownerOfDeadLetter } from './platform-texts.js';

export interface StoredDeadLetter extends DeadLetter {
  readonly createdAt: Date;
  readonly isReplayRequested: boolean;
  /** The last replay; null: none has ended. */
  readonly replay: { readonly at: Date; readonly isDelivered: boolean } | null;
}

/** The position of a letter in the list, stable while newer letters arrive. */
export type DeadLetterCursor = Pick<StoredDeadLetter, 'createdAt' | 'generationId'>;

export interface DeadLetterPage {
  readonly offset: number;
  readonly limit: number;
  /** Only letters after this one. */
  readonly after?: DeadLetterCursor | undefined;
}

export interface DeadLetterBounds {
  /** Dead letters of one destination; beyond it the oldest are removed. */
  readonly count: number;
  /** Retention in days. */
  readonly days: number;
}

export const DEAD_LETTER_BOUNDS: DeadLetterBounds = { count: 1_000, days: 7 };

@Injectable()
export class DeadLettersRepository {
  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
  ) {}

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
    return { letters: rows.map((row) => this.toDeadLetter(row)), total };
  }

  /** Letters that a replay has requested, oldest first. */
  async listRequested(
    { workspaceId, destinationId }: DestinationRef,
    limit: number,
  ): Promise<readonly StoredDeadLetter[]> {
    const rows = await this.database.prisma.deadLetter.findMany({
      where: { workspaceId, destinationId, replayRequestedAt: { not: null } },
      orderBy: [{ generationCreatedAt: 'asc' }, { generationId: 'asc' }],
      take: limit,
    });
    return rows.map((row) => this.toDeadLetter(row));
  }

  /** Requests the delivery of these generations, or of all dead letters, without delivered ones. Returns their number. */
  async requestReplay(
    run: Run,
    { workspaceId, destinationId }: DestinationRef,
    generationIds: readonly string[] | null,
    now: Date,
  ): Promise<number> {
    const rows = await run({
      text: `UPDATE dead_letters SET replay_requested_at = $4
WHERE workspace_id = $1 AND destination_id = $2 AND NOT is_delivered AND ($3::uuid[] IS NULL OR generation_id = ANY($3)) RETURNING 1`,
      values: [workspaceId, destinationId, generationIds, now],
    });
    return rows.length;
  }

  /** Delivered letters stay in the list, so that it shows the result of a replay. */
  async markDelivered(
    { workspaceId, destinationId }: DestinationRef,
    generationIds: readonly string[],
    now: Date,
  ): Promise<void> {
    await this.database.prisma.deadLetter.updateMany({
      where: { workspaceId, destinationId, generationId: { in: [...generationIds] } },
      data: { replayRequestedAt: null, replayedAt: now, isDelivered: true },
    });
  }

  /** Removes platforms' texts about generations created before that moment, and about failures before it. */
  async removeTexts(before: Date): Promise<void> {
    await this.database.query({
      text: `
WITH letters AS (
  UPDATE dead_letters SET message_ciphertext = NULL, message_encryption_key_id = NULL
  WHERE message_ciphertext IS NOT NULL AND generation_created_at < $1
)
UPDATE delivery_cursors SET last_error_ciphertext = NULL, last_error_encryption_key_id = NULL
WHERE last_error_ciphertext IS NOT NULL AND last_error_at < $1`,
      values: [before],
    });
  }

  /** Removes letters beyond the bounds, of every destination, delivered ones first. Returns their number. */
  async removeBeyond({ count, days }: DeadLetterBounds): Promise<number> {
    const [row] = await this.database.query<{ removed: number }>({
      text: `
WITH crowded AS (
  SELECT workspace_id, destination_id FROM dead_letters GROUP BY workspace_id, destination_id HAVING count(*) > $1
), surplus AS (
  SELECT letter.workspace_id, letter.destination_id, letter.generation_id FROM crowded, LATERAL (
    SELECT * FROM dead_letters AS one
    WHERE one.workspace_id = crowded.workspace_id AND one.destination_id = crowded.destination_id
    ORDER BY is_delivered, created_at DESC OFFSET $1
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

  private toDeadLetter(row: DeadLetterModel): StoredDeadLetter {
    const { destinationId, generationId } = row;
    const text = {
      status: row.message,
      ciphertext: row.messageCiphertext,
      encryptionKeyId: row.messageEncryptionKeyId,
    };
    return {
      generationId,
      generationCreatedAt: row.generationCreatedAt,
      reason: row.reason === 'too_large' ? 'too_large' : 'refused',
      message: decryptText(this.cipher, text, ownerOfDeadLetter(destinationId, generationId)),
      createdAt: row.createdAt,
      isReplayRequested: row.replayRequestedAt !== null,
      replay: row.replayedAt && { at: row.replayedAt, isDelivered: row.isDelivered },
    };
  }
}

/** In the order of the index: every page costs the same. */
function behind({ createdAt, generationId }: DeadLetterCursor): Prisma.DeadLetterWhereInput {
  return {
    createdAt: { lte: createdAt },
    NOT: { createdAt, generationId: { gte: generationId } },
  };
}
