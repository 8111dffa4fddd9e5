// POST /chat/completions before Anthropic (docs/contract.md#messages-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BUDGET_CLAUDE, CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import {
  blockDelta,
  blockStart,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  streamMessages,
  textBlock,
} from '../../support/messages/messages-stub.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';
import { chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.anthropic.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.anthropic.requests.at(-1)!;
const post = (body: object, options = {}) => postChat(setup.app, { model: CLAUDE, ...body }, options);
const stream = (body: object = {}) => streamChat(setup.app, { model: CLAUDE, ...body });
const USER = { role: 'user', content: 'hi' };
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const called = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
const thought = (index: number, text: string, signature: string) => ({
  type: 'reasoning.text',
  format: 'anthropic-claude-v1',
  index,
  text,
  signature,
});

describe('a request', () => {
  it('becomes system blocks and turns, results first, each thought with its own signature', async () => {
    const response = await post({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I do.',
          reasoning_details: [thought(0, 'One.', 'sig-1'), thought(1, 'Two.', 'sig-2')],
          tool_calls: [called('call_1', 'one', '{"n":12345678901234567890}'), called('call_2', 'two', '')],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'fine' },
        { role: 'tool', tool_call_id: 'call_2', content: 'also' },
        { role: 'user', content: 'Go on.' },
      ],
      tools: [tool('one'), tool('two')],
      stop: 'END',
    });
    expect(response.status).toBe(200);
    expect(sent()).toMatchObject({
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      body: {
        model: 'claude-stub',
        max_tokens: 32_000,
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'One.', signature: 'sig-1' },
              { type: 'thinking', thinking: 'Two.', signature: 'sig-2' },
              { type: 'text', text: 'I do.' },
              { type: 'tool_use', id: 'call_1', name: 'one' },
              { type: 'tool_use', id: 'call_2', name: 'two', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_1' },
              { type: 'tool_result', tool_use_id: 'call_2' },
              { type: 'text', text: 'Go on.' },
            ],
          },
        ],
        tools: [{ name: 'one', input_schema: { type: 'object' } }, { name: 'two' }],
        stop_sequences: ['END'],
      },
    });
    expect(sent().text).toContain('"input":{"n":12345678901234567890}');
  });

  it('drops thoughts of other producers, and sends no signature that Anthropic did not make', async () => {
    const key = await setup.app.createKey();
    const details = [
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', id: 'call_1', data: 'abc', index: 0 },
      { type: 'reasoning.text', text: 'unsigned', index: 1 },
    ];
    const messages = [USER, { role: 'assistant', content: 'ok', reasoning_details: details }, USER];
    expect((await post({ messages }, { key: key.secret })).status).toBe(200);
    expect(sent().text).not.toMatch(/abc|unsigned|signature/);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['messages.reasoning_details']);
  });

  it.each([
    [
      CLAUDE,
      { reasoning: { effort: 'high' } },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ],
    [CLAUDE, { reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }],
    [
      BUDGET_CLAUDE,
      { reasoning: { max_tokens: 2_048 }, max_tokens: 4_000 },
      { thinking: { type: 'enabled', budget_tokens: 2_048 } },
    ],
    [
      BUDGET_CLAUDE,
      { reasoning: { effort: 'medium' }, max_tokens: 4_000 },
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    ],
  ])('to %s with %j sends %j', async (model, members, expected) => {
    expect((await post({ model, ...members })).status).toBe(200);
    expect(sent().body).toMatchObject(expected);
  });

  it('without a setting of reasoning leaves thinking to the model', async () => {
    await post({});
    expect(sent().body).not.toHaveProperty('thinking');
  });

  it('drops the temperature where the model thinks, and keeps it elsewhere', async () => {
    await post({ temperature: 0.2, reasoning: { effort: 'low' } });
    expect(sent().body).not.toHaveProperty('temperature');
    await post({ temperature: 0.2 });
    expect(sent().body['temperature']).toBe(0.2);
  });

  it.each([
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'one' } },
      { type: 'tool', name: 'one' },
    ],
  ])('with tool_choice %j asks for %j', async (choice, expected) => {
    await post({ tools: [tool('one')], tool_choice: choice });
    expect(sent().body['tool_choice']).toEqual(expected);
  });

  it('is refused by name where it forces a tool while the model thinks', async () => {
    const response = await post({
      tools: [tool('one')],
      tool_choice: 'required',
      reasoning: { effort: 'low' },
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('tool_choice')]);
  });

  it('goes to the next model where it forces a tool while the first one thinks', async () => {
    const before = setup.anthropic.requests.length;
    const response = await post({
      models: [CLAUDE, OPEN_MODEL],
      tools: [tool('one')],
      tool_choice: 'required',
      reasoning: { effort: 'low' },
    });
    expect(await response.json()).toMatchObject({ model: OPEN_MODEL });
    expect(setup.anthropic.requests.length).toBe(before);
    expect(setup.chat.requests.at(-1)?.body).toMatchObject({ tool_choice: 'required' });
  });

  it('keeps four marks of the cache, and records those that it drops', async () => {
    const key = await setup.app.createKey();
    const marked = Array.from({ length: 6 }, (_, at) => ({
      type: 'text',
      text: `part ${at}`,
      cache_control: { type: 'ephemeral' },
    }));
    await post({ messages: [{ role: 'user', content: marked }] }, { key: key.secret });
    const [{ content }] = sent().body['messages'] as [{ content: { cache_control?: object }[] }];
    expect(content.map((block) => block.cache_control !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toContain('cache_control');
  });

  it('asks for JSON by its schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    await post({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } });
    expect(sent().body['output_config']).toEqual({ format: { type: 'json_schema', schema } });
  });

  it('with arguments that are no object is refused by name', async () => {
    const messages = [
      USER,
      { role: 'assistant', content: null, tool_calls: [called('c', 'one', '[1]')] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ];
    const response = await post({ messages, tools: [tool('one')] });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('messages[1].tool_calls[0].function.arguments'),
    ]);
  });
});

