// Answers that come and go in Chat's wire: members that need no edit stay as their bytes.
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import { ChatAnswerReader } from '../../providers/shared/wires/chat-answer.js';
import { JsonDocument } from '../../json/json-document.js';
import { pieceOutput } from '../../json/json-node.js';
import { bodyOf, CHUNK_END, chunkStart, DONE, finishChunk, usageChunk } from '../clients/chat.js';
import { datedIdentity } from '../clients/client-wire.js';
import type { StreamIdentity } from '../clients/client-wire.js';
import { toChatUsageDto } from '../dto/chat-usage.dto.js';
import type { Answer, AnsweredChoice } from '../kernel/answer.js';
import { joinLines } from '../kernel/event-data.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import type { AnswerEnd, EventData, PassageOptions, StreamPassage, WholePassage } from './passage.js';

/** Of a chunk: a longer one is replaced by one of this service. */
const MAX_HELD_FINISH = 4_096;

/** A chunk of nothing but a finish reason. */
interface HeldFinish {
  readonly reason: string | null;
  readonly native: string | null;
  readonly bytes: Buffer;
}

export class ChatPassage implements StreamPassage {
  private readonly reader: ChatAnswerReader;
  private start: Buffer | null = null;
  private readonly finishes = new Map<number, HeldFinish>();

  constructor(
    private readonly options: PassageOptions,
    readonly answer: Answer,
    private readonly output: GrowingBuffer,
  ) {
    const { wire, excludesReasoning } = options;
    this.reader = new ChatAnswerReader({ wire, excludesReasoning, isWhole: false }, answer);
  }

  read(bytes: Buffer, from: number, to: number, { isJoined, large }: EventData): EventResult {
    const result = this.reader.read(bytes, from, to, large);
    if (result === 'error') return 'error';
    if (result === 'nothing') return 'more';
    if (isJoined) joinLines(bytes, from, to);
    if (result === 'choices') this.writeChunk(this.output);
    else this.holdFinish();
    return 'more';
  }

  done(): void {
    this.reader.finishOpenChoices();
  }

  /** The finish reasons were held back: content may follow one, and clients read the first as the end. */
  complete(): void {
    this.reader.end();
    for (const choice of this.answer.choices) {
      if (choice.finishReason === null) continue;
      const event = this.finishOf(choice);
      this.output.append(event, 0, event.length);
    }
  }

  release(): void {
    this.reader.release();
  }

  last({ usage, cost, members, hasChoice }: AnswerEnd): Buffer {
    const shown = { usage: toChatUsageDto(usage, cost), ...members };
    return Buffer.concat([usageChunk(this.identity, shown, hasChoice), DONE]);
  }

  private get identity(): StreamIdentity {
    return datedIdentity(this.options.identity, this.answer.createdAt);
  }

  private writeChunk(output: GrowingBuffer): void {
    this.start ??= chunkStart(this.identity);
    output.append(this.start, 0, this.start.length);
    this.reader.writeInside(output);
    output.append(CHUNK_END, 0, CHUNK_END.length);
  }

  private holdFinish(): void {
    const choice = this.answer.choiceAt(this.reader.finishedChoice);
    const chunk = new GrowingBuffer();
    this.writeChunk(chunk);
    if (choice === null || chunk.length > MAX_HELD_FINISH) return;
    this.finishes.set(choice.index, {
      reason: choice.finishReason,
      native: choice.nativeFinishReason,
      bytes: Buffer.from(chunk.bytes.subarray(0, chunk.length)),
    });
  }

  /** The provider's own last chunk of a choice, if it says what the answer came to. */
  private finishOf(choice: AnsweredChoice): Buffer {
    const held = this.finishes.get(choice.index);
    const isSame = held?.reason === choice.finishReason && held.native === choice.nativeFinishReason;
    const hasEmptyCalls = choice.calls.some(({ arguments: { length } }) => length === 0);
    return held && isSame && !hasEmptyCalls ? held.bytes : finishChunk(this.identity, choice);
  }
}

export class WholeChatPassage implements WholePassage {
  private readonly reader: ChatAnswerReader;
  private readonly pieces: Buffer[] = [];
  private hasFingerprint = false;

  constructor(
    private readonly options: PassageOptions,
    readonly answer: Answer,
  ) {
    const { wire, excludesReasoning } = options;
    const rules = { wire, excludesReasoning, isWhole: true };
    this.reader = new ChatAnswerReader(rules, answer, new JsonDocument(BrokenAnswer));
  }

  read(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): boolean {
    if (this.reader.read(bytes, from, to, large) === 'nothing') return false;
    if (this.answer.stated !== null) return true;
    this.reader.end();
    this.reader.writeInside(pieceOutput(this.pieces));
    this.reader.release();
    this.hasFingerprint = this.reader.hasFingerprint;
    return true;
  }

  body({ usage, cost, members }: AnswerEnd): readonly Buffer[] {
    const shown = { usage: toChatUsageDto(usage, cost), ...members };
    return bodyOf(
      datedIdentity(this.options.identity, this.answer.createdAt),
      this.pieces,
      this.hasFingerprint ? shown : { system_fingerprint: null, ...shown },
    );
  }
}
