// What a batch comes to: how far the cursor may move, what is counted, what becomes a dead letter.
import type { DeadLetter, DropReason, LogPosition } from '../domain/delivery.js';
import type { DeliveryProgress } from '../persistence/delivery-cursors.repository.js';
import type { PlannedEntry } from './batch-planner.js';
import type { TraceFate } from './batch-sender.js';

export interface BatchOutcome extends DeliveryProgress {
  /** Milliseconds from the end of each call to now, of those that were delivered. */
  readonly lags: readonly number[];
}

/**
 * Walks the entries up to the first whose fate is open. `fates` are by the generation's id; `rejected` traces were taken
 * by the platform and dropped by it. `start` is where the cursor stands.
 */
export function concludeBatch(
  entries: readonly PlannedEntry[],
  fates: ReadonlyMap<string, TraceFate>,
  { start, rejected, now }: { readonly start: LogPosition; readonly rejected: number; readonly now: Date },
): BatchOutcome {
  const counts = new Map<DropReason, number>();
  const drop = (reason: DropReason, count = 1): Map<DropReason, number> =>
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  const deadLetters: DeadLetter[] = [];
  const lags: number[] = [];
  let position = start;
  for (const entry of entries) {
    if (typeof entry.fate === 'object') {
      const fate = fates.get(entry.generation.id);
      if (!fate) break;
      if (fate.fate === 'delivered') {
        lags.push(Math.max(now.getTime() - entry.fate.endedAt.getTime(), 0));
      } else {
        drop(fate.fate);
        deadLetters.push({
          generationId: entry.generation.id,
          generationCreatedAt: entry.generation.createdAt,
          reason: fate.fate,
          message: fate.message,
        });
      }
    } else if (entry.fate === 'expired') {
      drop('expired');
    }
    position = entry.position;
  }
  const lost = Math.min(rejected, lags.length);
  if (lost > 0) drop('rejected', lost);
  return {
    position,
    delivered: lags.length - lost,
    dropped: Object.fromEntries(counts),
    deadLetters,
    lags: lags.slice(lost),
  };
}
