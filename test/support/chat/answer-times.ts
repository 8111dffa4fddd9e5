// How long answers of a size take to read, whatever is in them: units that are repeated until the answer has that size.
import { readChatAnswer } from '../../../src/chat/stream/chat-answer.js';
import type { Pace } from '../../../src/concurrency/yield-queue.js';
import { ANSWER_OPTIONS, createRelay } from './relay.js';
import { openAiChunk, plainChunk, sse } from './upstream-streams.js';

const READ_BYTES = 65_536;
const CHOICES = 128;

/** The nth of equal units: of a stream, a string; of a whole answer, a member of the choice of that index. */
export type AnswerUnit = (nth: number) => string;

const choice = (index: number, delta: object): string => sse(plainChunk({ index, delta }));
const calls = (...members: readonly object[]): object => ({ tool_calls: members });

export const STREAM_UNITS: Readonly<Record<string, AnswerUnit>> = {
  texts: (nth) => choice(0, { content: `word ${nth} ` }),
  'texts of all choices': (nth) => choice(nth % CHOICES, { content: 'x' }),
  'texts and reasoning in turns': (nth) => choice(nth % 7, nth % 2 ? { content: 'x' } : { reasoning: 'y' }),
  'finish reasons everywhere': (nth) =>
    sse(plainChunk({ index: nth % CHOICES, delta: { content: 'x' }, finish_reason: 'stop' })),
  'new tool calls': (nth) =>
    choice(nth % CHOICES, calls({ index: nth, id: `c${nth}`, function: { name: 'f' } })),
  'fragments of many calls': (nth) =>
    choice(
      nth % CHOICES,
      calls({
        index: Math.floor(nth / CHOICES) % 7,
        ...(nth < CHOICES * 7 && { id: `c${nth}` }),
        function: { ...(nth < CHOICES * 7 && { name: 'f' }), arguments: 'x' },
      }),
    ),
  'fragments with ids alone': (nth) => choice(0, calls({ id: `c${nth}`, function: { arguments: 'x' } })),
  'fragments without a name': (nth) =>
    choice(0, calls({ index: nth, id: `c${nth}`, function: { arguments: '' } })),
  'many fragments in a chunk': () =>
    choice(
      0,
      calls(...Array.from({ length: 500 }, () => ({ index: 0, function: { name: 'f', arguments: 'x' } }))),
    ),
  'many choices in a chunk': () =>
    sse({
      choices: Array.from({ length: CHOICES }, (_value, index) => ({ index, delta: { content: 'x' } })),
    }),
  'unknown members': (nth) =>
    sse({ ...openAiChunk({ content: 'x', [`m${nth}`]: [{}, [], 1e9] }), [`n${nth}`]: 1 }),
  'usage everywhere': (nth) => sse(openAiChunk({ content: 'x' }, { usage: { prompt_tokens: nth } })),
  'parts of content': () =>
    choice(0, { content: Array.from({ length: 20 }, () => ({ type: 'text', text: 'x' })) }),
  escapes: () => choice(0, { content: '\\"\u0001\n'.repeat(50) }),
  'events of one byte': () => 'data: x\n',
  'events without data': () => 'data:\n\n',
  'comments and names': () => ': x\nevent: y\n\n',
  'lines without an end': () => 'x'.repeat(1_000),
  'several documents in an event': (nth) => `data: {"a":${nth}}\n${nth % 900 === 899 ? '\n' : ''}`,
};

export interface AnswerTimes {
  readonly millisecondsPerKilobyte: number;
  /** Milliseconds of the longest piece of work that nothing interrupts. */
  readonly longest: number;
  /** Milliseconds of all. */
  readonly total: number;
}

const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length));
const listed = (unit: string, bytes: number): string => filled(`${unit},`, bytes).slice(0, -1);
const chunk = (delta: string, more = ''): string =>
  `data: {"choices":[{"index":0,"delta":${delta}${more}}]}\n\n`;
const argumentsOf = (text: string): string =>
  `{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":${text}}}]}`;

