// The progress of the copy in ClickHouse. One process at a time has its lease.
import { Injectable } from '@nestjs/common';
import { cursorValues } from '../activity/activity-rollup.repository.js';
import type { RollupCursor, StepBounds } from '../activity/activity-rollup.repository.js';
import { STEP_SETTINGS } from '../activity/rollup-statements.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import {
  BEGIN_PASS,
  CLAIM,
  FORGET_UNUSED,
  MOVE,
  READ_PASS,
  READ_STATE,
  READ_STEP,
  RELEASE,
  RESET,
} from './history-copy-statements.js';

/** Seconds: longer than the time-out of an insert. */
const LEASE = 90;

export interface CopyPass {
  readonly cursor: RollupCursor;
  /** No row that is not copied is older. */
  readonly since: Date;
}

export interface CopyStep extends Pick<RollupCursor, 'workspaceId' | 'transaction' | 'ordinal'> {
  /** Whether it is the last of the pass. */
  readonly isLast: boolean;
  readonly count: number;
  /** One JSON object a line; null: none. */
  readonly rows: string | null;
}

export interface HistoryState {
  /** Null: the first pass has not ended, and the history lacks rows. */
  readonly cursor: RollupCursor | null;
  /** The log has no older rows; null: none were dropped. */
  readonly droppedBefore: Date | null;
  /** Seconds; null: nothing was ever copied. */
  readonly lag: number | null;
}

@Injectable()
export class HistoryCopyRepository {
  constructor(private readonly database: Database) {}

  /** Whether the process has the lease now. */
  async claim(owner: string): Promise<boolean> {
    return (await this.database.query({ text: CLAIM, values: [owner, LEASE] })).length > 0;
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
    const [step] = await this.database.queryWith<CopyStep & Record<string, unknown>>(STEP_SETTINGS, {
      text: READ_STEP,
      values: [...cursorValues(cursor), since, workspaces, rows],
    });
    if (!step) throw new Error('a step has no end');
    return step;
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

  async readState(run: Run = (statement) => this.database.query(statement)): Promise<HistoryState> {
    const [row] = await run<Partial<RollupCursor> & Pick<HistoryState, 'droppedBefore' | 'lag'>>({
      name: 'read-history-state',
      text: READ_STATE,
    });
    if (!row) throw new Error('the row of the beginning of the log is gone');
    const { droppedBefore, lag, ...cursor } = row;
    return { cursor: isComplete(cursor) ? cursor : null, droppedBefore, lag };
  }

  async forgetUnused(): Promise<void> {
    await this.database.query({ text: FORGET_UNUSED });
  }
}

/** Before the end of its first pass a copy has a part of the log only. */
function isComplete(cursor: Partial<RollupCursor>): cursor is RollupCursor {
  return typeof cursor.summedBefore === 'string' && cursor.summedBefore !== '0';
}
