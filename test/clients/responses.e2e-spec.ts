// The Responses wire as the real clients speak it: OpenAI's SDK and the default models of the AI SDK (docs/contract.md#responses).
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import type { ResponseInput, Tool } from 'openai/resources/responses/responses';
import { delta, usage, usageOnly } from '../support/chat/chat-events.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../support/messages/messages-app.js';
import type { MessagesApp } from '../support/messages/messages-app.js';
import {
  countWithoutEnd,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  streamMessages,
  textBlock,
} from '../support/messages/messages-stub.js';
import { eventually } from '../support/eventually.js';
import { beginStream, chatOf, chatsOf, sendEvent, streamOf } from '../support/upstreams/chat-upstream.js';
import { sendJson } from '../support/upstreams/stub-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => {
  setup.chat.answerWith(null);
  setup.anthropic.answerWith(null);
});
afterAll(() => setup.close());

const clientOf = (apiKey = setup.app.apiKey): OpenAI =>
  new OpenAI({ apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });
const LOOK: Tool = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: { id: { type: 'number' } } },
  strict: false,
};
const PATCH: Tool = { type: 'custom', name: 'patch', description: 'Edits a file.' };
const called = (id: string, name: string, text: string): object => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: text } }],
});
const sent = () => setup.chat.requests.at(-1)!.body;

describe('the SDK of OpenAI', () => {
  it('reads a whole answer', async () => {
    const response = await clientOf().responses.create({ model: OPEN_MODEL, input: 'hi', store: false });
    expect([response.status, response.output_text, response.usage?.total_tokens]).toEqual([
      'completed',
      'Hello',
      12,
    ]);
  });

  it('calls a function and a custom tool in a stream, and sends their results back', async () => {
    const client = clientOf();
    setup.chat.answerWith(
      streamOf(
        delta({ reasoning_content: 'I need both.' }),
        delta(called('call_1', 'look', '{"id": 1234567890')),
        delta({ tool_calls: [{ index: 0, function: { arguments: '1234567890}' } }] }),
        delta({
          tool_calls: [
            {
              index: 1,
              id: 'call_2',
              type: 'function',
              function: { name: 'patch', arguments: '{"input":"a\\nb"}' },
            },
          ],
        }),
        delta({}, 'tool_calls'),
        usageOnly(1_234, 56),
        '[DONE]',
      ),
    );
    const input: ResponseInput = [{ role: 'user', content: 'Look.' }];
    const stream = client.responses.stream({ model: OPEN_MODEL, input, tools: [LOOK, PATCH], store: false });
    const deltas: string[] = [];
    stream.on('response.function_call_arguments.delta', (event) => deltas.push(event.delta));
    const first = await stream.finalResponse();
    expect(deltas.join('')).toBe('{"id": 12345678901234567890}');
    expect(first.output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'I need both.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"id": 12345678901234567890}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'a\nb' },
    ]);
    // 1,234 at 2 and 56 at 10 USD a million.
    expect(first.usage).toMatchObject({ input_tokens: 1_234, output_tokens: 56, cost: 0.003028 });
    setup.chat.answerWith(null);
    const second = await client.responses.create({
      model: OPEN_MODEL,
      store: false,
      tools: [LOOK, PATCH],
      input: [
        ...input,
        ...(first.output as ResponseInput),
        { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
      ],
    });
    expect(second.output_text).toBe('Hello');
    expect(sent()['messages']).toMatchObject([
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'I need both.',
        tool_calls: [
          { id: 'call_1', function: { name: 'look', arguments: '{"id": 12345678901234567890}' } },
          { id: 'call_2', function: { name: 'patch', arguments: '{"input":"a\\nb"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      { role: 'tool', tool_call_id: 'call_2', content: 'done' },
    ]);
  });

  it('carries the thoughts of Claude with their signature there and back', async () => {
    const client = clientOf();
    const first = await client.responses
      .stream({
        model: CLAUDE,
        // As long as the usage of the stub states.
        input: 'x'.repeat(88_000),
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'high', summary: 'auto' },
        tools: [{ ...LOOK, name: 'look_up' }],
        store: false,
      })
      .finalResponse();
    expect(first.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      { type: 'message', content: [{ text: 'Hello' }] },
      {
        type: 'function_call',
        call_id: 'toolu_01',
        name: 'look_up',
        arguments: '{"id": 12345678901234567890}',
      },
    ]);
    // 2,000 at 2, 80,000 at 0.1, 5,000 at 2.5 and 1,000 at 10 USD a million.
    expect(first.usage).toMatchObject({
      input_tokens: 87_000,
      input_tokens_details: { cached_tokens: 80_000, cache_write_tokens: 5_000 },
      output_tokens: 1_000,
      cost: 0.0345,
    });
    await client.responses.create({
      model: CLAUDE,
      reasoning: { effort: 'high' },
      store: false,
      tools: [{ ...LOOK, name: 'look_up' }],
      input: [
        { role: 'user', content: 'hi' },
        ...(first.output as ResponseInput),
        { type: 'function_call_output', call_id: 'toolu_01', output: 'seen' },
      ],
    });
    expect(setup.anthropic.requests.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Let me see.', signature: 'sig-of-the-thought' },
          { type: 'text', text: 'Hello' },
          { type: 'tool_use', id: 'toolu_01' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01' }] },
    ]);
    // Another server never gets the signature, and no thought as a text.
    await client.responses.create({
      model: OPEN_MODEL,
      store: false,
      input: [...(first.output as ResponseInput).slice(0, 2), { role: 'user', content: 'So?' }],
    });
    expect(JSON.stringify(sent()['messages'])).not.toMatch(/sbx1|sig-of-the-thought/);
    expect((sent()['messages'] as { content: string }[])[0]?.content).toBe('Hello');
  });

  it('pays for a turn that it cancels as far as it came, to the last digit', async () => {
    const { secret, record } = await setup.app.createKey();
    setup.anthropic.answerWith(countWithoutEnd(11));
    const stream = await clientOf(secret).responses.create({
      model: CLAUDE,
      input: 'Count.',
      stream: true,
      store: false,
    });
    let text = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (text === 'One two three ') break;
    }
    const { chat, promptTokens, cost } = await chatOf(setup.app, record.id);
    expect(chat).toMatchObject({ isCancelled: true, usageSource: 'counted', wire: 'responses' });
    expect(chat!.completionTokens).toBeGreaterThan(0);
    expect(promptTokens).toBe(11);
    // Picodollars.
    expect(cost).toBe(11n * 2_000_000n + BigInt(chat!.completionTokens) * 10_000_000n);
  });

  it.each([
    [429, 'rate_limit_exceeded', /try again in 7s/],
    [500, 'server_error', /Provider returned error/],
  ])('reads a failure after the headers with status %s as %s', async (status, code, message) => {
    setup.chat.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, delta({ content: 'Hel' }));
      sendEvent(response, {
        error: { message: 'broken', code: status, metadata: { retry_after_seconds: 7 } },
      });
      response.end();
    });
    const response = await clientOf().responses.stream({ model: OPEN_MODEL, input: 'hi' }).finalResponse();
    expect(response.status).toBe('failed');
    expect(response.error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('raises errors with their status and the member at fault', async () => {
    const failure = clientOf().responses.create({ model: OPEN_MODEL, input: 'hi', store: true });
    await expect(failure).rejects.toMatchObject({
      status: 400,
      param: 'store',
      type: 'invalid_request_error',
    });
  });
});

