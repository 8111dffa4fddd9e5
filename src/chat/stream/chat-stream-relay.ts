// Relays one upstream stream: bytes in, events for the client out, and beside them everything that money, the record and
// routing need of the answer. It has no sockets, no timers and no clock.
import { isUtf8 } from 'node:buffer';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { ChatWire } from '../../providers/shared/chat-wire.js';
import { brokenAnswer } from './chat-failure.js';
import type { ChatFailure } from './chat-failure.js';
import { EventReader, EventTooLarge } from './event-reader.js';
import { GrowingBuffer } from './growing-buffer.js';
import type { OutputCount } from './output-count.js';
import { statedError } from './provider-errors.js';
import { AnswerScanner } from './splice/answer-scanner.js';
import { FailedChoice } from './splice/choice-splicer.js';
import { BrokenChunk } from './splice/object-splicer.js';
import { chunkStart, finishChunk } from './stream-events.js';
import type { StreamIdentity } from './stream-events.js';

export interface RelayOptions {
  /** `created` is used when the provider states none. */
  readonly identity: StreamIdentity;
  readonly wire: Pick<
    ChatWire,
    'readError' | 'readUsage' | 'finishReasons' | 'toolCallId' | 'callSignatures'
  >;
  readonly excludesReasoning: boolean;
  /** `n` of the request. */
  readonly choiceCount: number;
  readonly maxEventBytes: number;
  readonly maxAnswerBytes: number;
}

/** Beyond it, chunks without content are relayed: fallback is no longer possible then. */
const MAX_GATED_BYTES = 65_536;
const KEPT_OUTPUT_BYTES = 1_048_576;
const CHUNK_END = Buffer.from('}\n\n');
const DONE_MARK = /^\s*\[DONE\]\s*$/;

/** All relays share one: a read is handled without waiting. */
const OUTPUT = new GrowingBuffer();

export class ChatStreamRelay {
  /** The first content, reasoning, refusal, tool call or finish reason has come: the answer is this endpoint's. */
  hasContent = false;
  /** The stream has ended, well or not. Later bytes are ignored. */
  isFinished = false;
  failure: ChatFailure | null = null;
  /** The bound of this service that the answer has exceeded; null: none. */
  boundExceeded: string | null = null;
  private readonly reader: EventReader;
  private readonly scanner: AnswerScanner;
  private output: Buffer[] = [];
  private outputBytes = 0;
  private received = 0;
  private start: Buffer | null = null;
  private isDiscarding = false;
  private isReadUtf8 = false;

  constructor(private readonly options: RelayOptions) {
    const { wire, excludesReasoning, maxEventBytes } = options;
    this.scanner = new AnswerScanner({ wire, excludesReasoning, isWhole: false });
    this.reader = new EventReader(maxEventBytes, (bytes, from, to, event) => {
      if (!this.isFinished) this.readEvent(bytes, from, to, event);
    });
  }

  push(bytes: Buffer): void {
    if (this.isFinished) return;
    this.received += bytes.length;
    this.attempt(() => {
      if (this.received > this.options.maxAnswerBytes) {
        this.boundExceeded = 'answer_bytes';
        throw new BrokenChunk(`the answer is larger than ${this.options.maxAnswerBytes} bytes`);
      }
      this.isReadUtf8 = isUtf8(bytes);
      this.reader.push(bytes);
    });
  }

  /** The upstream's body has ended. Without `[DONE]` that is a success only if every choice has finished. */
  end(): void {
    if (this.isFinished) return;
    this.attempt(() => {
      this.isReadUtf8 = false;
      this.reader.end();
      if (this.isFinished) return;
      if (!this.hasFinishedChoices) throw new BrokenChunk('the stream ended before the answer was complete');
      this.isFinished = true;
    });
  }

  /** Ends the relay from outside: a time-out, a lost connection. */
  fail(failure: ChatFailure): void {
    if (this.isFinished) return;
    this.failure = failure;
    this.isFinished = true;
  }

