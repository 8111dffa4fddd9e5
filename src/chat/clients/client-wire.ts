// The part of an answer that this service writes itself, for clients of each wire: beside the events and bodies of a provider.
import type { ResponsesForm } from '../../domain/chat/chat-request.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import type { AppError } from '../../domain/errors.js';
import type { ShownCost } from '../dto/chat-usage.dto.js';

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
  /** Where the caller pays; else null. */
  readonly usage: ShownUsage | null;
  /** `openrouter_metadata`. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Of a client that speaks Responses. */
  readonly responses?: ResponsesForm | undefined;
}

export interface ShownUsage {
  readonly usage: ChatUsage;
  readonly cost: ShownCost;
}

export interface ClientWire {
  /** Sent while nothing else is. */
  readonly keepAlive: Buffer;
  /** The last events of a stream that failed. */
  failure(failed: FailedStream): Buffer;
}