describe('the AI SDK', () => {
  it('runs a tool of its default model for several steps', async () => {
    const { secret, record } = await setup.app.createKey();
    const openai = createOpenAI({ baseURL: setup.app.baseUrl, apiKey: secret });
    let isFirst = true;
    setup.chat.answerWith((request, response) => {
      const answer = isFirst
        ? [
            delta({ content: 'I look.' }),
            delta(called('call_1', 'look', '{"id":7}')),
            delta({}, 'tool_calls'),
          ]
        : [delta({ content: 'It is red.' }), delta({}, 'stop')];
      isFirst = false;
      return streamOf(...answer, usageOnly(100, 10), '[DONE]')(request, response);
    });
    const result = streamText({
      model: openai.responses(OPEN_MODEL),
      prompt: 'Which colour?',
      maxRetries: 0,
      providerOptions: { openai: { store: false } },
      stopWhen: stepCountIs(3),
      tools: {
        look: tool({
          inputSchema: jsonSchema<{ id: number }>({ type: 'object', properties: { id: { type: 'number' } } }),
          execute: ({ id }) => `thing ${id} is red`,
        }),
      },
    });
    expect(await result.text).toBe('It is red.');
    expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(await result.totalUsage).toMatchObject({ inputTokens: 200, outputTokens: 20 });
    expect(sent()['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('thing 7 is red') },
    ]);
    const calls = await eventually(
      () => chatsOf(setup.app, record.id),
      ({ length }) => length === 2,
    );
    expect(calls.map(({ cost }) => cost)).toEqual([300_000_000n, 300_000_000n]);
  });

  it('reads the thoughts of Claude as reasoning', async () => {
    const openai = createOpenAI({ baseURL: setup.app.baseUrl, apiKey: setup.app.apiKey });
    const result = streamText({
      model: openai.responses(CLAUDE),
      prompt: 'hi',
      maxRetries: 0,
      providerOptions: { openai: { store: false, reasoningSummary: 'auto', forceReasoning: true } },
    });
    expect([await result.reasoningText, await result.text]).toEqual(['Let me see.', 'Hello']);
  });
});

describe('equal tokens', () => {
  it('cost the same in front of Chat and of Messages, in a stream or not', async () => {
    setup.chat.answerWith((request, response) =>
      request.body['stream'] === true
        ? streamOf(delta({ content: 'ok' }), delta({}, 'stop'), usageOnly(11, 7), '[DONE]')(request, response)
        : sendJson(response, 200, {
            choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
            usage: usage(11, 7),
          }),
    );
    const reported = { input_tokens: 11, output_tokens: 7 };
    setup.anthropic.answerWith((request, response) =>
      request.body['stream'] === true
        ? streamMessages([
            messageStart({ input_tokens: 11, output_tokens: 1 }),
            ...textBlock(0, 'ok'),
            messageDelta('end_turn', { output_tokens: 7 }),
            MESSAGE_STOP,
          ])(request, response)
        : sendJson(response, 200, {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            content: [{ type: 'text', text: 'ok' }],
            stop_reason: 'end_turn',
            usage: reported,
          }),
    );
    const client = clientOf();
    const costs: unknown[] = [];
    for (const model of [OPEN_MODEL, CLAUDE]) {
      const body = { model, input: 'Say ok, please, and nothing else.', store: false };
      const whole = await client.responses.create(body);
      const streamed = await client.responses.stream(body).finalResponse();
      expect([whole.output_text, streamed.output_text]).toEqual(['ok', 'ok']);
      for (const { usage: charged } of [whole, streamed])
        costs.push((charged as { cost?: number } | undefined)?.cost);
    }
    // 11 at 2 and 7 at 10 USD a million.
    expect(costs).toEqual([0.000092, 0.000092, 0.000092, 0.000092]);
  });
});
