// Sums the log up by day for /activity, in steps that any process can go on from.
import { Injectable } from '@nestjs/common';
import { BEGIN_PASS, READ_CURSOR, STEP_SETTINGS, TAKE_STEP } from './activity-statements.js';
import { Database } from '../database/database.js';

/** How far the sums have come; numbers of transactions as the texts that the database gives. */
export interface RollupCursor {
  /** Everything that transactions before this one wrote is summed up. */
  readonly summedBefore: string;
  /** What the pass under way takes in, exclusive; equal when none is. */
  readonly passUntil: string;
  /** The last row that the pass has taken. */
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

  /** Begins a pass unless one is under way or the last one ended less than `pause` seconds ago. Answers the place. */
  async beginPass(pause: number): Promise<RollupCursor> {
    await this.database.query({ text: BEGIN_PASS, values: [pause] });
    const [cursor] = await this.database.query<RollupCursor & Record<string, unknown>>({ text: READ_CURSOR });
    if (!cursor) throw new Error('the row of activity_rollup is gone');
    return cursor;
  }

  /**
   * Sums up what follows `cursor`, nothing made before `since`. Answers the place after it; null when another process has
   * gone on from there: then nothing is changed.
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

/** The parameters that a place is, in the order of the statements. */
export function cursorValues({
  summedBefore,
  passUntil,
  workspaceId,
  transaction,
  ordinal,
}: RollupCursor): unknown[] {
  return [summedBefore, passUntil, workspaceId, transaction, ordinal];
}
