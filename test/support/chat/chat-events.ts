// Events of a provider's stream, and the way to send them.
import type { ServerResponse } from 'node:http';

export const usage = (prompt: number, completion: number): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

/** One chunk of a stream with a delta of its first choice. */
export const delta = (members: object, finish: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'gpt-4.1-mini-2025-04-14',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});
export const text = (content: string): object => delta({ content });
export const usageOnly = (prompt: number, completion: number): object => ({
  ...delta({}),
  choices: [],
  usage: usage(prompt, completion),
});

export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

export function sendEvent(response: ServerResponse, event: object | string): void {
  response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}
