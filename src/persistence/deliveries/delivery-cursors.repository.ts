// The cursors of destinations: who delivers, how far it has come, what operators see of it.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { formatSnapshot, parseSnapshot } from '../../domain/destinations/delivery.js';
import type {
  DeadLetter,
  DeliveryFailure,
  DropCounts,
  LogPosition,
  LogSnapshot,
} from '../../domain/destinations/delivery.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { Database } from '../database/database.js';
import {
  ADVANCE,
  CLAIM_DUE,
  CLAIM_WAITING_OF_WORKSPACES,
  CLAIM_WORKSPACE,
  FAIL,
  LIST_WORKSPACES,
  LOOK_AGAIN,
  RELEASE,
  RENEW,
} from './delivery-statements.js';
import { Notifications } from '../database/notifications.js';
import { encryptText, ownerOfDeadLetter, ownerOfLastError } from './platform-texts.js';
import { LIVE_SESSIONS } from '../database/sessions.js';

export interface DestinationRef {
  readonly workspaceId: string;
  readonly destinationId: string;
}

/** A cursor that this process may move until its lease expires. */
export interface ClaimedCursor extends DestinationRef {
  readonly claimId: string;
  readonly position: LogPosition;
  /** What had been committed by then is not for this destination. */
  readonly start: LogSnapshot;
  /** Failed attempts since the last success, by whoever made them. */
  readonly failures: number;
  readonly isPaused: boolean;
  /** Whether it has not moved, and was not looked at for what is too old, for so long that something may be. */
  readonly hasStood: boolean;
  /** Milliseconds since it was last moved or looked at so, by the clock of the database. */
  readonly stoodFor: number;
}

/** What became of a run of the log. */
export interface DeliveryProgress {
  readonly position: LogPosition;
  readonly delivered: number;
  readonly dropped: DropCounts;
  readonly deadLetters: readonly DeadLetter[];
}

interface ClaimedRow extends DestinationRef {
  readonly transaction: string;
  readonly ordinal: number;
  readonly failures: number;
  readonly pausedAt: Date | null;
  readonly startSnapshot: string;
  readonly hasStood: boolean;
  readonly stoodFor: number;
}

