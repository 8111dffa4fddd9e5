// Concludes a batch: the new cursor position, the counts and the dead letters.
import type { DeadLetter, DropReason, LogPosition } from '../../domain/destinations/delivery.js';
import type { DeliveryProgress } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { Batch, BatchEntry } from './batch-builder.js';
import { isRejection, rejectedAtEnd } from './batch-sender.js';
import type { TraceResult } from './batch-sender.js';

export interface BatchOutcome extends DeliveryProgress {
  /** Milliseconds from the end of each delivered call until now. */
  readonly lags: readonly number[];
}

interface Sent {
  /** The position of the cursor. */
  readonly start: LogPosition;
  /** Traces that the platform accepted and then dropped. */
  readonly rejected: number;
  /** The platform's reason for them. */
  readonly rejection?: string | undefined;
  readonly now: Date;
}

/** Walks the entries up to the first without a result. `results` are keyed by generation id. */
export function concludeBatch(
  entries: readonly BatchEntry[],
  results: ReadonlyMap<string, TraceResult>,
  { start, rejected, rejection, now }: Sent,
): BatchOutcome {
  const counts = new Map<DropReason, number>();
  const drop = (reason: DropReason, count = 1): Map<DropReason, number> =>
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  const deadLetters: DeadLetter[] = [];
  const lags: number[] = [];
  const deliveredIds: string[] = [];
  const settled: TraceResult[] = [];
  let position = start;
  for (const entry of entries) {
    if (typeof entry.decision === 'object') {
      const result = results.get(entry.generation.id);
      if (!result) break;
      settled.push(result);
      if (result.outcome === 'delivered') {
        lags.push(Math.max(now.getTime() - entry.decision.endedAt.getTime(), 0));
        deliveredIds.push(entry.generation.id);
      } else {
        drop(result.outcome);
        deadLetters.push({
          generationId: entry.generation.id,
          generationCreatedAt: entry.generation.createdAt,
          reason: result.outcome,
          message: result.message,
        });
      }
    } else if (entry.decision !== 'passed') {
      drop(entry.decision);
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
    rejectedAtEnd: rejectedAtEnd(settled),
    rejection: deadLetters.at(-1)?.message ?? (lost > 0 ? (rejection ?? null) : null),
    // The platform does not name those that it dropped.
    deliveredIds: lost > 0 ? [] : deliveredIds,
    lags: lags.slice(lost),
  };
}

/** Concludes a replay of dead letters: the cursor stays, and letters in `replayed` are delivered. */
export function concludeReplay(
  letters: readonly DeadLetter[],
  batch: Pick<Batch, 'entries' | 'hasMore'>,
  results: ReadonlyMap<string, TraceResult>,
  { start, rejected, rejection, now }: Sent,
): BatchOutcome & { readonly replayed: readonly string[] } {
  const found = new Map(batch.entries.map((entry) => [entry.generation.id, entry]));
  const delivered = letters.filter(({ generationId }) => results.get(generationId)?.outcome === 'delivered');
  const deadLetters = letters.flatMap((letter) => {
    const entry = found.get(letter.generationId);
    // A letter that did not fit into the batch stays unchanged.
    if (!entry && batch.hasMore) return [];
    const message = reasonAgainst(entry, results.get(letter.generationId));
    return message === null ? [] : [{ ...letter, message }];
  });
  return {
    position: start,
    delivered: Math.max(delivered.length - rejected, 0),
    dropped: rejected > 0 ? { rejected } : {},
    deadLetters,
    rejectedAtEnd: 0,
    rejection: rejectionAmong(letters, results) ?? rejection ?? null,
    deliveredIds: [],
    lags: delivered.map(({ generationCreatedAt }) => now.getTime() - generationCreatedAt.getTime()),
    replayed: delivered.map(({ generationId }) => generationId),
  };
}

/** The last reason of the platform against one of the letters. */
function rejectionAmong(
  letters: readonly DeadLetter[],
  results: ReadonlyMap<string, TraceResult>,
): string | null {
  const last = letters.map(({ generationId }) => results.get(generationId)).findLast(isRejection);
  return last?.message ?? null;
}

/** The reason why a dead letter stays; null when it was delivered or is still pending. */
function reasonAgainst(entry: BatchEntry | undefined, result: TraceResult | undefined): string | null {
  if (!entry) return 'the log no longer contains it';
  if (entry.decision === 'expired') return 'it is older than the platform accepts';
  if (entry.decision === 'passed') return 'its API key no longer exists';
  return result && 'message' in result ? result.message : null;
}
