// Sums the log by day for /activity, in steps that any process can continue.
import { Injectable } from '@nestjs/common';
import { BEGIN_PASS, READ_CURSOR, STEP_SETTINGS, TAKE_STEP } from './activity-statements.js';
import { Database } from '../database/database.js';

/** The progress of the rollup. Transaction numbers are texts, as the database returns them. */
export interface RollupCursor {
  /** Every row of an earlier transaction is summed. */
  readonly summedBefore: string;
  /** The upper bound of the current pass, exclusive; equal to `summedBefore` when no pass is in progress. */
  readonly passUntil: string;
  /** The last row that the pass has summed. */
  readonly workspaceId: string;
  readonly transaction: string;
  readonly ordinal: number;
}

export interface StepBounds {
  readonly workspaces: number;
  readonly rows: number;
}

@Injectable()
export class ActivityRollupRepository {
  constructor(private readonly database: Database) {}

  /**
   * Starts a pass unless one is in progress or the last one ended less than `pause` seconds ago. Returns the cursor.
   */
  async beginPass(pause: number): Promise<RollupCursor> {
    await this.database.query({ text: BEGIN_PASS, values: [pause] });
    const [cursor] = await this.database.query<RollupCursor & Record<string, unknown>>({ text: READ_CURSOR });
    if (!cursor) throw new Error('the row of activity_rollup is gone');
    return cursor;
  }

  /**
   * Sums the rows after `cursor`, none of them created before `since`. Returns the new cursor. Null: another process
   * moved the cursor first, and nothing is changed.
   */
  async takeStep(
    cursor: RollupCursor,
    since: Date,
    { workspaces, rows }: StepBounds,
  ): Promise<RollupCursor | null> {
    const [next] = await this.database.queryWith<RollupCursor & Record<string, unknown>>(STEP_SETTINGS, {
      text: TAKE_STEP,
      values: [...cursorValues(cursor), since, workspaces, rows],
    });
    return next ?? null;
  }
}

/** A cursor as parameters, in the order of the statements. */
export function cursorValues({
  summedBefore,
  passUntil,
  workspaceId,
  transaction,
  ordinal,
}: RollupCursor): unknown[] {
  return [summedBefore, passUntil, workspaceId, transaction, ordinal];
}
