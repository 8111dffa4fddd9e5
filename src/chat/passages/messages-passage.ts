// Answers that come and go in the Messages wire: the provider's events and bodies pass as their bytes, with their ids. Usage gains
// its cost, after the commit of the record.
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import { editableEvent, MessagesAnswerReader } from '../../providers/shared/wires/messages-answer.js';
import { JsonDocument } from '../../json/json-document.js';
import { costMembers, MESSAGE_STOP, messagesEvent } from '../clients/messages.js';
import type { Answer } from '../kernel/answer.js';
import { joinLines } from '../kernel/event-data.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import { addCost, addMembers, PassingBody, writeEvent } from './passing-bytes.js';
import type { AnswerEnd, EventData, PassageOptions, StreamPassage } from './passage.js';

export class MessagesPassage implements StreamPassage {
  private readonly reader: MessagesAnswerReader;
  /** The last event with usage: what follows it ends the stream. */
  private held: Buffer | null = null;

  constructor(
    options: PassageOptions,
    readonly answer: Answer,
    private readonly output: GrowingBuffer,
  ) {
    this.reader = new MessagesAnswerReader(options, answer);
  }

  read(bytes: Buffer, from: number, to: number, { isJoined, large }: EventData): EventResult {
    const result = this.reader.readEvent(bytes, from, to, large);
    if (result !== 'more') return result;
    const { type } = this.reader;
    if (isJoined) joinLines(bytes, from, to);
    if (type === 'message_delta') {
      this.writeHeld();
      this.held = Buffer.from(bytes.subarray(from, to));
    } else writeEvent(this.output, type, bytes, from, to);
    return 'more';
  }

  done(): void {
    this.reader.done();
  }

  complete(): void {
    this.reader.end();
  }

  release(): void {
    this.reader.release();
  }

  last({ usage, cost, members }: AnswerEnd): Buffer {
    const event = this.held && editableEvent(this.held);
    if (event === null) return MESSAGE_STOP;
    addCost(event, cost, () => ({ output_tokens: usage.completionTokens, ...costMembers(cost) }));
    addMembers(event, members);
    return Buffer.concat([messagesEvent('message_delta', Buffer.concat(event.pieces())), MESSAGE_STOP]);
  }

  private writeHeld(): void {
    if (this.held !== null) writeEvent(this.output, 'message_delta', this.held, 0, this.held.length);
  }
}

export class WholeMessagesPassage extends PassingBody {
  constructor(options: PassageOptions, answer: Answer) {
    const reader = new MessagesAnswerReader(options, answer, new JsonDocument(BrokenAnswer));
    super(options, answer, reader, ({ cost }) => costMembers(cost));
  }
}
