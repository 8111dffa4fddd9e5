// Reads answers in the Messages wire, streamed and whole, into the kernel's events. Unknown events, deltas and blocks say nothing to
// the kernel: clients of the wire get them as they are.
import { JsonDocument } from '../../../json/json-document.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import { asObject, recordableId } from '../wire.js';
import type { AnswerEvents, EventResult } from './answer-events.js';
import { errorOf, MAX_SMALL } from './answer-values.js';
import { finishReasonOf } from './finish-reasons.js';
import { BLOCK, DELTA, indexOf, MessagesBlocks } from './messages-blocks.js';
import { MessagesUsage } from './messages-usage.js';

/** Members of usage are not looked at here: further ones are added to them. */
const USAGE = new JsonShape([]);
const EVENT = new JsonShape(['type', 'index', 'message', 'content_block', 'delta', 'usage', 'error'], {
  message: new JsonShape(['id', 'usage']),
  content_block: BLOCK,
  delta: DELTA,
  usage: USAGE,
});
const WHOLE = new JsonShape(
  ['type', 'id', 'content', 'stop_reason', 'stop_details', 'usage', 'provider', 'openrouter_metadata'],
  { content: BLOCK, usage: USAGE },
);
const CHOICE = 0;

/** An event is read and written without waiting: all streams share one document. */
const EVENTS = new JsonDocument(BrokenAnswer);

export interface MessagesAnswerRules {
  readonly wire: Pick<ChatWire, 'readError' | 'finishReasons'>;
}

export class MessagesAnswerReader {
  /** Of the last event; empty: it has none. */
  type = '';
  private readonly blocks: MessagesBlocks;
  private readonly counts = new MessagesUsage();
  private hasStarted = false;
  private hasFinished = false;

  constructor(
    private readonly rules: MessagesAnswerRules,
    private readonly answer: AnswerEvents,
    private readonly json = EVENTS,
  ) {
    this.blocks = new MessagesBlocks(answer);
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readEvent(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): EventResult {
    const event = this.json.read(bytes, from, to, EVENT, large);
    if (event === null || event.isList) throw new BrokenAnswer('an event is not an object');
    const type = (this.type = event.text(event.find('type')));
    switch (type) {
      case 'message_start':
        this.readStart(event.child(event.find('message')));
        break;
      case 'content_block_start':
        this.start(null);
        this.blocks.start(indexOf(event), childOf(event, 'content_block'));
        break;
      case 'content_block_delta':
        this.start(null);
        this.blocks.delta(indexOf(event), childOf(event, 'delta'));
        break;
      case 'content_block_stop':
        this.blocks.stop(indexOf(event));
        break;
      case 'message_delta':
        this.start(null);
        this.readFinish(childOf(event, 'delta'));
        this.readUsage(event, false);
        break;
      case 'error':
        this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
        return 'error';
      case 'message_stop':
        return 'end';
      case 'ping':
        break;
      default:
        // Servers behind a gateway may write an error as a body of their own.
        if (type === '' && !event.isNothing(event.find('error'))) {
          this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
          return 'error';
        }
        this.answer.skipped(to - from);
    }
    return 'more';
  }

  /** A whole answer. Returns its document, valid until `release`; null: it states an error. */
  readWhole(
    bytes: Buffer,
    from: number,
    to: number,
    large: ReadonlyMap<number, number> | null,
  ): JsonNode | null {
    const message = this.json.read(bytes, from, to, WHOLE, large);
    if (message === null || message.isList) throw new BrokenAnswer('the answer is not an object');
    if (message.text(message.find('type')) === 'error') {
      this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
      return null;
    }
    const content = message.child(message.find('content'));
    if (content?.isList !== true) throw new BrokenAnswer('the answer has no content');
    this.start(idOf(message));
    this.blocks.readAll(content);
    this.readFinish(message);
    this.readUsage(message, false);
    this.end();
    return message;
  }

  release(): void {
    this.json.release();
  }

  /** The marker `[DONE]`, which the wire does not have: some servers add it. */
  done(): void {
    if (!this.hasFinished) throw new BrokenAnswer('the stream ended before the answer was complete');
  }

  /** Closes what is open, and ends the answer. */
  end(): void {
    this.blocks.end();
    this.answer.end();
  }

  private readStart(message: JsonNode | null): void {
    if (message === null || message.isList) throw new BrokenAnswer('message_start has no message');
    // Some servers start twice.
    if (this.hasStarted) this.answer.repaired();
    this.start(idOf(message));
    this.readUsage(message, true);
  }

  private start(id: string | null): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.answer.start(id, null);
    this.answer.begin(CHOICE);
  }

  private readFinish(node: JsonNode): void {
    const word = node.text(node.find('stop_reason'));
    if (word === '') return;
    const details = asObject(node.value(node.find('stop_details'), MAX_SMALL));
    const { explanation } = details;
    if (word === 'refusal' && typeof explanation === 'string' && explanation !== '')
      this.blocks.refuse(explanation);
    const { finishReasons } = this.rules.wire;
    this.hasFinished = true;
    this.answer.finish(CHOICE, finishReasonOf(word, finishReasons, this.blocks.calls > 0), word);
  }

  private readUsage(node: JsonNode, isStart: boolean): void {
    const snapshot = this.counts.read(node.value(node.find('usage'), MAX_SMALL), isStart);
    if (snapshot === null) return;
    this.answer.usage(snapshot, isStart && snapshot.promptTokens !== null);
    if (this.counts.serviceTier !== null) this.answer.serviceTier(this.counts.serviceTier);
  }
}

/** A member of the event that is an object. */
function childOf(event: JsonNode, name: string): JsonNode {
  const child = event.child(event.find(name));
  if (child === null || child.isList) throw new BrokenAnswer(`an event has no ${name}`);
  return child;
}

function idOf(message: JsonNode): string | null {
  return recordableId(message.value(message.find('id'), MAX_SMALL)) || null;
}

/** Reads one document for its last edits: the end of a stream, kept until its usage is known. */
export function editableEvent(bytes: Buffer): JsonNode | null {
  return new JsonDocument(BrokenAnswer).read(bytes, 0, bytes.length, EVENT);
}