@Injectable()
export class DeliveryCursorsRepository {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly cipher: ConfigCipher,
  ) {}

  /** Claims every destination of the workspace that nobody delivers to and that may be delivered to now. */
  async claimWorkspace(workspaceId: string): Promise<readonly ClaimedCursor[]> {
    return this.claim('claim-workspace', CLAIM_WORKSPACE, [workspaceId]);
  }

  /** Of several workspaces' only the ones that something made since `since` waits for. */
  async claimWaitingOf(workspaceIds: readonly string[], since: Date): Promise<readonly ClaimedCursor[]> {
    return this.claim('claim-waiting-of-workspaces', CLAIM_WAITING_OF_WORKSPACES, [[...workspaceIds], since]);
  }

  /** Workspaces that have destinations, in the order of their ids: those after `after`. */
  async listWorkspaces(after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ workspaceId: string }>({
      name: 'list-workspaces-with-destinations',
      text: LIST_WORKSPACES,
      values: [after, limit],
    });
    return rows.map(({ workspaceId }) => workspaceId);
  }

  /** Of all processes on this database. */
  async listLiveSessions(): Promise<readonly string[]> {
    const rows = await this.database.query<{ session: string }>({
      name: 'live-sessions',
      text: LIVE_SESSIONS,
    });
    return rows.map(({ session }) => session);
  }

  /** Claims destinations whose pause after a failure is over. */
  async claimDue(limit: number): Promise<readonly ClaimedCursor[]> {
    return this.claim('claim-due', CLAIM_DUE, [limit]);
  }

  async renew(claims: Iterable<Pick<ClaimedCursor, 'claimId'>>): Promise<void> {
    const ids = new Set([...claims].map(({ claimId }) => claimId));
    await this.database.query({ name: 'renew-claims', text: RENEW, values: [[...ids]] });
  }

  async release({ claimId, workspaceId, destinationId }: ClaimedCursor): Promise<void> {
    await this.database.query({
      name: 'release-claim',
      text: RELEASE,
      values: [claimId, workspaceId, destinationId],
    });
  }

  /** Where the cursor is now; null when the claim was lost. */
  async lookAgain({
    claimId,
    workspaceId,
    destinationId,
  }: ClaimedCursor): Promise<Pick<ClaimedCursor, 'position' | 'start'> | null> {
    const [row] = await this.database.query<Pick<ClaimedRow, 'transaction' | 'ordinal' | 'startSnapshot'>>({
      name: 'look-again',
      text: LOOK_AGAIN,
      values: [claimId, workspaceId, destinationId],
    });
    return row ? { position: toPosition(row), start: parseSnapshot(row.startSnapshot) } : null;
  }

  /**
   * False when the claim was lost, or an operator has moved the cursor or what it passes over: then nothing is changed.
   * Of a cursor that stays where it is the time of the look is noted.
   */
  async advance(
    { claimId, workspaceId, destinationId }: ClaimedCursor,
    from: Pick<ClaimedCursor, 'position' | 'start'>,
    { position, delivered, dropped, deadLetters }: DeliveryProgress,
  ): Promise<boolean> {
    const [row] = await this.database.query<{ moved: number }>({
      name: 'advance-cursor',
      text: ADVANCE,
      values: [
        claimId,
        workspaceId,
        destinationId,
        position.transaction,
        position.ordinal,
        delivered,
        JSON.stringify(dropped),
        JSON.stringify(deadLetters.map((letter) => this.toDeadLetterRow(destinationId, letter))),
        from.position.transaction,
        from.position.ordinal,
        formatSnapshot(from.start),
      ],
    });
    return row?.moved === 1;
  }

  /** Notes a failed attempt and when the next one may be made, in milliseconds. False when the claim was lost. */
  async fail(
    { claimId, workspaceId, destinationId }: ClaimedCursor,
    failure: DeliveryFailure,
    delay: number,
  ): Promise<boolean> {
    const text = encryptText(this.cipher, failure.message, ownerOfLastError(destinationId));
    const rows = await this.database.query({
      name: 'fail-delivery',
      text: FAIL,
      values: [
        claimId,
        workspaceId,
        destinationId,
        failure.class,
        failure.status,
        text.status,
        Math.ceil(delay),
        text.ciphertext && Buffer.from(text.ciphertext),
        text.encryptionKeyId,
      ],
    });
    return rows.length === 1;
  }

  private toDeadLetterRow(destinationId: string, letter: DeadLetter): object {
    const owner = ownerOfDeadLetter(destinationId, letter.generationId);
    const { status, ciphertext, encryptionKeyId } = encryptText(this.cipher, letter.message, owner);
    return {
      generation_id: letter.generationId,
      generation_created_at: letter.generationCreatedAt,
      reason: letter.reason,
      message: status,
      message_ciphertext: ciphertext && `\\x${Buffer.from(ciphertext).toString('hex')}`,
      message_encryption_key_id: encryptionKeyId,
    };
  }

  private async claim(name: string, text: string, values: unknown[]): Promise<readonly ClaimedCursor[]> {
    const claimId = randomUUID();
    const rows = await this.database.query<ClaimedRow>({
      name,
      text,
      values: [claimId, this.notifications.session, ...values],
    });
    return rows.map((row) => ({
      claimId,
      workspaceId: row.workspaceId,
      destinationId: row.destinationId,
      position: toPosition(row),
      start: parseSnapshot(row.startSnapshot),
      failures: row.failures,
      isPaused: row.pausedAt !== null,
      hasStood: row.hasStood,
      stoodFor: row.stoodFor,
    }));
  }
}

function toPosition({ transaction, ordinal }: Pick<ClaimedRow, 'transaction' | 'ordinal'>): LogPosition {
  return { transaction: BigInt(transaction), ordinal };
}
