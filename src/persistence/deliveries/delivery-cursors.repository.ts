// The cursors of destinations: their claims, positions and delivery states.
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
  /** Generations committed before this snapshot are not for this destination. */
  readonly start: LogSnapshot;
  /** Failed attempts since the last success, by any process. */
  readonly failures: number;
  readonly isPaused: boolean;
  /** Rejected traces since the last accepted one, by any process. */
  readonly consecutiveRejections: number;
  /**
   * Whether the cursor has neither moved nor been scanned for expired generations for so long that some may have
   * expired.
   */
  readonly hasStood: boolean;
  /** Milliseconds since the cursor last moved or was scanned, by the clock of the database. */
  readonly stoodFor: number;
}

/** The outcome of a run of the log. */
export interface DeliveryProgress {
  readonly position: LogPosition;
  readonly delivered: number;
  readonly dropped: DropCounts;
  readonly deadLetters: readonly DeadLetter[];
  /** Rejected traces after the last accepted one. */
  readonly rejectedAtEnd: number;
  /** The reason of the last rejection; null: no trace was rejected. */
  readonly rejection: string | null;
  /** Generations that the platform has accepted. */
  readonly deliveredIds: readonly string[];
}

interface ClaimedRow extends DestinationRef {
  readonly transaction: string;
  readonly ordinal: number;
  readonly failures: number;
  readonly pausedAt: Date | null;
  readonly consecutiveRejections: number;
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

  /** Claims every destination of the workspace that has no consumer and may receive deliveries now. */
  async claimWorkspace(workspaceId: string): Promise<readonly ClaimedCursor[]> {
    return this.claim('claim-workspace', CLAIM_WORKSPACE, [workspaceId]);
  }

  /** Claims only those destinations of the workspaces with a backlog of generations created since `since`. */
  async claimWaitingOf(workspaceIds: readonly string[], since: Date): Promise<readonly ClaimedCursor[]> {
    return this.claim('claim-waiting-of-workspaces', CLAIM_WAITING_OF_WORKSPACES, [[...workspaceIds], since]);
  }

  /** Workspaces with destinations, in the order of their ids, after `after`. */
  async listWorkspaces(after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ workspaceId: string }>({
      name: 'list-workspaces-with-destinations',
      text: LIST_WORKSPACES,
      values: [after, limit],
    });
    return rows.map(({ workspaceId }) => workspaceId);
  }

  /** Returns the sessions of all processes on this database. */
  async listLiveSessions(): Promise<readonly string[]> {
    const rows = await this.database.query<{ session: string }>({
      name: 'live-sessions',
      text: LIVE_SESSIONS,
    });
    return rows.map(({ session }) => session);
  }

  /** Claims destinations whose delay after a failure is over. */
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

  /** The present position of the cursor; null when the claim was lost. */
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
   * False when the claim was lost, or an operator has moved the cursor or its start snapshot: nothing is changed
   * then. For a cursor that does not move, the time of the scan is recorded.
   */
  async advance(
    { claimId, workspaceId, destinationId }: ClaimedCursor,
    from: Pick<ClaimedCursor, 'position' | 'start'>,
    { position, delivered, dropped, deadLetters, rejectedAtEnd, rejection, deliveredIds }: DeliveryProgress,
  ): Promise<boolean> {
    const text = rejection === null ? null : this.encryptLastError(destinationId, rejection);
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
        rejectedAtEnd,
        text && statusOf(text.status),
        text && text.status,
        text?.ciphertext ?? null,
        text?.encryptionKeyId ?? null,
        deliveredIds,
      ],
    });
    return row?.moved === 1;
  }

  /** Records a failed attempt and the delay until the next one, in milliseconds. False when the claim was lost. */
  async fail(
    { claimId, workspaceId, destinationId }: ClaimedCursor,
    failure: DeliveryFailure,
    delay: number,
  ): Promise<boolean> {
    const text = this.encryptLastError(destinationId, failure.message);
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
        text.ciphertext,
        text.encryptionKeyId,
      ],
    });
    return rows.length === 1;
  }

  private encryptLastError(destinationId: string, message: string) {
    const text = encryptText(this.cipher, message, ownerOfLastError(destinationId));
    return { ...text, ciphertext: text.ciphertext && Buffer.from(text.ciphertext) };
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
      consecutiveRejections: row.consecutiveRejections,
      hasStood: row.hasStood,
      stoodFor: row.stoodFor,
    }));
  }
}

/** The number in `HTTP 400`; null for an empty text. */
function statusOf(status: string): number | null {
  return status === '' ? null : Number(status.slice('HTTP '.length));
}

function toPosition({ transaction, ordinal }: Pick<ClaimedRow, 'transaction' | 'ordinal'>): LogPosition {
  return { transaction: BigInt(transaction), ordinal };
}
