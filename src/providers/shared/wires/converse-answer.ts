// Reads answers in Bedrock's Converse wire into events. Each event is an object with one member, its type
// (docs/contract.md#converse-providers).
import type { ReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import { isArray, isObject } from '../../../domain/members.js';
import { JsonDocument } from '../../../json/json-document.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import { BrokenAnswer } from '../provider.js';
import { asObject } from '../wire.js';
import type { AnswerEvents, EventResult } from './answer-events.js';
import { MAX_SMALL } from './answer-values.js';
import { ConverseBlocks, DELTA, START, WHOLE_BLOCK } from './converse-blocks.js';
import { finishReasonOf } from './finish-reasons.js';

const EVENT = new JsonShape(
  ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'],
  {
    contentBlockStart: new JsonShape(['contentBlockIndex', 'start'], { start: START }),
    contentBlockDelta: new JsonShape(['contentBlockIndex', 'delta'], { delta: DELTA }),
    contentBlockStop: new JsonShape(['contentBlockIndex']),
    messageStop: new JsonShape(['stopReason']),
    metadata: new JsonShape(['usage', 'serviceTier']),
  },
);
const WHOLE = new JsonShape(['output', 'stopReason', 'usage', 'serviceTier'], {
  output: new JsonShape(['message'], {
    message: new JsonShape(['content'], { content: WHOLE_BLOCK }),
  }),
});
/** An event is read without waiting: all streams share one document. */
const EVENTS = new JsonDocument(BrokenAnswer);
/** The wire has one answer. */
const CHOICE = 0;

export class ConverseAnswerReader {
  private readonly blocks: ConverseBlocks;
  private hasStarted = false;
  private hasFinished = false;

  constructor(
    private readonly answer: AnswerEvents,
    private readonly json = EVENTS,
  ) {
    this.blocks = new ConverseBlocks(answer);
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readEvent(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): EventResult {
    const event = this.json.read(bytes, from, to, EVENT, large);
    if (event === null || event.isList) throw new BrokenAnswer('an event is not an object');
    const type = event.nameAt(0);
    this.start();
    if (type === null) {
      this.answer.skipped(to - from);
      return 'more';
    }
    const body = event.child(0);
    if (type === 'messageStart') return 'more';
    if (body === null || body.isList) throw new BrokenAnswer(`${type} is not an object`);
    if (type === 'contentBlockStart') this.blocks.start(body);
    else if (type === 'contentBlockDelta') this.blocks.delta(body);
    else if (type === 'contentBlockStop') this.blocks.stop(body);
    else if (type === 'messageStop') this.readFinish(body);
    else this.readUsage(body);
    return type === 'metadata' && this.hasFinished ? 'end' : 'more';
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readWhole(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): void {
    const whole = this.json.read(bytes, from, to, WHOLE, large);
    if (whole === null || whole.isList) throw new BrokenAnswer('the answer is not an object');
    const output = whole.child(whole.find('output'));
    const message = output?.child(output.find('message'));
    const content = message?.child(message.find('content'));
    if (content?.isList !== true) throw new BrokenAnswer('the answer has no content');
    this.start();
    this.blocks.readAll(content);
    this.readFinish(whole);
    this.readUsage(whole);
    this.end();
  }

  release(): void {
    this.json.release();
  }

  /** The wire has no marker `[DONE]`. */
  done(): void {
    if (!this.hasFinished) throw new BrokenAnswer('the stream ended before the answer was complete');
  }

  end(): void {
    this.blocks.end();
    this.answer.end();
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.answer.start(null, null);
    this.answer.begin(CHOICE);
  }

  private readFinish(node: JsonNode): void {
    const word = node.text(node.find('stopReason'));
    if (word === '') throw new BrokenAnswer('the answer has no stopReason');
    this.hasFinished = true;
    this.answer.finish(CHOICE, finishReasonOf(word, undefined, this.blocks.calls > 0), word);
  }

  private readUsage(node: JsonNode): void {
    const usage = node.value(node.find('usage'), MAX_SMALL);
    if (isObject(usage)) this.answer.usage(converseUsage(usage));
    const { type: tier } = asObject(node.value(node.find('serviceTier'), MAX_SMALL));
    if (typeof tier === 'string') this.answer.serviceTier(tier);
  }
}

/** The total shows whether the input contains the tokens of the cache; without that proof they are beside it. */
function converseUsage(usage: Readonly<Record<string, unknown>>): ReportedChatUsage {
  const numberAt = (name: string): number | null => {
    const value = usage[name];
    return typeof value === 'number' ? value : null;
  };
  const input = numberAt('inputTokens');
  const output = numberAt('outputTokens');
  const read = numberAt('cacheReadInputTokens');
  const written = numberAt('cacheWriteInputTokens');
  const contains = input !== null && output !== null && input + output === numberAt('totalTokens');
  return {
    promptTokens: input === null || contains ? input : input + (read ?? 0) + (written ?? 0),
    completionTokens: output,
    totalTokens: null,
    cachedTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: writtenForAnHour(usage['cacheDetails']),
    audioInputTokens: null,
    videoInputTokens: null,
    reasoningTokens: null,
    audioOutputTokens: null,
    imageOutputTokens: null,
    acceptedPredictionTokens: null,
    rejectedPredictionTokens: null,
    providerToolUses: null,
    webSearches: null,
  };
}

/** Null: the answer does not tell the lives of what it wrote. */
function writtenForAnHour(details: unknown): number | null {
  if (!isArray(details) || details.length === 0) return null;
  let tokens = 0;
  for (const detail of details) {
    const { ttl, inputTokens } = asObject(detail);
    if (ttl === '1h' && typeof inputTokens === 'number') tokens += inputTokens;
  }
  return tokens;
}
