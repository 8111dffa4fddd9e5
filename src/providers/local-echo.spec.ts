// local/echo: what it answers, in the form of an upstream.
import { describe, expect, it } from '@jest/globals';
import type { ChatEndpoint } from '../domain/chat/chat-model.js';
import { chatMessage, chatRequest } from '../../test/support/requests/chat-request.js';
import { local } from './local.js';

const ENDPOINT: ChatEndpoint = {
  provider: 'local',
  upstreamModel: 'echo',
  contextLength: 1_000_000,
  maxOutputTokens: 32_768,
  supportedParameters: ['max_tokens'],
  inputModalities: ['text'],
  reasoningEfforts: [],
  isReasoning: false,
  hidesReasoning: false,
  prices: [],
  quantization: null,
  dataPolicy: { retainsPrompts: false, trains: false },
};
const PACE = { isDue: false, yieldNow: () => Promise.resolve() };

async function respond(
  messages: Parameters<typeof chatRequest>[0],
  { isStreamed = true, limit = null }: { isStreamed?: boolean; limit?: number | null } = {},
): Promise<string> {
  const request = chatRequest(messages, { isStreamed });
  let text = '';
  for await (const piece of local.chat.respond({ request, endpoint: ENDPOINT, maxOutputTokens: limit }, PACE))
    text += piece.toString();
  return text;
}
type Event = { choices: { delta: { content?: string }; finish_reason: string | null }[]; usage?: object };
const eventsOf = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Event);
const contentOf = (text: string): string =>
  eventsOf(text)
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');

describe('local/echo', () => {
  it('repeats the last message of the user in several chunks, with usage at the end', async () => {
    const text = await respond([
      chatMessage('user', 'first'),
      chatMessage('assistant', 'answer'),
      chatMessage('user', 'one two  three 🙂'),
    ]);
    const events = eventsOf(text);
    expect(contentOf(text)).toBe('one two  three 🙂');
    expect(events.filter(({ choices }) => choices[0]?.delta.content !== undefined)).toHaveLength(4);
    expect(events.at(-1)?.usage).toEqual({ prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('ends with length at the output limit', async () => {
    const text = await respond([chatMessage('user', 'one two three')], { limit: 2 });
    expect(contentOf(text)).toBe('one two');
    expect(eventsOf(text).at(-2)?.choices[0]?.finish_reason).toBe('length');
  });

  it('answers without a stream', async () => {
    const body = JSON.parse(await respond([chatMessage('user', 'a b')], { isStreamed: false })) as object;
    expect(body).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'a b' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 2 },
    });
  });

  it('says that there was nothing to repeat', async () => {
    expect(contentOf(await respond([chatMessage('system', 'x')]))).toContain('found none');
  });

  it('cuts long words into chunks of bounded length without splitting a character', async () => {
    const word = '🙂'.repeat(500);
    const text = await respond([chatMessage('user', word)]);
    expect(contentOf(text)).toBe(word);
    expect(eventsOf(text).length).toBeGreaterThan(7);
  });
});
