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
}

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
    const { chunks, stallsAfter, waitsFor, promptTokens } = script;
    beginStream(response);
    response.flushHeaders();
    for (let index = 0; index < chunks; index++) {
      if (index === stallsAfter) return;
      await pause(script.pause);
      if (response.destroyed) return;
      sendEvent(response, delta({ content: `w${index} ` }));
      if (index === 0 && waitsFor !== null) await this.until(waitsFor);
    }
    sendEvent(response, delta({}, 'stop'));
    sendEvent(response, usageOnly(promptTokens, chunks));
    sendEvent(response, '[DONE]');
    response.end();
  }
}

async function answerWhole(script: ChatScript, response: ServerResponse): Promise<void> {
  const { chunks, promptTokens, stallsAfter } = script;
  if (stallsAfter !== null) return;
  await pause(script.pause * chunks);
  sendJson(response, 200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [{ index: 0, message: { role: 'assistant', content: wordsOf(script) }, finish_reason: 'stop' }],
    usage: usage(promptTokens, chunks),
  });
}
