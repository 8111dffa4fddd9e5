// The chat half of the lab's provider: each prompt is a script that says how its answer comes.
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { beginStream, delta, sendEvent, usage, usageOnly } from '../../../test/support/chat/chat-events.js';
import { sendJson } from '../../../test/support/upstreams/stub-upstream.js';
import type { ReceivedRequest } from '../../../test/support/upstreams/stub-upstream.js';

export interface ChatScript {
  /** One word each. */
  readonly chunks: number;
  /** Milliseconds before each of them. */
  readonly pause: number;
  /** The reported tokens of the prompt. Those of the answer are its chunks. */
  readonly promptTokens: number;
  /** After so many chunks nothing comes any more; null: the answer has an end. */
  readonly stallsAfter: number | null;
  /** A stream waits after its first chunk until release() of this name; null: it does not. */
  readonly waitsFor: string | null;
  /** The way in which the answer ends. */
  readonly ends: AnswerEnd;
}

export const ANSWER_ENDS = [
  'complete',
  'without usage',
  'error before content',
  'error after content',
  'error after the finish',
  'broken after content',
  'broken after the finish',
  'cut after content',
  'cut after the finish',
  'too much usage',
  'too many bytes',
  'too large an event',
  'too many choices',
  'too many tool calls',
] as const;
/** `complete`, or how the provider fails. */
export type AnswerEnd = (typeof ANSWER_ENDS)[number];

const PATH = /\/chat\/completions$/;

export const isChat = ({ path }: Pick<ReceivedRequest, 'path'>): boolean => PATH.test(path);

export function wordsOf({ chunks }: Pick<ChatScript, 'chunks'>): string {
  return Array.from({ length: chunks }, (_value, index) => `w${index} `).join('');
}

export class ChatProvider {
  /** Requests that were read in full. */
  asked = 0;
  /** Answers that have not ended. */
  open = 0;
  /** Answers whose caller closed the connection before their end. */
  cut = 0;
  private readonly waiting = new Map<string, (() => void)[]>();

  async answer(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    this.asked++;
    this.open++;
    response.once('close', () => {
      this.open--;
      if (!response.writableFinished) this.cut++;
    });
    const messages = request.body['messages'] as readonly { readonly content: string }[];
    const script = JSON.parse(messages[0]?.content ?? '') as ChatScript;
    if (request.body['stream'] === true) await this.stream(script, response);
    else await answerWhole(script, response);
  }

  /** Lets the waiting streams go on. */
  release(name: string): void {
    for (const resume of this.waiting.get(name) ?? []) resume();
    this.waiting.delete(name);
  }

  private until(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.set(name, [...(this.waiting.get(name) ?? []), resolve]);
    });
  }

  private async stream(script: ChatScript, response: ServerResponse): Promise<void> {
    const { chunks, stallsAfter, waitsFor, promptTokens, ends } = script;
    beginStream(response);
    response.flushHeaders();
    if (ends === 'error before content') {
      sendEvent(response, FAILURE);
      response.end();
      return;
    }
    for (let index = 0; index < chunks; index++) {
      if (index === stallsAfter) return;
      await pause(script.pause);
      if (response.destroyed) return;
      sendEvent(response, delta({ content: `w${index} ` }));
      if (index === 0 && waitsFor !== null) await this.until(waitsFor);
    }
    if (endsBeforeFinish(script, response)) return;
    sendEvent(response, delta({}, 'stop'));
    if (ends === 'error after the finish') sendEvent(response, FAILURE);
    if (ends === 'broken after the finish') sendEvent(response, BROKEN);
    if (ends === 'cut after the finish') {
      response.destroy();
      return;
    }
    if (ends !== 'without usage') sendEvent(response, usageOnly(promptTokens, reportedTokens(script)));
    sendEvent(response, '[DONE]');
    response.end();
  }
}

const FAILURE = { error: { code: 500, message: 'it broke' } };
const BROKEN = '{"choices":[{"index":';
const OVER_REPORTED = 1_000;
const LARGE_TEXT = 'x'.repeat(65_536);
const EVENT_BYTES = 4 * 1_048_576;

const reportedTokens = ({ chunks, ends }: Pick<ChatScript, 'chunks' | 'ends'>): number =>
  ends === 'too much usage' ? chunks * OVER_REPORTED : chunks;

const manyToolCalls = (): object[] =>
  Array.from({ length: 2_000 }, (_value, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }));

/** Whether the stream has ended without a finish reason. */
function endsBeforeFinish({ ends }: ChatScript, response: ServerResponse): boolean {
  switch (ends) {
    case 'error after content':
      sendEvent(response, FAILURE);
      break;
    case 'broken after content':
      sendEvent(response, BROKEN);
      break;
    case 'cut after content':
      response.destroy();
      return true;
    case 'too many bytes':
      // More than the service takes: it closes the connection.
      void flood(response);
      return true;
    case 'too large an event':
      sendEvent(response, delta({ content: 'x'.repeat(EVENT_BYTES) }));
      break;
    case 'too many choices':
      sendEvent(response, { ...delta({}), choices: [{ index: 1, delta: { content: 'other' } }] });
      break;
    case 'too many tool calls':
      sendEvent(response, delta({ tool_calls: manyToolCalls() }));
      break;
    default:
      return false;
  }
  response.end();
  return true;
}

async function flood(response: ServerResponse): Promise<void> {
  const event = `data: ${JSON.stringify(delta({ content: LARGE_TEXT }))}\n\n`;
  // The callback comes with an error when the connection is closed.
  while (!response.destroyed) await new Promise<void>((resolve) => response.write(event, () => resolve()));
}

async function answerWhole(script: ChatScript, response: ServerResponse): Promise<void> {
  const { chunks, promptTokens, stallsAfter, ends } = script;
  if (stallsAfter !== null) return;
  await pause(script.pause * chunks);
  if (ends === 'error before content') {
    sendJson(response, 200, FAILURE);
    return;
  }
  const content = ends === 'too many bytes' ? LARGE_TEXT.repeat(1_024) : wordsOf(script);
  const index = ends === 'too many choices' ? 1 : 0;
  const calls = ends === 'too many tool calls' ? { tool_calls: manyToolCalls() } : {};
  const answer = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [{ index, message: { role: 'assistant', content, ...calls }, finish_reason: 'stop' }],
    ...(ends === 'without usage' ? {} : { usage: usage(promptTokens, reportedTokens(script)) }),
  });
  if (ends.startsWith('cut')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.write(answer.slice(0, answer.length / 2), () => response.destroy());
  } else sendJson(response, 200, ends.startsWith('broken') ? answer.slice(0, -20) : answer);
}
