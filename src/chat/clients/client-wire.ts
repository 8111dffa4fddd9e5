// The part of an answer that this service writes itself, for clients of each wire: beside the events and bodies of a provider.
import type { AppError } from '../../domain/errors.js';

/** The members that are the same in every event of an answer. */
export interface StreamIdentity {
  /** `gen-…` */
  readonly id: string;
  /** Seconds. */
  readonly created: number;
  /** The catalogue's id of the model that answers. */
  readonly model: string;
  /** The provider's display name. */
  readonly provider: string;
}

/** `createdAt`: the provider's time, which comes first; null: it states none. */
export function datedIdentity(identity: StreamIdentity, createdAt: number | null): StreamIdentity {
  return { ...identity, created: createdAt ?? identity.created };
}

/** A failure after the headers of a stream. */
export interface FailedStream {
  readonly identity: StreamIdentity;
  /** With its generation. */
  readonly error: AppError;
  /** Usage where the caller pays, and `openrouter_metadata`. */
  readonly members: Readonly<Record<string, unknown>>;
}

export interface ClientWire {
  /** Sent while nothing else is. */
  readonly keepAlive: Buffer;
  /** The last events of a stream that failed. */
  failure(failed: FailedStream): Buffer;
}
