// The way of an answer from its provider's wire to its client's. In one wire the provider's bytes pass with edits; between two, the
// kernel's events are written again. A passage writes what comes before the record is committed, and the end after it.
import type { ResponsesForm } from '../../domain/chat/chat-request.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import type { ChatWire } from '../../providers/shared/chat-wire.js';
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import type { ChatAnswerRules } from '../../providers/shared/wires/chat-answer.js';
import type { FailedStream, StreamIdentity } from '../clients/client-wire.js';
import type { ShownCost } from '../dto/chat-usage.dto.js';
import type { Answer } from '../kernel/answer.js';

export interface PassageOptions extends Pick<ChatAnswerRules, 'excludesReasoning'> {
  /** The wire of the client. */
  readonly client: ModelWire;
  /** Client and provider speak one wire, and yet the request was translated. */
  readonly isTranslated?: boolean;
  readonly wire: ChatAnswerRules['wire'] & Pick<ChatWire, 'protocol' | 'frames'>;
  /** `created` is used when the provider states none. */
  readonly identity: StreamIdentity;
  /** `n` of the request. */
  readonly choiceCount: number;
  /** Tokens of the prompt as counted here, for clients that read them from the first event; null: the provider states them. */
  readonly countedPrompt: number | null;
  /** Of a client that speaks Responses. */
  readonly responses?: ResponsesForm;
}

/** The end of an answer whose record is committed. */
export interface AnswerEnd {
  readonly usage: ChatUsage;
  readonly cost: ShownCost;
  /** `openrouter_metadata`, for a caller who asks for it. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly completedAt: number;
  /** Chat: the usage chunk has a choice. */
  readonly hasChoice: boolean;
}

/** The data of one event. */
export interface EventData {
  /** They are those of several lines, joined. */
  readonly isJoined: boolean;
  /** Where the long values of a long document end; null: a short one. */
  readonly large: ReadonlyMap<number, number> | null;
}

export interface StreamPassage {
  readonly answer: Answer;
  /** Reads the data of one event, and appends what its client gets. Throws BrokenAnswer or AnswerBoundExceeded. */
  read(bytes: Buffer, from: number, to: number, event: EventData): EventResult;
  /** The marker `[DONE]`. */
  done(): void;
  /** Nothing more comes of the provider: closes what is open. */
  complete(): void;
  /** Releases what the last read holds. */
  release(): void;
  /** The last events. */
  last(end: AnswerEnd): Buffer;
  /** The last events of an answer that failed, where they depend on those before; else null. */
  failed?(failed: FailedStream): Buffer | null;
  /** An event that says nothing new, for clients that ignore comments; null: nothing has begun, or the last event is next. */
  keepAlive?(): Buffer | null;
  /** Bytes of the answer that are kept for its last events. Absent: none. */
  readonly heldBytes?: number;
}

export interface WholePassage {
  readonly answer: Answer;
  /** Returns whether there is an answer. `large`: see JsonDocument. Throws BrokenAnswer or AnswerBoundExceeded. */
  read(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): boolean;
  /** The body for the client, in pieces. */
  body(end: AnswerEnd): readonly Buffer[];
}
