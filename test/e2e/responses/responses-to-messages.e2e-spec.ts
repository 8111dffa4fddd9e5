// POST /responses before Anthropic (docs/contract.md#responses).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CLAUDE, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  streamMessages,
  textBlock,
} from '../../support/messages/messages-stub.js';
import {
  outlineOf,
  postResponses,
  responseEvents,
  responseOf,
} from '../../support/responses/responses-client.js';
import { chatOf } from '../../support/upstreams/chat-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.anthropic.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.anthropic.requests.at(-1)!.body;
const post = (body: object, options = {}) =>
  postResponses(setup.app, { model: CLAUDE, input: 'hi', ...body }, options);
const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
const ENCRYPTED = { include: ['reasoning.encrypted_content'] };

describe('a request', () => {
  it('becomes one turn of the assistant, and one of the user with both results first', async () => {
    const response = await post({
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I do.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"n":1}' },
        { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '' },
        { type: 'function_call_output', call_id: 'call_1', output: 'one' },
        { type: 'function_call_output', call_id: 'call_2', output: 'two' },
        { role: 'user', content: 'Go on.' },
      ],
      tools: [LOOK],
      instructions: 'Be brief.',
      max_output_tokens: 100,
    });
    expect(response.status).toBe(200);
    expect(sent()).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.' }],
      max_tokens: 100,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I do.' },
            { type: 'tool_use', id: 'call_1', name: 'look', input: { n: 1 } },
            { type: 'tool_use', id: 'call_2', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'one' }] },
            { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'two' }] },
            { type: 'text', text: 'Go on.' },
          ],
        },
      ],
    });
  });

  it('loses the reasoning of another producer, and the record says so', async () => {
    const { secret, record } = await setup.app.createKey();
    const input = [
      { role: 'user', content: 'hi' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'gAAAA',
      },
      { type: 'message', role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'So?' },
    ];
    expect((await post({ input }, { key: secret })).status).toBe(200);
    expect(JSON.stringify(sent())).not.toMatch(/gAAAA|Hm\./);
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts[0]?.droppedMembers).toContain('messages.reasoning_details');
  });
});

describe('a stream', () => {
  it('has summaries of thoughts as parts, with their signature where it is asked for', async () => {
    const events = await responseEvents(
      await post({ stream: true, reasoning: { effort: 'high', summary: 'auto' }, ...ENCRYPTED }),
    );
    expect(outlineOf(events).slice(0, 9)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
    ]);
    const [reasoning] = responseOf(events).output;
    expect(reasoning).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Let me see.' }],
      encrypted_content: expect.stringMatching(/^sbx1\.anthropic\.in-house-claude\.signature\./),
    });
    const without = responseOf(await responseEvents(await post({ stream: true })));
    expect(without.output[0]).not.toHaveProperty('encrypted_content');
  });

  it.each([
    [ENCRYPTED, ['reasoning', 'message']],
    [{}, ['message']],
  ])('has a redacted thought only where it can come back: %j', async (body, types) => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        blockStart(0, { type: 'redacted_thinking', data: 'opaque' }),
        blockStop(0),
        ...textBlock(1, 'ok'),
        messageDelta('end_turn', { output_tokens: 1 }),
        MESSAGE_STOP,
      ]),
    );
    const { output } = responseOf(await responseEvents(await post({ stream: true, ...body })));
    expect(output.map(({ type }) => type)).toEqual(types);
  });

  it('is incomplete with a refusal where the model refuses, and is charged', async () => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({ input_tokens: 10, output_tokens: 1 }),
        ...textBlock(0, 'I'),
        messageDelta(
          'refusal',
          { output_tokens: 5 },
          {
            stop_details: { type: 'refusal', category: 'bio', explanation: 'That is about a pathogen.' },
          },
        ),
        MESSAGE_STOP,
      ]),
    );
    const events = await responseEvents(
      await post({ stream: true, input: 'one two three four five six seven' }),
    );
    expect(events.at(-1)?.event).toBe('response.incomplete');
    expect(responseOf(events)).toMatchObject({
      incomplete_details: { reason: 'content_filter' },
      output: [
        { content: [{ type: 'output_text', text: 'I' }] },
        { status: 'incomplete', content: [{ type: 'refusal', refusal: 'That is about a pathogen.' }] },
      ],
      // 10 at 2 and 5 at 10 USD a million.
      usage: { cost: 0.00007 },
    });
  });

  it('keeps the limit of its last item, although Anthropic closes a block before it says why', async () => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        blockStart(0, { type: 'text', text: '' }),
        blockDelta(0, { type: 'text_delta', text: 'Hel' }),
        blockStop(0),
        messageDelta('max_tokens', { output_tokens: 1 }),
        MESSAGE_STOP,
      ]),
    );
    const events = await responseEvents(await post({ stream: true }));
    expect(events.at(-2)).toMatchObject({
      event: 'response.output_item.done',
      data: { item: { status: 'incomplete' } },
    });
  });

  it('fails with an event of the wire where Anthropic is overloaded in the middle', async () => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        blockStart(0, { type: 'text', text: '' }),
        blockDelta(0, { type: 'text_delta', text: 'Hel' }),
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]),
    );
    const events = await responseEvents(await post({ stream: true }));
    expect(responseOf(events)).toMatchObject({
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: expect.any(String) },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    });
  });
});
