// Whose failure it may be: that of one trace, or that of the platform for all of them.
import type { SendFailure } from './parallel-sender.js';

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
