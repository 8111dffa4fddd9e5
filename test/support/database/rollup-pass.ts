// A whole pass of one rollup, in steps of a test's own size.
import type { RollupRepository, StepBounds } from '../../../src/persistence/rollups/rollup.repository.js';

/** Rows created before `since` are not summed. */
export async function passOver(
  rollup: RollupRepository,
  bounds: StepBounds,
  since = new Date(0),
): Promise<void> {
  let cursor = await rollup.beginPass(0);
  while (cursor.summedBefore !== cursor.passUntil) {
    const next = await rollup.takeStep(cursor, since, bounds);
    if (next === null) return;
    cursor = next;
  }
}
