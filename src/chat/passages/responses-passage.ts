// Answers that come and go in the Responses wire: the provider's events and bodies pass as their bytes, with their ids and numbers.
// Usage gains its cost, after the commit of the record.
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import { ResponsesAnswerReader } from '../../providers/shared/wires/responses-answer.js';
import { JsonDocument } from '../../json/json-document.js';
import type { JsonNode } from '../../json/json-node.js';
import type { FailedStream } from '../clients/client-wire.js';
import { costMembers } from '../clients/messages.js';
import { failedEvent, keepAliveEvent } from '../clients/responses.js';
import { responsesUsage } from '../clients/responses-usage.js';
import type { Answer } from '../kernel/answer.js';
import { joinLines } from '../kernel/event-data.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import { PassingBody, writeEvent } from './passing-bytes.js';
import type { AnswerEnd, EventData, PassageOptions, StreamPassage } from './passage.js';

const EMPTY_LIST = Buffer.from('[]');

/** The last event, and the places in it where members are added. */
interface HeldEnd {
  readonly type: string;
  readonly bytes: Buffer;
  /** Of the value of `usage`; null: absent. */
  readonly usage: { readonly from: number; readonly to: number; readonly hasMembers: boolean | null } | null;
  /** Before the last brace of the response. */
  readonly end: number;
}

export class ResponsesPassage implements StreamPassage {
  private readonly reader: ResponsesAnswerReader;
  private held: HeldEnd | null = null;
  /** JSON of items that are closed, for an answer that fails. */
  private readonly items: Buffer[] = [];
  private itemBytes = 0;
  /** The number of the last event for the client; -1: none. */
  private sequence = -1;
  /** Events of this service among those of the provider, whose numbers move by as many. */
  private insertedEvents = 0;

  constructor(
    options: PassageOptions,
    readonly answer: Answer,
    private readonly output: GrowingBuffer,
  ) {
    this.reader = new ResponsesAnswerReader(options, answer);
  }

  read(bytes: Buffer, from: number, to: number, { isJoined, large }: EventData): EventResult {
    const result = this.reader.readEvent(bytes, from, to, large);
    const { event, type } = this.reader;
    if (result === 'error' || event === null) return 'error';
    if (isJoined) joinLines(bytes, from, to);
    this.sequence = this.reader.sequence + this.insertedEvents;
    const item = event.child(event.find('item'));
    if (result === 'end') this.hold(event);
    else if (type === 'response.output_item.added' && item !== null) this.writeAdded(event, item);
    else {
      if (type === 'response.output_item.done' && item !== null) this.keep(item);
      if (this.insertedEvents === 0) writeEvent(this.output, type, bytes, from, to);
      else this.writeNumbered(event);
    }
    return result;
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
    if (this.held === null) return Buffer.alloc(0);
    const { type, bytes, usage: reported, end } = this.held;
    const more = insideOf(members);
    const added = reported === null ? insideOf({ usage: responsesUsage({ usage, cost }) }) : '';
    const atEnd = [added, more].filter((text) => text !== '').map((text) => `,${text}`);
    const pieces =
      reported === null
        ? [bytes.subarray(0, end)]
        : [...usagePieces(bytes, reported, { usage, cost }), bytes.subarray(reported.to, end)];
    const edited = new GrowingBuffer();
    const data = Buffer.concat([...pieces, Buffer.from(atEnd.join('')), bytes.subarray(end)]);
    writeEvent(edited, type, data, 0, data.length);
    return edited.bytes.subarray(0, edited.length);
  }

  failed(failed: FailedStream): Buffer | null {
    if (this.sequence === -1) return null;
    return failedEvent(failed, this.sequence + 1, this.items, this.answer.upstreamId);
  }

  keepAlive(): Buffer | null {
    if (this.sequence === -1 || this.held !== null) return null;
    this.insertedEvents++;
    return keepAliveEvent(++this.sequence);
  }

  get heldBytes(): number {
    return this.itemBytes + (this.held?.bytes.length ?? 0);
  }

  /** Clients append parts to the content of a message. */
  private writeAdded(event: JsonNode, item: JsonNode): void {
    if (item.text(item.find('type')) === 'message' && item.isNothing(item.find('content')))
      item.set('content', EMPTY_LIST);
    this.writeNumbered(event);
  }

  private writeNumbered(event: JsonNode): void {
    const edited = this.numbered(event);
    writeEvent(this.output, this.reader.type, edited, 0, edited.length);
  }

  /** The event with its edits. */
  private numbered(event: JsonNode): Buffer {
    if (this.insertedEvents > 0 && event.find('sequence_number') !== -1)
      event.set('sequence_number', Buffer.from(String(this.sequence)));
    return Buffer.concat(event.pieces());
  }

  private keep(item: JsonNode): void {
    const json = Buffer.from(item.bytes.subarray(item.from, item.to));
    this.items.push(json);
    this.itemBytes += json.length;
  }

  private hold(event: JsonNode): void {
    const response = event.child(event.find('response'));
    if (response === null) return;
    const bytes = this.numbered(event);
    const isMoved = event.find('sequence_number') < event.find('response');
    const from = event.from - (isMoved ? bytes.length - (event.to - event.from) : 0);
    const at = response.find('usage');
    const members = response.child(at);
    const hasMembers = members === null || members.isList ? null : members.count > 0;
    this.held = {
      type: this.reader.type,
      bytes,
      usage:
        at === -1 ? null : { from: response.fromOf(at) - from, to: response.toOf(at) - from, hasMembers },
      end: response.to - 1 - from,
    };
  }
}

/** The event up to the end of its usage. Usage that is no object is replaced. */
function usagePieces(
  bytes: Buffer,
  { from, to, hasMembers }: NonNullable<HeldEnd['usage']>,
  shown: Pick<AnswerEnd, 'usage' | 'cost'>,
): Buffer[] {
  if (hasMembers === null)
    return [bytes.subarray(0, from), Buffer.from(JSON.stringify(responsesUsage(shown)))];
  const added = `${hasMembers ? ',' : ''}${insideOf(costMembers(shown.cost))}}`;
  return [bytes.subarray(0, to - 1), Buffer.from(added)];
}

function insideOf(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(members).slice(1, -1);
}

export class WholeResponsesPassage extends PassingBody {
  constructor(options: PassageOptions, answer: Answer) {
    const reader = new ResponsesAnswerReader(options, answer, new JsonDocument(BrokenAnswer));
    super(options, answer, reader, responsesUsage);
  }
}
