// Relays one upstream stream: bytes in, events for the client out, and beside them everything that money, the record and
// routing need of the answer. It has no sockets, no timers and no clock.
import { isUtf8 } from 'node:buffer';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { ProviderError } from '../../providers/shared/provider.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import { errorOf } from '../../providers/shared/wires/answer-values.js';
import { datedIdentity } from '../clients/client-wire.js';
import type { FailedStream, StreamIdentity } from '../clients/client-wire.js';
import type { Answer } from '../kernel/answer.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import { isBlank, isDone, isSeveralDocuments, isStructure, linesOf } from '../kernel/event-data.js';
import { streamPassage } from '../passages/passages.js';
import type { AnswerEnd, PassageOptions, StreamPassage } from '../passages/passage.js';
import { brokenAnswer } from './chat-failure.js';
import type { ChatFailure } from './chat-failure.js';
import { AT_ONCE, EventReader } from './event-reader.js';
import type { EventTraits, ReadEvent } from './event-reader.js';
import { FrameReader } from './frame-reader.js';
import type { OutputCount } from '../kernel/output-texts.js';

export interface RelayOptions extends PassageOptions {
  readonly maxEventBytes: number;
  readonly maxAnswerBytes: number;
}

/** Beyond it, chunks without content are relayed: fallback is no longer possible then. */
const MAX_GATED_BYTES = 65_536;
const KEPT_OUTPUT_BYTES = 1_048_576;
const LINE: EventTraits = { kind: 'message', isOwned: true, isJoined: false, large: null };

/** All relays share one: a read is handled without waiting. */
const OUTPUT = new GrowingBuffer();

export class ChatStreamRelay {
  /** The first content, reasoning, refusal, tool call or finish reason has come: the answer is this endpoint's. */
  hasContent = false;
  /** The stream has ended, well or not. Later bytes are ignored. */
  isFinished = false;
  failure: ChatFailure | null = null;
  /** The bound of this service that the answer has exceeded: its failure is not the provider's. */
  boundExceeded: string | null = null;
  private readonly events: EventReader | FrameReader;
  private readonly passage: StreamPassage;
  private output: Buffer[] = [];
  private outputBytes = 0;
  private received = 0;
  private isDiscarding = false;
  private isReadUtf8 = false;

  constructor(private readonly options: RelayOptions) {
    this.passage = streamPassage(options, OUTPUT);
    const { wire, maxEventBytes } = options;
    const onEvent: ReadEvent = (bytes, from, to, event) => {
      if (!this.isFinished) this.readEvent(bytes, from, to, event);
    };
    this.events = wire.frames
      ? new FrameReader(wire.frames, maxEventBytes, onEvent)
      : new EventReader(maxEventBytes, onEvent);
  }

  push(bytes: Buffer): void {
    if (this.isFinished) return;
    this.received += bytes.length;
    this.attempt(() => {
      if (this.received > this.options.maxAnswerBytes)
        throw new AnswerBoundExceeded(`the answer is larger than ${this.options.maxAnswerBytes} bytes`);
      this.isReadUtf8 = isUtf8(bytes);
      this.events.push(bytes);
    });
  }

  /** The upstream's body has ended. Without `[DONE]` that is a success only if every choice has finished. */
  end(): void {
    if (this.isFinished) return;
    this.attempt(() => {
      this.isReadUtf8 = false;
      this.events.end();
      if (this.isFinished) return;
      if (!this.hasFinishedChoices) throw new BrokenAnswer('the stream ended before the answer was complete');
      this.complete();
    });
  }

  /** Ends the relay from outside: a time-out, a lost connection. A complete answer cannot fail any more. */
  fail(failure: ChatFailure): void {
    if (this.isFinished) return;
    if (this.awaitsUsageOnly) {
      this.finish();
      return;
    }
    this.failure = failure;
    this.isFinished = true;
  }

  /** Ends the wait for usage after all choices have finished. */
  finish(): void {
    if (!this.isFinished) this.attempt(() => this.complete());
  }

  /** The client is gone: the answer is read on for its usage, without output. */
  discardOutput(): void {
    this.isDiscarding = true;
    this.output = [];
    this.outputBytes = 0;
  }

  /** Events for the client since the last call, whole ones only; null: none yet, or the gate is closed. */
  take(): Buffer | null {
    if (!this.hasContent || this.output.length === 0) return null;
    const [first, ...others] = this.output;
    const taken = first && others.length === 0 ? first : Buffer.concat(this.output, this.outputBytes);
    this.output = [];
    this.outputBytes = 0;
    return taken;
  }

  /** All choices that the provider has begun have a finish reason. */
  get hasFinishedChoices(): boolean {
    return this.answer.hasFinishedChoices;
  }

