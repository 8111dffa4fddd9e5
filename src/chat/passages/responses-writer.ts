// Writes streams of other wires in the Responses wire (docs/contract.md#responses-answer). Every event has the next number.
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import type { FailedStream } from '../clients/client-wire.js';
import {
  eventStart,
  failedEvent,
  keepAliveEvent,
  responseEvent,
  responseObject,
  responsesEvent,
} from '../clients/responses.js';
import type { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import type { AnswerEnd, PassageOptions } from './passage.js';
import { lastItemStatus, responseEnd } from './response-end.js';
import { ResponseItems } from './response-items.js';
import type { ItemListener, OutputItem } from './response-items.js';
import type { StreamWriter } from './translated-passage.js';

const NO_TEXT = Buffer.alloc(0);

/** The events of items, in one numbered sequence. */
class ResponseEvents implements ItemListener {
  sequence = 0;
  private inPart: OutputItem | null = null;

  constructor(
    private readonly options: PassageOptions,
    private readonly output: GrowingBuffer,
  ) {}

  start(): void {
    const { identity, responses } = this.options;
    const begun = responseObject(identity, responses, { status: 'in_progress', output: [] });
    for (const type of ['response.created', 'response.in_progress'])
      this.write(responseEvent(type, this.sequence++, begun));
  }

  added(item: OutputItem): void {
    this.itemEvent('response.output_item.added', item, item.json('in_progress'));
  }

  grew(item: OutputItem, bytes: Buffer, from: number, to: number): void {
    const { event, deltaMore } = item.form;
    if (this.inPart !== item) this.beginPart(item);
    const start = Buffer.from(`${eventStart(`${event}.delta`, this.sequence++)}${placeOf(item)},"delta":"`);
    const end = Buffer.from(`"${deltaMore}}\n\n`);
    this.write(start);
    this.output.append(bytes, from, to);
    this.write(end);
  }

  done(item: OutputItem, json: Buffer): void {
    const { event, member, part, deltaMore } = item.form;
    if (item.text.length > 0 || part === null) {
      const start = `${placeOf(item)},"${member}":"`;
      this.event(`${event}.done`, [Buffer.from(start), item.written(), Buffer.from(`"${deltaMore}`)]);
    }
    if (item.text.length > 0) this.partEvent('done', item, item.written());
    this.itemEvent('response.output_item.done', item, json);
  }

  private beginPart(item: OutputItem): void {
    this.inPart = item;
    this.partEvent('added', item, NO_TEXT);
  }

  private partEvent(change: 'added' | 'done', item: OutputItem, text: Buffer): void {
    const { part } = item.form;
    if (part === null) return;
    const start = Buffer.from(`${placeOf(item)},"part":`);
    this.event(`${part.event}.${change}`, [start, ...item.part(text)]);
  }

  private itemEvent(type: string, item: OutputItem, json: Buffer): void {
    this.event(type, [Buffer.from(`"output_index":${item.index},"item":`), json]);
  }

  private event(type: string, members: readonly Buffer[]): void {
    this.write(responsesEvent(type, this.sequence++, members));
  }

  private write(bytes: Buffer): void {
    this.output.append(bytes, 0, bytes.length);
  }
}

export class ResponsesWriter implements StreamWriter {
  private readonly events: ResponseEvents;
  private readonly items: ResponseItems;
  private hasStarted = false;

  constructor(
    private readonly options: PassageOptions,
    output: GrowingBuffer,
  ) {
    this.events = new ResponseEvents(options, output);
    this.items = new ResponseItems(options, this.events);
  }

  opened(block: AnswerBlock, call?: ToolCallStart): void {
    this.start();
    this.items.opened(block, call);
  }

  grew(block: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    this.items.grew(block, bytes, from, to);
  }

  closed(block: AnswerBlock, opaque?: OpaqueReasoning): void {
    this.items.closed(block, opaque);
  }

  end(answer: Answer): void {
    this.start();
    this.items.close(lastItemStatus(answer));
  }

  last(end: AnswerEnd, answer: Answer): Buffer {
    const { identity, responses } = this.options;
    const parts = responseEnd(end, answer, this.items.finished);
    const response = responseObject(identity, responses, parts);
    return responseEvent(`response.${parts.status}`, this.events.sequence++, response);
  }

  /** Null: nothing has begun. */
  failed(failed: FailedStream): Buffer | null {
    return this.hasStarted ? failedEvent(failed, this.events.sequence++, this.items.soFar()) : null;
  }

  keepAlive(): Buffer | null {
    return this.hasStarted ? keepAliveEvent(this.events.sequence++) : null;
  }

  get heldBytes(): number {
    return this.items.heldBytes;
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.events.start();
  }
}

/** Of a text: its item and its part, without the brace. */
function placeOf({ id, index, form: { part } }: OutputItem): string {
  const place = part === null ? '' : `,"${part.index}":0`;
  return `"item_id":${JSON.stringify(id)},"output_index":${index}${place}`;
}
