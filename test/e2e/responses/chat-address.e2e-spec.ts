// Bodies of the Responses wire at the address of Chat, and the waits of a stream (docs/contract.md#responses).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { beginStream, delta, sendEvent, usageOnly } from '../../support/chat/chat-events.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { postResponses } from '../../support/responses/responses-client.js';
import { chatOf, streamOf } from '../../support/upstreams/chat-upstream.js';
import type { StreamedChunk } from '../../support/upstreams/chat-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp({ CHAT_KEEPALIVE_MS: '50', CHAT_KEEPALIVE_EVENTS: '1' });
});
afterEach(() => setup.chat.answerWith(null));
afterAll(() => setup.close());

const PATH = '/api/v1/chat/completions';
const post = (body: object, options = {}) =>
  postResponses(setup.app, { model: OPEN_MODEL, ...body }, { path: PATH, ...options });
const sent = () => setup.chat.requests.at(-1)!.body;
const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
const called = (id: string, name: string, text: string): object => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: text } }],
});

describe('a body with input at /chat/completions', () => {
  it('is read as Responses and answered as Chat, with tool calls there and back', async () => {
    setup.chat.answerWith(
      streamOf(delta(called('call_1', 'look', '{}')), delta({}, 'tool_calls'), usageOnly(10, 2), '[DONE]'),
    );
    const { secret, record } = await setup.app.createKey();
    const response = await post(
      { input: 'Look.', instructions: 'Be brief.', tools: [LOOK], stream: true },
      { key: secret },
    );
    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: {'));
    const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as StreamedChunk);
    expect(
      chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? [])),
    ).toEqual(['tool_calls']);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject(called('call_1', 'look', '{}'));
    expect(sent()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.' },
    ]);
    expect(sent()['tools']).toMatchObject([{ type: 'function', function: { name: 'look' } }]);
    expect((await chatOf(setup.app, record.id)).chat?.wire).toBe('chat');
    setup.chat.answerWith(null);
    const next = await post({
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
      ],
      tools: [LOOK],
    });
    expect(next.status).toBe(200);
    expect(sent()['messages']).toMatchObject([{}, { role: 'assistant' }, { role: 'tool', content: 'seen' }]);
  });

  it('is answered as Chat by Anthropic too', async () => {
    const response = await post({ model: CLAUDE, input: 'hi' });
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hello' } }],
    });
  });

  it('is refused beside messages', async () => {
    const response = await post({ input: 'hi', messages: [{ role: 'user', content: 'hi' }] });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('input and messages'),
    ]);
  });

  it('may have its flat tools beside messages', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    const response = await post({ messages, tools: [LOOK], tool_choice: { type: 'function', name: 'look' } });
    expect(response.status).toBe(200);
    expect(sent()).toMatchObject({
      messages,
      tools: [{ type: 'function', function: { name: 'look', parameters: LOOK.parameters } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
  });
});

describe('a silent provider', () => {
  it('is covered by comments, then by events, until the answer is complete', async () => {
    const pieces = [
      [delta({ content: 'Hel' })],
      [delta({ content: 'lo' }), delta({}, 'stop'), usageOnly(10, 2), '[DONE]'],
    ];
    let proceed = (): void => undefined;
    setup.chat.answerWith((_request, response) => {
      beginStream(response);
      proceed = () => {
        for (const event of pieces.shift() ?? []) sendEvent(response, event);
        if (pieces.length === 0) response.end();
      };
    });
    const response = await postResponses(setup.app, { model: OPEN_MODEL, input: 'hi', stream: true });
    const signals = [': OPENROUTER PROCESSING\n\n', '"type":"keepalive"'];
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (signals[0] === undefined || text.split(signals[0]).length < 4) continue;
      signals.shift();
      proceed();
    }
    const events = text.split('\n\n').filter((block) => block.startsWith('event: '));
    expect(events.at(-1)).toMatch(/^event: response\.completed\n/);
    expect(
      events.map(
        (event) =>
          (JSON.parse(event.split('\ndata: ')[1] ?? '') as { sequence_number: number }).sequence_number,
      ),
    ).toEqual(events.map((_event, index) => index));
  });
});
