import type { SendFailure } from './parallel-sender.js';
// Whether a failure may be that of one trace or is the platform's for all, and the search for that trace.
//
// How many traces the next attempt sends while one of them makes the batch fail: half as many after a failure, twice as many
// after a success. A failed attempt also bounds the part of the log that has the trace at fault, and its halves are sent next,
// so that the trace stands alone after O(log n) attempts.

export class FaultSearch {
  /** Traces of the next attempt at most. */
  private bound: number;
  /** The trace at fault is among so many of the next ones; 0: no failure is known. */
  private span = 0;

  /** `isHalfOpen`: earlier consumers failed so often that the next attempt has one trace. */
  constructor(isHalfOpen: boolean) {
    this.bound = isHalfOpen ? 1 : Infinity;
  }

  /** `max`: the traces of an attempt that nothing suspects. */
  sizeWithin(max: number): number {
    return Math.min(this.bound, max);
  }

  /** An attempt failed with so many traces without a result. */
  noteFailure(open: number): void {
    this.span = open;
    this.bound = Math.max(1, Math.floor(open / 2));
  }

  /** An attempt succeeded with so many traces. */
  noteSuccess(count: number): void {
    this.span = Math.max(0, this.span - count);
    this.bound = this.span > 0 ? Math.ceil(this.span / 2) : this.bound * 2;
  }

  /** The trace at fault has its result. */
  end(): void {
    this.span = 0;
    this.bound = Infinity;
  }
}

// Statuses that no filter in front of a platform answers for what one trace contains: credentials and payment.
const BLOCKED_FOR_ALL = new Set([401, 402, 407]);

/** The platform answered that the fault is its own. */
export function isOwnError(failure: SendFailure | null): failure is SendFailure {
  if (failure?.class !== 'retry' || failure.status === null) return false;
  return failure.status >= 500 && ![502, 503, 504, 529].includes(failure.status);
}

/** A filter in front of a platform may block one trace for what it contains, with 403 or a similar status. */
export function mayBlockOneTrace(failure: SendFailure | null): failure is SendFailure {
  if (failure?.class !== 'blocked' || failure.status === null) return false;
  return !BLOCKED_FOR_ALL.has(failure.status);
}

/** The platform has answered that it does not take a trace, which may be the trace's fault or its own. */
export function isRefusal(failure: SendFailure | null): failure is SendFailure {
  return isOwnError(failure) || mayBlockOneTrace(failure);
}

/** Whether the failure may be that of one trace, and not of the platform or of the rate. */
export function mayBeOfOneTrace(failure: SendFailure): boolean {
  return failure.class === 'retry' ? failure.status !== 429 : mayBlockOneTrace(failure);
}