  /** All choices that the request asked for have a finish reason. Usage may follow, and content does at some servers. */
  get awaitsUsageOnly(): boolean {
    return this.answer.isComplete;
  }

  /** Content that has come behind finish reasons: it begins the wait for usage again. */
  get continuations(): number {
    return this.answer.continuations;
  }

  /** Whether the provider's events came in an order that had to be repaired, or could not be. */
  get isOutOfOrder(): boolean {
    return this.answer.repairs > 0;
  }

  get unknownEvents(): number {
    return this.answer.unknownEvents;
  }

  /** For the events that this service writes itself: `created` is the provider's where it states one. */
  get identity(): StreamIdentity {
    return datedIdentity(this.options.identity, this.answer.createdAt);
  }

  get usage(): ReportedChatUsage | null {
    return this.answer.usageSnapshot;
  }

  get serviceTier(): string | null {
    return this.answer.tier;
  }

  get upstreamId(): string | null {
    return this.answer.upstreamId;
  }

  get signatures(): readonly string[] {
    return this.answer.signatures;
  }

  /** The answer as far as it has come. */
  choices(): ChatChoice[] {
    return this.answer.toJSON();
  }

  outputCount(): OutputCount {
    return this.answer.outputCount;
  }

  /** Whether the prompt's tokens are final, although the answer has not ended. */
  get hasExactPrompt(): boolean {
    return this.answer.hasExactPrompt;
  }

  /** The last events, after the commit of the record. */
  last(end: AnswerEnd): Buffer {
    return this.passage.last(end);
  }

  /** The last events of an answer that failed; null: they do not depend on those before. */
  failed(failed: FailedStream): Buffer | null {
    return this.passage.failed?.(failed) ?? null;
  }

  /** An event instead of a comment; null: the client has no event of this answer, or its wire has none for it. */
  keepAlive(): Buffer | null {
    return this.hasContent && this.output.length === 0 ? (this.passage.keepAlive?.() ?? null) : null;
  }

  /** Bytes that the relay holds beside its own objects. */
  get heldBytes(): number {
    const { heldBytes = 0 } = this.passage;
    return this.events.heldBytes + this.outputBytes + this.answer.texts.size + heldBytes;
  }

  private attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (error instanceof AnswerBoundExceeded) this.boundExceeded = error.message;
      else if (!(error instanceof BrokenAnswer)) throw error;
      this.fail(brokenAnswer(error.message));
    } finally {
      this.passage.release();
      const output = OUTPUT.take(KEPT_OUTPUT_BYTES);
      if (output && !this.isDiscarding) {
        this.output.push(output);
        this.outputBytes += output.length;
        this.hasContent ||= this.outputBytes > MAX_GATED_BYTES;
      }
    }
  }

  private readEvent(bytes: Buffer, from: number, to: number, event: EventTraits): void {
    if (isBlank(bytes, from, to) && event.kind !== 'error') return;
    if (isDone(bytes, from, to)) {
      this.passage.done();
      this.complete();
    } else if (event.kind === 'error') this.failWith(errorOf(bytes.subarray(from, to), this.options.wire));
    else if (event.isJoined && isSeveralDocuments(bytes, from, to)) this.readLines(bytes, from, to);
    else if (event.kind === 'message' || isStructure(bytes, from, to))
      this.readDocument(bytes, from, to, event);
  }

  /** Some servers leave out the blank line between two events. */
  private readLines(bytes: Buffer, from: number, to: number): void {
    for (const [start, end] of linesOf(bytes, from, to))
      if (!this.isFinished) this.readEvent(bytes, start, end, LINE);
  }

  private readDocument(bytes: Buffer, from: number, to: number, event: EventTraits): void {
    if ((!event.isOwned && this.isReadUtf8) || isUtf8(bytes.subarray(from, to))) {
      this.readChunk(bytes, from, to, event);
      return;
    }
    if (to - from > AT_ONCE) throw new BrokenAnswer('a long event of the stream is not UTF-8');
    const repaired = Buffer.from(bytes.toString('utf8', from, to));
    this.readChunk(repaired, 0, repaired.length, event);
  }

  private readChunk(bytes: Buffer, from: number, to: number, event: EventTraits): void {
    const result = this.passage.read(bytes, from, to, event);
    this.hasContent ||= this.answer.hasContent;
    if (result === 'error' && this.answer.stated) this.failWith(this.answer.stated);
    else if (result === 'end') this.complete();
  }

  private failWith(error: ProviderError): void {
    this.fail({ kind: 'provider_error', error });
  }

  private complete(): void {
    this.isFinished = true;
    this.passage.complete();
    this.hasContent ||= this.answer.hasContent;
  }

  private get answer(): Answer {
    return this.passage.answer;
  }
}
