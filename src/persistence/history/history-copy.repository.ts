// The progress of the copy in ClickHouse. One process at a time has its lease.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import type { LogPosition } from '../../domain/destinations/delivery.js';
import { cursorValues } from '../rollups/rollup.repository.js';
import type { RollupCursor, StepBounds } from '../rollups/rollup.repository.js';
import { STEP_SETTINGS } from '../rollups/rollup-statements.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import { Notifications } from '../database/notifications.js';
import {
  BEGIN_PASS,
  CLAIM,
  FORGET_UNUSED,
  MOVE,
  NOTE_ERASED,
  READ_ERASABLE,
  READ_PASS,
  READ_STATE,
  READ_STEP,
  READ_STEP_WITH_CONTENTS,
  REGISTER,
  RELEASE,
  RESET,
} from './history-copy-statements.js';
import type { HistoryState } from './history.js';

/** Seconds: longer than the time-out of an insert. */
const LEASE = 90;

export interface CopyPass {
  readonly cursor: RollupCursor;
  /** No row that is not copied is older. */
  readonly since: Date;
}

/** A content of the step: its block in the log of the workspace, and the other members of its row in the history. */
export interface ContentToCopy {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly id: string;
  /** In the notation of the history. */
  readonly createdAt: string;
  readonly userId: string | null;
  readonly position: Pick<LogPosition, 'transaction'>;
  readonly contentOrdinal: number;
  readonly bytes: number;
}

export interface CopyStep extends Pick<RollupCursor, 'workspaceId' | 'transaction' | 'ordinal'> {
  /** Whether it is the last of the pass. */
  readonly isLast: boolean;
  readonly count: number;
  /** One JSON object a line; null: none. */
  readonly rows: string | null;
  /** In the order of the log; none unless contents are copied. */
  readonly contents: readonly ContentToCopy[];
}

export interface ErasableWorkspace {
  readonly id: string;
  readonly deletedAt: Date;
}

interface StepRow extends Omit<CopyStep, 'contents'> {
  readonly contents?:
    | readonly (Omit<ContentToCopy, 'position' | 'contentOrdinal'> & {
        transaction: string;
        ordinal: number;
      })[]
    | null;
}

@Injectable()
export class HistoryCopyRepository {
  private readonly step: string;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    { history }: AppConfig,
  ) {
    this.step = history?.hasContents === true ? READ_STEP_WITH_CONTENTS : READ_STEP;
  }

  /** Whether the process has the lease now. */
  async claim(owner: string): Promise<boolean> {
    const values = [owner, LEASE, this.notifications.session];
    return (await this.database.query({ text: CLAIM, values })).length > 0;
  }

  async release(owner: string): Promise<void> {
    await this.database.query({ text: RELEASE, values: [owner] });
  }

  /** Continues the pass, or begins one. `target`: the identity of the tables that the rows go to. */
  async beginPass(owner: string, target: string): Promise<CopyPass> {
    await this.database.query({ text: RESET, values: [owner, target] });
    await this.database.query({ text: BEGIN_PASS, values: [owner] });
    const [row] = await this.database.query<RollupCursor & { since: Date }>({ text: READ_PASS });
    if (!row) throw new Error('the row of the copy is gone');
    const { since, ...cursor } = row;
    return { cursor, since };
  }

  async readStep({ cursor, since }: CopyPass, { workspaces, rows }: StepBounds): Promise<CopyStep> {
    const [row] = await this.database.queryWith<StepRow & Record<string, unknown>>(STEP_SETTINGS, {
      text: this.step,
      values: [...cursorValues(cursor), since, workspaces, rows],
    });
    if (!row) throw new Error('a step has no end');
    const contents = (row.contents ?? []).map(({ transaction, ordinal, ...content }) =>
      Object.assign(content, {
        position: { transaction: BigInt(transaction) },
        contentOrdinal: ordinal,
      }),
    );
    return { ...row, contents };
  }

  /** The cursor after the step. Null: another process has moved it or has the lease. */
  async move(owner: string, cursor: RollupCursor, step: CopyStep): Promise<RollupCursor | null> {
    const [next] = await this.database.query<RollupCursor & Record<string, unknown>>({
      text: MOVE,
      values: [
        ...cursorValues(cursor),
        step.workspaceId,
        step.transaction,
        step.ordinal,
        step.isLast,
        owner,
        LEASE,
      ],
    });
    return next ?? null;
  }

  /** Deleted workspaces whose contents the history may still have, in the order of their deletion. */
  async listErasable(): Promise<readonly ErasableWorkspace[]> {
    return this.database.query<ErasableWorkspace & Record<string, unknown>>({ text: READ_ERASABLE });
  }

  async noteErased(owner: string, until: Date): Promise<void> {
    await this.database.query({ text: NOTE_ERASED, values: [owner, until] });
  }

  async readState(run: Run = (statement) => this.database.query(statement)): Promise<HistoryState> {
    const [row] = await run<Partial<RollupCursor> & Pick<HistoryState, 'droppedBefore' | 'lag'>>({
      name: 'read-history-state',
      text: READ_STATE,
    });
    if (!row) throw new Error('the row of the beginning of the log is gone');
    const { droppedBefore, lag, ...cursor } = row;
    return { cursor: isComplete(cursor) ? cursor : null, droppedBefore, lag };
  }

  /** Makes the copy a reader of the log before its first attempt. */
  async register(): Promise<void> {
    await this.database.query({ text: REGISTER });
  }

  async forgetUnused(): Promise<void> {
    await this.database.query({ text: FORGET_UNUSED });
  }
}

/** Before the end of its first pass a copy has a part of the log only. */
function isComplete(cursor: Partial<RollupCursor>): cursor is RollupCursor {
  return typeof cursor.summedBefore === 'string' && cursor.summedBefore !== '0';
}
