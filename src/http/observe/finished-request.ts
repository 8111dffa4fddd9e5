// What is known of a request when it is over.
import type { Caller } from '../../domain/keys/api-key.js';
import type { ErrorCode } from '../../domain/errors.js';

export interface FinishedRequest {
  readonly requestId: string;
  readonly method: string;
  /** As it is written in the code, with the names of its parameters; null where no route was found. */
  readonly route: string | null;
  /** Null: the caller went away before there was an answer. */
  readonly status: number | null;
  /** The caller went away before it had the whole answer. */
  readonly isAborted: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** Of the answer's body; null where that is not known beforehand. */
  readonly bytes: number | null;
  readonly errorCode: ErrorCode | null;
  readonly caller: Caller | null;
  /** Of the span that this service sends of it. */
  readonly traceId: string | null;
}