/** One event of about so many bytes. */
export const LONG_EVENTS: Readonly<Record<string, (bytes: number) => string>> = {
  'a text': (bytes) => chunk(`{"content":"${filled('word ', bytes)}"}`),
  'an escaped text': (bytes) => chunk(`{"content":"${filled('\\u00e9\\n', bytes)}"}`),
  'a text of another script': (bytes) => chunk(`{"content":"${filled('漢', bytes / 3)}"}`),
  'a text with ends of two bytes': (bytes) =>
    chunk(`{"content":"${filled('word ', bytes)}"}`).replaceAll('\n', '\r\n'),
  'parts of content': (bytes) => chunk(`{"content":[{"type":"text","text":"${filled('word ', bytes)}"}]}`),
  'reasoning under another name': (bytes) => chunk(`{"reasoning_content":"${filled('word ', bytes)}"}`),
  'an image': (bytes) =>
    chunk(`{"images":[{"image_url":{"url":"data:image/png;base64,${filled('QUJD', bytes)}"}}]}`),
  'log probabilities': (bytes) =>
    chunk(
      '{"content":"x"}',
      `,"logprobs":{"content":[${listed('{"token":"a","logprob":-0.5,"top_logprobs":[{"token":"b"}]}', bytes)}]}`,
    ),
  'nested lists': (bytes) => chunk(`{"content":"x","y":[${listed('[[[[]]]]', bytes)}]}`),
  'arguments as text': (bytes) => chunk(argumentsOf(`"${filled('word ', bytes)}"`)),
  'arguments as an object': (bytes) => chunk(argumentsOf(`{"a":[${listed('1', bytes)}]}`)),
  'a name of a function': (bytes) =>
    chunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"${filled('f', bytes)}"}}]}`),
  'spaces between members': (bytes) => chunk(`{"content":${filled(' ', bytes)}"x"}`),
  'a name of a member': (bytes) => chunk(`{"${filled('m', bytes)}":1}`),
  'an error': (bytes) => `event: error\ndata: {"error":{"message":"${filled('word ', bytes)}"}}\n\n`,
  'lines of a document': (bytes) => `data: [\n${filled('data: 1,\n', bytes)}data: 1]\n\n`,
  'nothing but spaces': (bytes) => `data: ${filled(' ', bytes)}\n\n`,
};

/** Bytes that are no UTF-8. */
export const invalidEvent = (bytes: number): Buffer => {
  const event = Buffer.from(chunk(`{"content":"${filled('x', bytes)}"}`));
  return event.fill(0xe9, event.indexOf('xx'), event.lastIndexOf('xx'));
};

/** The same units as a stream of about `bytes`. */
export function timeStream(units: readonly AnswerUnit[], bytes: number): AnswerTimes {
  return timeReads(Buffer.from(repeated(units, bytes)));
}

/** A stream that is read as a socket gives it. */
export function timeReads(body: Buffer): AnswerTimes {
  const relay = createRelay({ choiceCount: CHOICES });
  let longest = 0;
  const from = process.cpuUsage();
  for (let at = 0; at < body.length && !relay.isFinished; at += READ_BYTES) {
    const startedAt = process.cpuUsage();
    relay.push(body.subarray(at, at + READ_BYTES));
    relay.take();
    longest = Math.max(longest, millisecondsSince(startedAt));
    if (relay.heldBytes < 0) throw new Error('a relay holds less than nothing');
  }
  relay.end();
  relay.choices();
  relay.outputCount();
  return timesOf(millisecondsSince(from), body, longest);
}

function timesOf(total: number, { length }: Buffer, longest: number): AnswerTimes {
  return { millisecondsPerKilobyte: (total * 1_024) / length, longest, total };
}

/** A whole answer of about `bytes`, whose choices consist of the members that `unit` makes. */
export async function timeWhole(unit: AnswerUnit, bytes: number): Promise<AnswerTimes> {
  const choices = `{"choices":[${repeated([unit], bytes).slice(0, -1)}]}`;
  const body = Buffer.from(choices);
  const pace = new MeasuredPace();
  const from = process.cpuUsage();
  await readChatAnswer(body, { ...ANSWER_OPTIONS, choiceCount: CHOICES }, pace);
  return timesOf(millisecondsSince(from), body, pace.end());
}

const message = (index: number, members: object): string =>
  `${JSON.stringify({ index, message: { content: 'x', ...members }, finish_reason: 'stop' })},`;

export const WHOLE_UNITS: Readonly<Record<string, AnswerUnit>> = {
  'long texts': (nth) => message(nth, { content: 'word '.repeat(200_000) }),
  'log probabilities': (nth) =>
    message(nth, {
      logprobs: Array.from({ length: 5_000 }, () => ({
        token: 'a',
        logprob: -0.5,
        top_logprobs: [{ token: 'b' }],
      })),
    }),
  'tool calls': (nth) =>
    message(nth, {
      tool_calls: Array.from({ length: 100 }, () => ({ function: { name: 'f', arguments: {} } })),
    }),
  'unknown members': (nth) =>
    message(
      nth,
      Object.fromEntries(Array.from({ length: 2_000 }, (_value, at) => [`m${at}`, 'x'.repeat(90)])),
    ),
  'nested lists': (nth) => message(nth, { x: JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as unknown }),
  'empty choices': () => '{},',
};

function repeated(units: readonly AnswerUnit[], bytes: number): string {
  const parts: string[] = [];
  let length = 0;
  for (let nth = 0; length < bytes; nth++) {
    const part = units[nth % units.length]?.(Math.floor(nth / units.length)) ?? '';
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}

/** Processor time: other programs of the machine do not count. */
function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user } = process.cpuUsage(before);
  return user / 1_000;
}

/** Yields at once, and measures what came between two looks at the clock. */
class MeasuredPace implements Pace {
  private longest = 0;
  private last = process.cpuUsage();

  get isDue(): boolean {
    return true;
  }

  yieldNow(): Promise<void> {
    this.note();
    return Promise.resolve();
  }

  end(): number {
    this.note();
    return this.longest;
  }

  private note(): void {
    this.longest = Math.max(this.longest, millisecondsSince(this.last));
    this.last = process.cpuUsage();
  }
}
