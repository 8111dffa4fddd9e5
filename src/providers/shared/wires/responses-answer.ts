// Reads answers in the Responses wire, streamed and whole, into the kernel's events. Events of unknown types say nothing to the kernel:
// clients of the wire get them as they are.
import { readReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import { JsonDocument } from '../../../json/json-document.js';
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import { recordableId } from '../wire.js';
import type { AnswerEvents, EventResult } from './answer-events.js';
import { ENDED_WITH_ERROR, errorOf, MAX_SMALL } from './answer-values.js';
import { finishReasonOf } from './finish-reasons.js';
import { deltaRule, ITEM, ResponseOutput } from './response-output.js';

/** Members of usage are not looked at here: further ones are added to them. */
const USAGE = new JsonShape([]);
const NAMES = [
  'id',
  'created_at',
  'status',
  'error',
  'incomplete_details',
  'output',
  'usage',
  'service_tier',
];
const RESPONSE = new JsonShape([...NAMES, 'provider', 'openrouter_metadata'], { output: ITEM, usage: USAGE });
const EVENT = new JsonShape(
  [
    'type',
    'sequence_number',
    'output_index',
    'content_index',
    'summary_index',
    'delta',
    'item',
    'response',
    'error',
  ],
  { item: ITEM, response: RESPONSE },
);
const CHOICE = 0;
/** They repeat what deltas and items say, or say that the provider works. */
const SILENT =
  /^keepalive$|^response\.(?:queued|in_progress|content_part\.(?:added|done)|reasoning_summary_part\.(?:added|done)|output_text\.annotation\.added|[a-z_]+\.done)$/;
const INCOMPLETE: Readonly<Record<string, string>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};
const NO_REASON = Buffer.from(JSON.stringify({ error: { message: ENDED_WITH_ERROR } }));

/** An event is read and written without waiting: all streams share one document. */
const EVENTS = new JsonDocument(BrokenAnswer);

export interface ResponsesAnswerRules {
  readonly wire: Pick<ChatWire, 'readError' | 'finishReasons'>;
}

export class ResponsesAnswerReader {
  /** The last event; null: it is not an object. */
  event: JsonNode | null = null;
  type = '';
  /** The number of the last event. */
  sequence = -1;
  private readonly output: ResponseOutput;
  private hasStarted = false;
  private hasFinished = false;

  constructor(
    private readonly rules: ResponsesAnswerRules,
    private readonly answer: AnswerEvents,
    private readonly json = EVENTS,
  ) {
    this.output = new ResponseOutput(answer);
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readEvent(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): EventResult {
    const event = this.json.read(bytes, from, to, EVENT, large);
    if (event === null || event.isList) throw new BrokenAnswer('an event is not an object');
    this.event = event;
    this.type = event.text(event.find('type'));
    this.sequence = integerAt(event, event.find('sequence_number')) ?? this.sequence + 1;
    switch (this.type) {
      case 'response.created':
        this.start(event.child(event.find('response')));
        return 'more';
      case 'response.output_item.added':
        this.start(null);
        this.output.added(indexOf(event), itemOf(event));
        return 'more';
      case 'response.output_item.done':
        this.start(null);
        this.output.done(indexOf(event), itemOf(event));
        return 'more';
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.readEnd(responseIn(event), this.type.slice('response.'.length)) ? 'end' : 'error';
      default:
        return this.readOther(event, bytes, from, to);
    }
  }

  /** A whole answer. Returns its document, valid until `release`; null: it states an error. */
  readWhole(
    bytes: Buffer,
    from: number,
    to: number,
    large: ReadonlyMap<number, number> | null,
  ): JsonNode | null {
    const response = this.json.read(bytes, from, to, RESPONSE, large);
    if (response === null || response.isList) throw new BrokenAnswer('the answer is not an object');
    const output = response.child(response.find('output'));
    if (output?.isList !== true && response.isNothing(response.find('error')))
      throw new BrokenAnswer('the answer has no output');
    if (!this.readEnd(response, response.text(response.find('status')) || 'completed')) return null;
    this.end();
    return response;
  }

  release(): void {
    this.event = null;
    this.json.release();
  }

  /** The marker `[DONE]`, which the wire does not have: some servers add it. */
  done(): void {
    if (!this.hasFinished) throw new BrokenAnswer('the stream ended before the answer was complete');
  }

  /** Closes what is open, and ends the answer. */
  end(): void {
    this.output.end();
    this.answer.end();
  }

  private start(response: JsonNode | null): void {
    // Some servers start twice.
    if (this.hasStarted) return;
    this.hasStarted = true;
    const id = response && (recordableId(response.value(response.find('id'), MAX_SMALL)) || null);
    this.answer.start(id, response && secondsIn(response));
    this.answer.begin(CHOICE);
  }

  private readOther(event: JsonNode, bytes: Buffer, from: number, to: number): EventResult {
    const { type } = this;
    const rule = deltaRule(type);
    if (rule !== null) {
      this.start(null);
      this.output.delta(rule, indexOf(event), event);
    } else if (type === 'error' || (type === '' && !event.isNothing(event.find('error')))) {
      this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
      return 'error';
    } else if (!SILENT.test(type)) this.answer.skipped(to - from);
    return 'more';
  }

  /** Returns whether the answer is complete: otherwise it states an error. */
  private readEnd(response: JsonNode, status: string): boolean {
    const isComplete = status === 'completed' || status === 'incomplete';
    if (isComplete) {
      this.start(response);
      const output = response.child(response.find('output'));
      // Some servers send nothing before.
      if (this.output.isEmpty && output?.isList === true) this.output.readAll(output);
    }
    const usage = readReportedChatUsage(response.value(response.find('usage'), MAX_SMALL));
    if (usage !== null) this.answer.usage(usage);
    const tier = response.text(response.find('service_tier'));
    if (tier !== '') this.answer.serviceTier(tier);
    if (isComplete) this.finish(response, status);
    else this.answer.error(errorOf(errorIn(response), this.rules.wire));
    return isComplete;
  }

  private finish(response: JsonNode, status: string): void {
    const details = response.value(response.find('incomplete_details'), MAX_SMALL);
    const { reason } = (details ?? {}) as { readonly reason?: unknown };
    const isCut = status === 'incomplete';
    const native = isCut && typeof reason === 'string' ? reason : status;
    const word = isCut ? (INCOMPLETE[native] ?? 'length') : 'stop';
    const { finishReasons } = this.rules.wire;
    this.hasFinished = true;
    this.answer.finish(CHOICE, finishReasonOf(word, finishReasons, this.output.calls > 0), native);
  }
}

/** Servers that leave it out send one item. */
function indexOf(event: JsonNode): number {
  return integerAt(event, event.find('output_index')) ?? 0;
}

function itemOf(event: JsonNode): JsonNode {
  const item = event.child(event.find('item'));
  if (item === null || item.isList) throw new BrokenAnswer('an event has no item');
  return item;
}

function responseIn(event: JsonNode): JsonNode {
  const response = event.child(event.find('response'));
  if (response === null || response.isList) throw new BrokenAnswer('the last event has no response');
  return response;
}

function secondsIn(response: JsonNode): number | null {
  const seconds = response.value(response.find('created_at'), MAX_SMALL);
  return Number.isSafeInteger(seconds) && (seconds as number) > 0 ? (seconds as number) : null;
}

/** The document of an error alone: the request that a response repeats may be long. */
function errorIn(response: JsonNode): Buffer {
  const at = response.find('error');
  if (response.isNothing(at)) return NO_REASON;
  return Buffer.concat([Buffer.from('{"error":'), response.raw(at), Buffer.from('}')]);
}
