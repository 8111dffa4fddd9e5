// The cursor of one destination in the generation log, while this process owns it.
import type { DropReason, LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import { isBehind } from '../../domain/destinations/delivery.js';
import type {
  ClaimedCursor,
  DeliveryCursorsRepository,
} from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { BatchOutcome } from '../batches/batch-outcome.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { GenerationContents } from '../../persistence/contents/generation-contents.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import type { SendFailure } from './parallel-sender.js';

export class ConsumerCursor {
  position: LogPosition;
  start: LogSnapshot;
  /** Whether the position must be read again, because a replay or another process may have changed it. */
  mayHaveMoved = false;

  constructor(
    readonly claim: ClaimedCursor,
    private readonly cursors: DeliveryCursorsRepository,
    private readonly contents: GenerationContents,
    private readonly metrics: DeliveryMetrics,
  ) {
    this.position = claim.position;
    this.start = claim.start;
  }

  /** Moves the cursor. Returns false when another process has moved it. */
  async advance({ kind }: DeliveryTarget, outcome: BatchOutcome): Promise<boolean> {
    if (!(await this.cursors.advance(this.claim, this, outcome))) {
      this.mayHaveMoved = true;
      return false;
    }
    this.position = outcome.position;
    if (outcome.lags.length > 0) this.metrics.countDelivered(kind.type, outcome.lags);
    for (const [reason, count] of Object.entries(outcome.dropped) as [DropReason, number][])
      this.metrics.countDropped(kind.type, reason, count);
    this.contents.note(this.claim.workspaceId);
    return true;
  }

  /** Reads the position again. `lost`: another process owns the cursor and continues. `set_back`: by a replay. */
  async refresh(): Promise<'lost' | 'set_back' | 'kept'> {
    this.mayHaveMoved = false;
    const found = await this.cursors.lookAgain(this.claim);
    if (!found) return 'lost';
    const isSetBack = isBehind(this.position, found.position);
    this.position = found.position;
    this.start = found.start;
    return isSetBack ? 'set_back' : 'kept';
  }

  /** Records a failed attempt. Returns false when the claim was lost. */
  fail(failure: SendFailure, delay: number): Promise<boolean> {
    return this.cursors.fail(this.claim, failure, delay);
  }

  release(): Promise<void> {
    return this.cursors.release(this.claim);
  }
}
