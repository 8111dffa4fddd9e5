// Runs one rollup of the log in steps that any process can continue.
import { STEP_SETTINGS } from './rollup-statements.js';
import type { Rollup } from './rollup-statements.js';
import type { Database } from '../database/database.js';

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

export abstract class RollupRepository {
  protected constructor(
    protected readonly database: Database,
    private readonly statements: Rollup,
  ) {}

  /**
   * Starts a pass unless one is in progress or the last one ended less than `pause` seconds ago. Returns the cursor.
   */
  async beginPass(pause: number): Promise<RollupCursor> {
    await this.database.query({ text: this.statements.beginPass, values: [pause] });
    const [cursor] = await this.database.query<RollupCursor & Record<string, unknown>>({
      text: this.statements.readCursor,
    });
    if (!cursor) throw new Error('the row of the rollup is gone');
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
      text: this.statements.takeStep,
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
