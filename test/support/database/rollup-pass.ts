// Passes of one rollup, in steps of a test's own size.
import { LOG_SNAPSHOT } from '../../../src/persistence/database/log-offset.js';
import type {
  RollupCursor,
  RollupRepository,
  StepBounds,
} from '../../../src/persistence/rollups/rollup.repository.js';
import { eventually } from '../eventually.js';
import type { TestApp } from '../app/app.js';

/** One pass. Rows created before `since` are not summed. */
export async function passOver(
  rollup: RollupRepository,
  bounds: StepBounds,
  since = new Date(0),
): Promise<RollupCursor> {
  let cursor = await rollup.beginPass(0);
  while (cursor.summedBefore !== cursor.passUntil) {
    const next = await rollup.takeStep(cursor, since, bounds);
    if (next === null) break;
    cursor = next;
  }
  return cursor;
}

/** Passes until everything that is committed is summed: transactions of other databases of the server hold one back. */
export async function sumUp(app: TestApp, rollup: RollupRepository, bounds: StepBounds): Promise<void> {
  const [row] = await app.sql<{ end: string }>(
    `SELECT pg_snapshot_xmax(${LOG_SNAPSHOT}::pg_snapshot)::text AS end`,
  );
  await eventually(
    () => passOver(rollup, bounds),
    ({ summedBefore }) => BigInt(summedBefore) >= BigInt(row!.end),
  );
}
