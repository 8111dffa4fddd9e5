// The usual answer of a provider's chat API, and streams of given events.
import type { ServerResponse } from 'node:http';
import { beginStream, delta, sendEvent, text, usage, usageOnly } from '../chat/chat-events.js';
import { sendJson } from './stub-upstream.js';
import type { ReceivedRequest, StubHandler } from './stub-upstream.js';

/** Answers with these events, and ends the body. */
export const streamOf =
  (...events: readonly (object | string)[]): StubHandler =>
  (_request, response) => {
    beginStream(response);
    for (const event of events) sendEvent(response, event);
    response.end();
  };

export const HELLO = [
  delta({ role: 'assistant', content: '' }),
  text('Hel'),
  text('lo'),
  delta({}, 'stop'),
  usageOnly(10, 2),
  '[DONE]',
] as const;

/** "Hello", as a stream or not. */
export function answerChat(request: ReceivedRequest, response: ServerResponse): void {
  if (request.body['stream'] === true) {
    void streamOf(...HELLO)(request, response);
    return;
  }
  sendJson(response, 200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: usage(10, 2),
  });
}
