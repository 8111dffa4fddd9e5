// POST /messages before an endpoint with Chat's wire (docs/contract.md#model-wires).
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { delta, usageOnly } from '../../support/chat/chat-events.js';
import {
  eventsOf,
  OPEN_MODEL,
  SMALL_MODEL,
  postMessages,
  startMessagesApp,
} from '../../support/messages/messages-app.js';
import type { MessagesApp, ReadEvent } from '../../support/messages/messages-app.js';
import { chatOf, streamOf } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.chat.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.chat.requests.at(-1)!.body;
const post = (members: object, headers = {}) =>
  postMessages(setup.app, { model: OPEN_MODEL, ...members }, { headers });
const clientOf = (): Anthropic =>
  new Anthropic({ apiKey: setup.app.apiKey, baseURL: setup.app.origin, maxRetries: 0 });
const ask = { model: OPEN_MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] } as const;

/** The events of a stream whose upstream sends these deltas. */
async function streamed(...chunks: readonly object[]): Promise<ReadEvent[]> {
  setup.chat.answerWith(streamOf(...chunks, delta({}, 'stop'), usageOnly(10, 2), '[DONE]'));
  return eventsOf(await post({ stream: true }));
}

/** `[type of the block, its joined deltas]`, checked against the order of the wire. */
function blocksOf(events: readonly ReadEvent[]): [string, string][] {
  const blocks: [string, string][] = [];
  let isOpen = false;
  for (const { event, data } of events) {
    if (event === 'content_block_start') {
      expect([isOpen, data['index']]).toEqual([false, blocks.length]);
      isOpen = true;
      blocks.push([(data['content_block'] as { type: string }).type, '']);
    } else if (event === 'content_block_delta') {
      expect([isOpen, data['index']]).toEqual([true, blocks.length - 1]);
      const { text, thinking, partial_json: json } = data['delta'] as Record<string, string>;
      blocks.at(-1)![1] += text ?? thinking ?? json ?? '';
    } else if (event === 'content_block_stop') {
      expect([isOpen, data['index']]).toEqual([true, blocks.length - 1]);
      isOpen = false;
    }
  }
  expect(isOpen).toBe(false);
  return blocks;
}

const call = (index: number, id: string, name: string, text: string): object => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }],
});
const more = (index: number, text: string): object => ({
  tool_calls: [{ index, function: { arguments: text } }],
});