  /** Ends the wait for usage after all choices have finished. */
  finish(): void {
    this.isFinished = true;
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

  /** All choices that the request asked for have their finish reason. Usage may follow. */
  get hasFinishedChoices(): boolean {
    const { choices } = this.scanner;
    return choices.length > 0 && choices.every(({ finishReason }) => finishReason !== null);
  }

  /** As hasFinishedChoices, and no further choice is to come. */
  get awaitsUsageOnly(): boolean {
    return this.scanner.choices.length >= this.options.choiceCount && this.hasFinishedChoices;
  }

  /** For the events that this service writes itself: `created` is the provider's where it states one. */
  get identity(): StreamIdentity {
    const { identity } = this.options;
    return { ...identity, created: this.scanner.created ?? identity.created };
  }

  get usage(): ReportedChatUsage | null {
    return this.scanner.usage;
  }

  get serviceTier(): string | null {
    return this.scanner.serviceTier;
  }

  get upstreamId(): string | null {
    return this.scanner.upstreamId;
  }

  /** The answer as far as it has come. */
  choices(): ChatChoice[] {
    return this.scanner.outputChoices();
  }

  /** Whether texts of choices() are cut. */
  get isOutputCut(): boolean {
    return this.scanner.outputTexts.isCut;
  }

  /** The texts for counting tokens. */
  outputCount(): OutputCount {
    const { keptTexts, shareOfKept } = this.scanner.outputTexts;
    return { texts: keptTexts, factor: shareOfKept };
  }

  /** Bytes that the relay holds beside its own objects. */
  get heldBytes(): number {
    return this.reader.heldBytes + this.outputBytes + this.scanner.outputTexts.size;
  }

  private attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof BrokenChunk || error instanceof EventTooLarge)) throw error;
      if (error instanceof EventTooLarge) this.boundExceeded = 'event_bytes';
      this.fail(brokenAnswer(error.message));
    } finally {
      this.scanner.release();
      const output = OUTPUT.take(KEPT_OUTPUT_BYTES);
      if (output && !this.isDiscarding) {
        this.output.push(output);
        this.outputBytes += output.length;
        this.hasContent ||= this.outputBytes > MAX_GATED_BYTES;
      }
    }
  }

  private readEvent(
    bytes: Buffer,
    from: number,
    to: number,
    { isError, isOwned }: { readonly isError: boolean; readonly isOwned: boolean },
  ): void {
    if (to - from < 16 && DONE_MARK.test(bytes.toString('latin1', from, to))) {
      this.finishOpenChoices();
      return;
    }
    if (isError) {
      this.failWith(bytes.subarray(from, to));
      return;
    }
    if ((isOwned || !this.isReadUtf8) && !isUtf8(bytes.subarray(from, to))) {
      const repaired = Buffer.from(bytes.toString('utf8', from, to));
      this.readChunk(repaired, 0, repaired.length, true);
    } else this.readChunk(bytes, from, to, isOwned);
  }

  private readChunk(bytes: Buffer, from: number, to: number, isOwned: boolean): void {
    let result;
    try {
      result = this.scanner.scan(bytes, from, to);
    } catch (error) {
      if (!(error instanceof FailedChoice)) throw error;
      result = 'error';
    }
    if (result === 'error') this.failWith(bytes.subarray(from, to));
    else if (result === 'choices') {
      this.hasContent ||= this.scanner.hasContent;
      this.start ??= chunkStart(this.identity);
      OUTPUT.append(this.start, 0, this.start.length);
      if (isOwned) joinLines(bytes, from, to);
      this.scanner.copyTo(OUTPUT);
      OUTPUT.append(CHUNK_END, 0, CHUNK_END.length);
    }
  }

  private failWith(document: Buffer): void {
    this.fail({ kind: 'provider_error', error: statedError(document, this.options.wire) });
  }

  /** `[DONE]` ends every choice. Clients need a finish reason of each. */
  private finishOpenChoices(): void {
    const { choices } = this.scanner;
    if (choices.length === 0) throw new BrokenChunk('the stream ended without an answer');
    for (const choice of choices) {
      if (choice.finishReason !== null) continue;
      choice.finishReason = choice.toolCalls.count > 0 ? 'tool_calls' : 'stop';
      choice.nativeFinishReason = choice.hasEmptyFinish ? '' : null;
      const { index, finishReason: reason, nativeFinishReason: native } = choice;
      const event = finishChunk(this.identity, { index, reason, native });
      OUTPUT.append(event, 0, event.length);
      this.hasContent = true;
    }
    this.isFinished = true;
  }
}

/** Data of several lines becomes one: a break between two members is a space as well. */
function joinLines(bytes: Buffer, from: number, to: number): void {
  for (let at = from; at < to; at++) if (bytes[at] === 0x0a) bytes[at] = 0x20;
}