describe('a stream', () => {
  it('has reasoning with its signature, text and fragments of calls', async () => {
    const { events, text } = await stream({ messages: [{ role: 'user', content: 'x'.repeat(88_000) }] });
    const deltas = events.flatMap((event) =>
      event === '[DONE]' ? [] : event.choices.map((choice) => choice.delta),
    ) as Record<string, unknown>[];
    expect(text).toBe('Hello');
    expect(deltas.flatMap(({ reasoning }) => (reasoning ?? []) as string[]).join('')).toBe('Let me see.');
    const details = deltas.flatMap((delta) => (delta['reasoning_details'] ?? []) as Record<string, string>[]);
    expect(details.flatMap(({ signature }) => signature ?? [])).toEqual(['sig-of-the-thought']);
    const calls = deltas.flatMap(
      (delta) => (delta['tool_calls'] ?? []) as { function: { arguments: string } }[],
    );
    expect(calls[0]).toMatchObject({ index: 0, id: 'toolu_01', function: { name: 'look_up' } });
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"id": 12345678901234567890}');
    const last = events.findLast((event) => event !== '[DONE]');
    expect(last?.usage).toMatchObject({
      prompt_tokens: 87_000,
      completion_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 80_000, cache_write_tokens: 5_000 },
      cost: 0.0345,
    });
    expect(events.at(-1)).toBe('[DONE]');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
  ])('reads the stop reason %s as %s', async (reason, finish) => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        ...textBlock(0, 'ok'),
        messageDelta(reason, { output_tokens: 1 }),
        MESSAGE_STOP,
      ]),
    );
    const { events } = await stream();
    const finishes = events.flatMap((event) =>
      event === '[DONE]' ? [] : event.choices.flatMap((choice) => choice.finish_reason ?? []),
    );
    expect(finishes).toEqual([finish]);
  });

  it('has the words of a refusal, and is charged', async () => {
    const explanation = 'That is about a pathogen.';
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({ input_tokens: 10, output_tokens: 1 }),
        ...textBlock(0, 'I'),
        messageDelta(
          'refusal',
          { output_tokens: 5 },
          { stop_details: { type: 'refusal', category: 'bio', explanation } },
        ),
        MESSAGE_STOP,
      ]),
    );
    const { events } = await stream({
      messages: [{ role: 'user', content: 'one two three four five six seven' }],
    });
    const chunks = events.filter((event) => event !== '[DONE]');
    const deltas = chunks.flatMap(({ choices }) =>
      choices.map(({ delta }) => (delta as { refusal?: string }).refusal ?? ''),
    );
    expect(deltas.join('')).toBe(explanation);
    // 10 at 2 and 5 at 10 USD a million.
    expect(chunks.at(-1)).toMatchObject({ usage: { cost: 0.00007 } });
  });

  it('fails without its last event', async () => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        blockStart(0, { type: 'text', text: '' }),
        blockDelta(0, { type: 'text_delta', text: 'Hel' }),
      ]),
    );
    const { events } = await stream();
    expect(events.at(-2)).toMatchObject({ error: { code: 502 } });
  });
});

describe('a whole answer', () => {
  it('has the members of Chat, and reads redacted thoughts as data', async () => {
    setup.anthropic.answerWith((_request, response) =>
      sendJson(response, 200, {
        id: 'msg_2',
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'opaque' },
          { type: 'text', text: 'ok' },
          { type: 'tool_use', id: 'toolu_9', name: 'one', input: { n: 1 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 3, cache_creation_input_tokens: 12_304, output_tokens: 550 },
      }),
    );
    const response = await post({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'x'.repeat(13_000), cache_control: { type: 'ephemeral' } }],
        },
      ],
    });
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: CLAUDE,
      choices: [
        {
          message: {
            role: 'assistant',
            content: 'ok',
            reasoning_details: [
              { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'opaque' },
            ],
            tool_calls: [{ id: 'toolu_9', function: { name: 'one', arguments: '{"n":1}' } }],
          },
          finish_reason: 'tool_calls',
          native_finish_reason: 'tool_use',
        },
      ],
      usage: {
        prompt_tokens: 12_307,
        prompt_tokens_details: { cache_write_tokens: 12_304 },
        // 3 at 2, 12,304 at 2.5 and 550 at 10 USD a million.
        cost: 0.036266,
      },
    });
  });
});
