// Keeps the results behind an unsettled trace while its destination waits for the next attempt, so that the traces are not
// sent again. Another process does not have them, and sends those traces again with the same ids.
import { LRUCache } from 'lru-cache';
import { formatSnapshot } from '../../domain/destinations/delivery.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { TraceResult } from '../batches/batch-sender.js';

type DeliveryResults = ReadonlyMap<string, TraceResult>;
type Cursor = Pick<ClaimedCursor, 'position' | 'start'>;

interface Kept {
  readonly cursor: string;
  readonly results: DeliveryResults;
}

// Results of all destinations. Beyond this bound those of the longest wait are dropped.
const MAX_RESULTS = 50_000;

export class SettledAhead {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: MAX_RESULTS,
    sizeCalculation: ({ results }) => results.size,
  });

  /** `cursor`: where the consumer ends. */
  keep(destinationId: string, cursor: Cursor, results: DeliveryResults): void {
    if (results.size > 0) this.kept.set(destinationId, { cursor: nameOf(cursor), results });
  }

  /** The results of the last consumer, unless the cursor has moved since, for example for a replay. */
  take({ destinationId, ...cursor }: Cursor & Pick<ClaimedCursor, 'destinationId'>): DeliveryResults {
    const kept = this.kept.get(destinationId);
    this.kept.delete(destinationId);
    return kept?.cursor === nameOf(cursor) ? kept.results : new Map();
  }
}

function nameOf({ position, start }: Cursor): string {
  return `${position.transaction}:${position.ordinal}:${formatSnapshot(start)}`;
}
