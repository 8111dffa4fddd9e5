// Sends the traces of one destination and remembers between attempts what was confirmed, what was refused, and how often
// it failed in a row.
import type { GenerationTrace } from '../domain/generation-trace.js';
import type { ClaimedCursor } from '../persistence/delivery-cursors.repository.js';
import { MAX_REFUSED_IN_A_ROW, refusedAtEnd } from './batch-sender.js';
import type { BatchSender, SendResult, TraceFate } from './batch-sender.js';
import type { DeliveryTarget } from './broadcast-terms.js';

// Failures in a row after which only one trace is sent at a time, until one is taken.
const HALF_OPEN_AFTER = 3;
// Attempts with one trace that a platform answers with an error of its own, before that trace is taken for the cause.
const MAX_ANSWERED_ATTEMPTS = 10;

export type SendFailure = NonNullable<SendResult['failure']>;

export interface SentTraces {
  /** By the generation's id. */
  readonly fates: ReadonlyMap<string, TraceFate>;
  readonly rejected: number;
  readonly failure: SendFailure | null;
}

export class LaneSender {
  /** Failed attempts since the last success. */
  failures: number;
  private refusedInARow: number;
  /** Settled, but behind something that is not: not to be sent again. */
  private settledAhead: ReadonlyMap<string, TraceFate> = new Map();

  constructor(
    private readonly sender: BatchSender,
    claim: Pick<ClaimedCursor, 'failures' | 'isPaused'>,
  ) {
    this.failures = claim.failures;
    this.refusedInARow = claim.isPaused ? MAX_REFUSED_IN_A_ROW - 1 : 0;
  }

  batchSize({ kind }: DeliveryTarget): number {
    const { maxTraces, parallelRequests = 1 } = kind.delivery.limits;
    return this.failures >= HALF_OPEN_AFTER ? 1 : maxTraces * parallelRequests;
  }

  async send(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<SentTraces> {
    const fates = new Map(this.settledAhead);
    const open = traces.filter(({ generationId }) => !fates.has(generationId));
    const groups = chunk(open, target.kind.delivery.limits.maxTraces);
    const results = await Promise.all(
      groups.map(async (group) => ({
        group,
        result: await this.sender.send(target, group, this.refusedInARow, signal),
      })),
    );
    let rejected = 0;
    let failure: SendFailure | null = null;
    for (const { group, result } of results) {
      for (const [place, { generationId }] of group.entries()) {
        const fate = result.settled[place];
        if (fate) fates.set(generationId, fate);
      }
      rejected += result.rejected;
      failure ??= result.failure;
      this.noteRefusals(result.settled);
    }
    const [only] = open;
    if (failure && only && open.length === 1 && this.isPoison(failure)) {
      const message = `given up after ${this.failures + 1} attempts: ${failure.message}`;
      fates.set(only.generationId, { fate: 'refused', message });
      failure = null;
    }
    if ([...fates.values()].some(({ fate }) => fate === 'delivered')) this.failures = 0;
    this.settledAhead = failure ? fates : new Map();
    return { fates, rejected, failure };
  }

  /** An answer that blames the platform, again and again for one trace, is about that trace. */
  private isPoison({ class: failureClass, status }: SendFailure): boolean {
    const isOwnError = status !== null && status >= 500 && ![502, 503, 504, 529].includes(status);
    return failureClass === 'retry' && isOwnError && this.failures + 1 >= MAX_ANSWERED_ATTEMPTS;
  }

  private noteRefusals(settled: readonly TraceFate[]): void {
    const refused = refusedAtEnd(settled);
    this.refusedInARow = refused === settled.length ? this.refusedInARow + refused : refused;
  }
}

function chunk<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const chunks: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}