describe('a stream', () => {
  it('puts the text of a chunk before the calls of the same chunk', async () => {
    const events = await streamed(delta({ ...call(0, 'call_1', 'look_up', '{}'), content: 'I look.' }));
    expect(blocksOf(events)).toEqual([
      ['text', 'I look.'],
      ['tool_use', '{}'],
    ]);
  });

  it('closes a text before the call that comes with its first arguments', async () => {
    const events = await streamed(
      delta({ role: 'assistant', content: 'I look.' }),
      delta(call(0, 'call_1', 'look_up', '{"id": 12345678901234567890')),
      delta(more(0, '}')),
    );
    expect(blocksOf(events)).toEqual([
      ['text', 'I look.'],
      ['tool_use', '{"id": 12345678901234567890}'],
    ]);
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(events.at(-1)?.event).toBe('message_stop');
  });

  it('keeps the delta that changes the kind of a block', async () => {
    const events = await streamed(delta({ reasoning: 'Hm.' }), delta({ content: 'FINAL: ABC' }));
    expect(blocksOf(events)).toEqual([
      ['thinking', 'Hm.'],
      ['text', 'FINAL: ABC'],
    ]);
  });

  it('gives a late thought a block of its own, and one start to the message', async () => {
    const events = await streamed(
      delta({ reasoning_content: 'One.' }),
      delta({ content: 'Text.' }),
      delta({ reasoning_content: 'Two.' }),
    );
    expect(blocksOf(events)).toEqual([
      ['thinking', 'One.'],
      ['text', 'Text.'],
      ['thinking', 'Two.'],
    ]);
    expect(events.filter(({ event }) => event === 'message_start')).toHaveLength(1);
  });

  it('writes interleaved parallel calls one after the other', async () => {
    const events = await streamed(
      delta(call(0, 'call_1', 'one', '{"a"')),
      delta(call(1, 'call_2', 'two', '{"b"')),
      delta(more(0, ':1}')),
      delta(more(1, ':2}')),
    );
    expect(blocksOf(events)).toEqual([
      ['tool_use', '{"a":1}'],
      ['tool_use', '{"b":2}'],
    ]);
  });

  it('starts with every member of the usage and the counted prompt, and ends with the real numbers', async () => {
    const events = await streamed(delta({ content: 'ok' }));
    const start = events[0]!.data['message'] as { usage: Record<string, unknown> };
    expect(Object.keys(start.usage).toSorted()).toEqual([
      'cache_creation',
      'cache_creation_input_tokens',
      'cache_read_input_tokens',
      'inference_geo',
      'input_tokens',
      'output_tokens',
      'output_tokens_details',
      'server_tool_use',
      'service_tier',
    ]);
    expect(start.usage['input_tokens']).toBeGreaterThan(0);
    expect(events.at(-2)?.data).toMatchObject({
      usage: { input_tokens: 10, output_tokens: 2, cost: 0.00004 },
      delta: { stop_reason: 'end_turn' },
    });
  });

  it('never invents a signature: a thought without one is marked, and dropped when it comes back', async () => {
    const events = await streamed(delta({ reasoning: 'Hm.' }), delta({ content: 'ok' }));
    const signatures = events.flatMap(({ data }) => {
      const { type, signature } = (data['delta'] ?? {}) as Record<string, string>;
      return type === 'signature_delta' ? [signature] : [];
    });
    expect(signatures).toEqual(['sbx1.none']);
  });

  it('ends with an error of the wire where the provider breaks off', async () => {
    setup.chat.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(delta({ content: 'Hel' }))}\n\n`);
      response.end();
    });
    const events = await eventsOf(await post({ stream: true }));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { type: 'error' } });
    expect(events.some(({ event }) => event === 'message_stop')).toBe(false);
  });
});

describe('a request', () => {
  it('becomes messages of Chat in their order: results, an image with its call, then words', async () => {
    const image = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    await post({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a thought', signature: 'sbx1.none' },
            { type: 'text', text: 'I do.' },
            { type: 'tool_use', id: 'toolu_1', name: 'one', input: { n: 1 } },
            { type: 'tool_use', id: 'toolu_2', name: 'two', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'fine' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_2',
              is_error: true,
              content: [
                { type: 'text', text: 'no' },
                { type: 'image', source: image },
              ],
            },
            { type: 'text', text: 'Go on.' },
          ],
        },
      ],
      tools: ['one', 'two'].map((name) => ({ name, input_schema: { type: 'object', properties: {} } })),
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
    });
    const { messages, tools, stop } = sent();
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: 'I do.',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'one', arguments: expect.any(String) } },
          { id: 'toolu_2', type: 'function', function: { name: 'two', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'fine' },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: no' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringContaining('toolu_2') },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]);
    expect(tools).toMatchObject([
      { type: 'function', function: { name: 'one', parameters: { type: 'object' } } },
      { function: { name: 'two' } },
    ]);
    expect(stop).toEqual(['END']);
    // A thought that no vendor has signed belongs to a server of this kind.
    expect((messages as object[])[2]).toMatchObject({ reasoning_content: 'a thought' });
    expect(JSON.stringify(sent())).not.toMatch(/sbx1|signature/);
  });

  it('keeps an image among the system blocks', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    await post({ system: [{ type: 'image', source }] });
    expect((sent()['messages'] as object[])[0]).toEqual({
      role: 'system',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
    });
  });

  it.each([
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'one' },
      { type: 'function', function: { name: 'one' } },
    ],
  ])('with tool_choice %j asks for %j', async (choice, expected) => {
    const tools = [{ name: 'one', input_schema: { type: 'object' } }];
    await post({ tools, tool_choice: choice });
    expect(sent()['tool_choice']).toEqual(expected);
  });

  it('drops members that Chat does not have, and records them', async () => {
    const key = await setup.app.createKey();
    const members = { top_k: 5, context_management: { edits: [] }, thinking: { type: 'adaptive' } };
    const response = await post(members, { 'x-api-key': key.secret });
    expect(response.status).toBe(200);
    expect(Object.keys(sent())).not.toContain('context_management');
    const { attempts, chat } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(expect.arrayContaining(['context_management']));
    expect(chat?.wire).toBe('messages');
  });

  it('of no tokens is refused: it only warms the cache of an endpoint of the same wire', async () => {
    const response = await post({ max_tokens: 0 });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('max_tokens')]);
  });

  it.each([
    [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }, 'tool_use_id'],
    [{ role: 'user', content: [{ type: 'search_result', source: 'x' }] }, 'search_result'],
  ])('with %j is refused by name', async (message, name) => {
    const response = await post({ messages: [message] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(name);
  });
});

describe('a whole answer', () => {
  it('has thoughts, text and calls as blocks, and usage with its cost', async () => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 200, {
        id: 'chatcmpl-9',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'I look.',
              reasoning: 'Hm.',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"id":1}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: {
          prompt_tokens: 1_000,
          completion_tokens: 100,
          total_tokens: 1_100,
          prompt_tokens_details: { cached_tokens: 400 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      }),
    );
    const system = 'x'.repeat(1_000);
    const response = await post({ system });
    expect(await response.json()).toMatchObject({
      id: expect.stringMatching(/^msg_gen-/),
      type: 'message',
      role: 'assistant',
      model: OPEN_MODEL,
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sbx1.none' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'look_up', input: { id: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 600,
        cache_read_input_tokens: 400,
        output_tokens: 100,
        output_tokens_details: { thinking_tokens: 30 },
        cost: 0.00224,
      },
    });
  });

  it.each([
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['stop', 'end_turn'],
  ])('with the finish reason %s stops by %s', async (reason, stop) => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 200, {
        choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: reason }],
      }),
    );
    expect(await (await post({})).json()).toMatchObject({ stop_reason: stop });
  });
});

describe('the SDK', () => {
  it('builds a message of a call that comes first', async () => {
    setup.chat.answerWith(
      streamOf(
        delta(call(0, 'call_1', 'look_up', '{"id":1}')),
        delta({}, 'tool_calls'),
        usageOnly(10, 2),
        '[DONE]',
      ),
    );
    const message = await clientOf()
      .messages.stream({ ...ask, messages: [...ask.messages] })
      .finalMessage();
    expect(message.content).toMatchObject([{ type: 'tool_use', name: 'look_up', input: { id: 1 } }]);
    expect(message.stop_reason).toBe('tool_use');
  });

  it('reads a whole answer', async () => {
    const message = await clientOf().messages.create({ ...ask, messages: [...ask.messages] });
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello' }]);
  });

  it('counts tokens by the tokenizer of the model, without a call', async () => {
    const before = setup.chat.requests.length;
    const { data, response } = await clientOf()
      .messages.countTokens({ model: OPEN_MODEL, messages: [...ask.messages] })
      .withResponse();
    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-token-count')).toBe('estimated');
    expect(setup.chat.requests.length).toBe(before);
  });

  it('says a prompt that is longer than the context in the words by which agents shorten it', async () => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 400, {
        error: {
          message: "This model's maximum context length is 10 tokens.",
          code: 'context_length_exceeded',
        },
      }),
    );
    await expect(clientOf().messages.create({ ...ask, messages: [...ask.messages] })).rejects.toMatchObject({
      status: 400,
      error: {
        error: {
          type: 'invalid_request_error',
          error_type: 'context_length_exceeded',
          message: expect.stringMatching(/^prompt is too long: .*maximum context length/),
        },
      },
    });
  });

  it('says so before any call where the output limit does not fit behind the prompt at vLLM', async () => {
    const before = setup.chat.requests.length;
    const create = (words: number) =>
      clientOf().messages.create({
        model: SMALL_MODEL,
        max_tokens: 20_000,
        messages: [{ role: 'user', content: `a${' word'.repeat(words - 1)}` }],
      });
    await expect(create(12_769)).rejects.toMatchObject({
      status: 400,
      error: {
        error: {
          type: 'invalid_request_error',
          error_type: 'context_length_exceeded',
          message: expect.stringMatching(/^prompt is too long: .*12769 tokens.* 32768/),
        },
      },
    });
    expect(setup.chat.requests.length).toBe(before);
    await expect(create(12_768)).resolves.toMatchObject({ role: 'assistant' });
  });

  it("raises a provider's refusal in the form of the wire", async () => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 400, { error: { message: 'no such member', type: 'invalid_request_error' } }),
    );
    await expect(clientOf().messages.create({ ...ask, messages: [...ask.messages] })).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    });
  });
});
