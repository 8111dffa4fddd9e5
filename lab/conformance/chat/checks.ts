// The columns of the chat table: good answers, and the bad streams of public reports.
import { setTimeout as pause } from 'node:timers/promises';
import { INTERLEAVED_CALLS, INTERLEAVED_FUNCTIONS } from '../../../test/support/chat-providers/chat-stub.js';
import type { ChatWireName } from '../../../test/support/chat-providers/every-chat-provider.js';
import {
  after,
  COMPLETE,
  errorEvent,
  inPieces,
  REPEATED_USAGE,
  WITHOUT_USAGE,
} from '../../../test/support/chat-providers/stream-script.js';
import type { StreamScript } from '../../../test/support/chat-providers/stream-script.js';
import { asObject, assertError, describeAnswer } from '../assert-answer.js';
import type { Problem } from '../assert-answer.js';
import { firstWrong } from '../check.js';
import type { Answer } from '../gateway.js';
import { assertCalls, assertFailedStream, assertOneUsage, assertStream } from './assert-stream.js';
import type { ChatCheck, ChatTrial } from './check.js';

/** Wires whose provider stops working, and billing, with its connection; the others are read to their end. */
const STOPPING_WIRES: ReadonlySet<ChatWireName> = new Set([
  'openai',
  'azure',
  'together',
  'deepinfra',
  'ollama',
  'vllm',
  'cohere',
]);
/** Wires that give several choices. */
const CHOICE_WIRES: ReadonlySet<ChatWireName> = new Set([
  'openai',
  'azure',
  'mistral',
  'together',
  'deepinfra',
  'vllm',
  'openai-compatible',
]);

const TEXT = 'Hello there';
const GOOD = { texts: [TEXT], finish: 'stop' };
const PROMPT_TOKENS = 9;
const COMPLETION_TOKENS = 2;
/** The first word has come by then, at every wire. */
const MIDDLE = 3;
// Milliseconds. A gateway that notices its client's end does so at once.
const LEAVING_TIMEOUT = 2_000;

const STREAM = { messages: [{ role: 'user', content: 'hi' }], stream: true };
const ASKING = { ...STREAM, stream_options: { include_usage: true } };
const TOOLS = INTERLEAVED_FUNCTIONS.map(({ name }) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
}));

const scripted =
  (script: StreamScript, assertAnswer: (answer: Answer) => Problem, body: object = STREAM) =>
  async ({ stub, ask }: ChatTrial): Promise<Problem> => {
    stub.streamWith(script);
    return assertAnswer(await ask({ ...body }));
  };
const withOneUsage = (answer: Answer): Problem =>
  assertStream(answer, GOOD) ?? assertOneUsage(answer, PROMPT_TOKENS, COMPLETION_TOKENS);

export const CHAT_CHECKS: readonly ChatCheck[] = [
  {
    head: 'json',
    promise: 'an answer without a stream has its text, its finish reason and its usage',
    run: async ({ ask }) => assertWhole(await ask({ messages: STREAM.messages })),
  },
  {
    head: 'stream',
    promise: 'a stream has its text, one finish reason and [DONE]',
    run: scripted(COMPLETE, (answer) => assertStream(answer, GOOD)),
  },
  {
    head: 'usage',
    promise:
      'stream_options.include_usage gives one chunk with usage, at providers too that refuse the member',
    run: scripted(COMPLETE, withOneUsage, ASKING),
  },
  {
    head: 'bytes',
    promise: 'a text of several bytes a character arrives whole when the stream is cut at every byte',
    run: async ({ stub, ask }) => {
      const content = 'né 🙂 ✓';
      const usage = { prompt_tokens: 9, completion_tokens: 6 };
      stub.answerWith({ deltas: [{ role: 'assistant', content }], finishReason: 'stop', usage });
      stub.streamWith(inPieces(1));
      return assertStream(await ask(STREAM), { texts: [content], finish: 'stop' });
    },
  },
  {
    head: 'unmetered',
    promise: 'the usage of a stream that reports none is counted',
    run: scripted(
      WITHOUT_USAGE,
      (answer) =>
        assertStream(answer, GOOD) ??
        (answer.text.includes(`"completion_tokens":${COMPLETION_TOKENS}`) ? null : 'no counted usage'),
    ),
  },
  {
    head: 'repeated',
    promise: 'usage that is repeated in every chunk is reported once, as the last one had it',
    run: scripted(REPEATED_USAGE, withOneUsage, ASKING),
  },
  {
    head: 'error 1st',
    promise: 'an error inside a stream before its content is an error status',
    run: scripted(after(1, errorEvent(503), 'end'), (answer) =>
      assertError(answer, (status) => status >= 500),
    ),
  },
  {
    head: 'error mid',
    promise: 'an error inside a stream after its content is one chunk with an error, and then [DONE]',
    run: scripted(after(MIDDLE, errorEvent(503), 'end'), (answer) => assertFailedStream(answer, 'Hello')),
  },
  {
    head: 'cut',
    promise:
      'a stream that ends or is lost in the middle is no success: an error, or a connection that is lost',
    run: (trial) =>
      firstWrong(
        () => assertBroken(trial, after(MIDDLE, 'end')),
        () => assertBroken(trial, after(MIDDLE, 'cut')),
      ),
  },
  {
    head: 'tools',
    promise:
      'two tool calls that come in alternating fragments, or without index and id, are assembled by clients',
    run: async ({ stub, ask }) => {
      stub.answerWith(INTERLEAVED_CALLS);
      return assertCalls(await ask({ ...STREAM, tools: TOOLS }), INTERLEAVED_FUNCTIONS);
    },
  },
  {
    head: 'gone',
    promise: 'the connection of a provider that bills until it is closed is closed within 2 s of its client',
    applies: (wire) => STOPPING_WIRES.has(wire),
    run: async ({ stub, leaveAfter }) => {
      const { cut } = stub;
      stub.streamWith(after(MIDDLE, 'stall'));
      await leaveAfter(STREAM, 'Hello');
      const deadline = performance.now() + LEAVING_TIMEOUT;
      while (stub.cut === cut && performance.now() < deadline) await pause(10);
      return stub.cut > cut ? null : 'the provider goes on';
    },
  },
  {
    head: 'choices',
    promise: 'two choices that alternate in a stream keep their texts and their finish reasons',
    applies: (wire) => CHOICE_WIRES.has(wire),
    run: scripted(COMPLETE, (answer) => assertStream(answer, { ...GOOD, texts: [TEXT, TEXT] }), {
      ...STREAM,
      n: 2,
    }),
  },
];

function assertWhole(answer: Answer): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { choices, usage } = asObject(answer.json);
  const { message, finish_reason: reason } = asObject(Array.isArray(choices) ? choices[0] : null);
  if (asObject(message)['content'] !== TEXT) return 'not the text';
  if (reason !== 'stop') return `finish reason ${String(reason)}`;
  const { prompt_tokens: prompt, completion_tokens: completion } = asObject(usage);
  return prompt === PROMPT_TOKENS && completion === COMPLETION_TOKENS ? null : 'not the usage';
}

async function assertBroken({ stub, ask }: ChatTrial, script: StreamScript): Promise<Problem> {
  stub.streamWith(script);
  const answer = await ask(STREAM).catch(() => null);
  return answer === null || answer.status >= 500 ? null : assertFailedStream(answer, 'Hello');
}
