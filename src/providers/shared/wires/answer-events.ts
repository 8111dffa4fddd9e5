// The events of an answer, the same for every wire: a provider's wire reads its answers into them, a client's wire writes its
// answers from them, and money and records read nothing else. Each answer is one `start`, blocks that open, grow and close, a
// finish for every choice, and `end` or `error`.
import type { ReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import type { ProviderError } from '../upstream.js';

export type BlockKind = 'text' | 'reasoning' | 'refusal' | 'call';

/** Signature or encrypted content of a reasoning, which only its producer reads. */
export interface OpaqueReasoning {
  readonly kind: 'signature' | 'encrypted';
  readonly text: string;
  /** Of its item, or of the call that comes next, with which it must come back. */
  readonly id?: string;
}

export interface ToolCallStart {
  /** Unique in the answer. */
  readonly id: string;
  readonly name: string;
}

/** A part of a choice that grows. Its index is this service's, and never used twice in an answer. */
export interface AnswerBlock {
  readonly index: number;
  readonly choice: number;
  readonly kind: BlockKind;
}

export interface AnswerEvents {
  /** The first counts. */
  start(upstreamId: string | null, createdAt: number | null): void;
  /** Throws AnswerBoundExceeded where the request asked for no such choice. */
  begin(choice: number): void;
  /** Throws AnswerBoundExceeded. A call opens with its name, which is complete. */
  open(choice: number, kind: BlockKind, call?: ToolCallStart): AnswerBlock;
  /** `bytes[from, to)`: the text of a JSON string between its quotes, escapes included, valid during the call only. */
  delta(block: AnswerBlock, bytes: Buffer, from: number, to: number): void;
  /** `opaque`: of a reasoning, or of the thoughts behind a text. */
  close(block: AnswerBlock, opaque?: OpaqueReasoning): void;
  /** The last one of a choice counts. `native`: the provider's own word. */
  finish(choice: number, reason: string, native: string | null): void;
  /**
   * All numbers that are known by then: later ones replace earlier ones. `isPromptExact`: those of the prompt are final, also
   * where the answer ends early.
   */
  usage(snapshot: ReportedChatUsage, isPromptExact?: boolean): void;
  serviceTier(tier: string): void;
  error(error: ProviderError): void;
  end(): void;
  /** Something came in an order that clients do not expect, and the wire repaired it. */
  repaired(): void;
  /** An event or a delta of a type that the reader does not know: clients of its wire get it, others do not. */
  skipped(bytes: number): void;
  /** Bytes of a text under a name that the reader does not know: clients of its wire get them, and none are kept. */
  unread(bytes: number): void;
}

/** The state of an answer after an event of its stream. `end`: it is over. `error`: it states one. */
export type EventResult = 'more' | 'end' | 'error';

/** An answer exceeds a bound of this service: that is not the provider's fault. */
export class AnswerBoundExceeded extends Error {}
