// The facts of a finished request.
import type { Caller } from '../../domain/keys/api-key.js';
import type { ErrorCode } from '../../domain/errors.js';

export interface FinishedRequest {
  readonly requestId: string;
  /** The caller's address, behind trusted proxies as well; empty: the connection was lost at once. */
  readonly address: string;
  readonly method: string;
  /** The route's pattern in the code; null if no route matched. */
  readonly route: string | null;
  /** Null: the caller disconnected before there was a response. */
  readonly status: number | null;
  /** The caller disconnected before it had the whole response. */
  readonly isAborted: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** The size of the response body; null if the length is not known in advance. */
  readonly bytes: number | null;
  readonly errorCode: ErrorCode | null;
  readonly caller: Caller | null;
  /** The trace of the span that this service sends for the request. */
  readonly traceId: string | null;
}
