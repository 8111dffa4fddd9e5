// Clients of Chat and of Messages before OpenAI's Responses (docs/contract.md#responses-providers).
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '../../support/eventually.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import { eventsOf, postMessages } from '../../support/messages/messages-app.js';
import { RICH_OUTPUT } from '../../support/responses/responses-events.js';
import type { OutputSpec } from '../../support/responses/responses-events.js';
import { FUNCTIONS, GPT, PLAIN, startResponsesApp } from '../../support/responses/responses-app.js';
import type { ResponsesApp } from '../../support/responses/responses-app.js';
import { postResponses, responseEvents, responseOf } from '../../support/responses/responses-client.js';
import { answerOutput, OWN_KEY, sendError, STUB_KEY } from '../../support/responses/responses-stub.js';
import { chatOf, chatsOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';

let setup: ResponsesApp;
beforeAll(async () => {
  setup = await startResponsesApp();
});
afterEach(() => setup.openai.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.openai.requests.at(-1)!;
const FUNCTION = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { id: {} } },
};
const LOOK = { type: 'function', function: FUNCTION };
const TOOL = { name: 'look', input_schema: { type: 'object', properties: {} } };
const chat = (body: object, options = {}) => postChat(setup.app, { model: FUNCTIONS, ...body }, options);
const messages = (body: object, options = {}) => postMessages(setup.app, { model: GPT, ...body }, options);
const fileBy = (file_data: string) => ({
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_data } }] }],
});
const isResponses = () => sent().path === '/v1/responses';

describe('the wire of a call', () => {
  it.each([
    ['a text', {}, false],
    ['tools without reasoning', { tools: [LOOK] }, false],
    ['reasoning without tools', { reasoning_effort: 'high' }, false],
    ['a file by its address, which Chat refuses', fileBy('https://files.example/a.pdf'), true],
    ['a file of text, which Chat refuses', fileBy('data:text/plain;base64,aGk='), true],
    ['tools with reasoning, which Chat refuses', { tools: [LOOK], reasoning_effort: 'high' }, true],
  ])('of a client of Chat is Chat where it says all: %s', async (_case, body, expected) => {
    expect((await chat({ model: GPT, ...body })).status).toBe(200);
    expect(isResponses()).toBe(expected);
  });

  it.each([
    ['the first of the endpoint', {}, true],
    ['one that has stop sequences', { stop_sequences: ['x'] }, false],
    [
      'one that goes on with a turn of the assistant',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'So' },
        ],
      },
      false,
    ],
    ['one that makes less than 16 tokens', { max_tokens: 1 }, false],
  ])('of a client of Messages is %s', async (_case, body, expected) => {
    expect((await messages({ model: PLAIN, ...body })).status).toBe(200);
    expect(isResponses()).toBe(expected);
  });

  it.each([
    [{ stop: ['x'] }, 'stop'],
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ max_tokens: 15 }, 'max_tokens'],
  ])('is refused where the endpoint has no other: %j', async (body, member) => {
    const response = await chat(body);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`${member}: `)]);
  });
});

describe('a request of Chat', () => {
  it('becomes instructions and items, one turn of the assistant as its reasoning, message and calls', async () => {
    const key = await setup.app.createKey();
    const call = (id: string, text: string) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: text },
    });
    const detail = { format: 'openai-responses-v1', index: 0 };
    const response = await chat(
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: 'Also polite.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
            ],
          },
          {
            role: 'assistant',
            content: 'I do.',
            reasoning_details: [
              { type: 'reasoning.summary', ...detail, summary: 'H' },
              { type: 'reasoning.summary', ...detail, summary: 'm.' },
              { type: 'reasoning.encrypted', ...detail, id: 'rs_1', data: 'gAAAA-1' },
              {
                type: 'reasoning.text',
                format: 'anthropic-claude-v1',
                index: 1,
                text: 'x',
                signature: 'sig',
              },
            ],
            tool_calls: [call('call_1', '{"id":12345678901234567890}'), call('call_2', '')],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'one' },
          { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'two' }] },
          { role: 'user', content: 'Go on.' },
        ],
        tools: [LOOK],
        tool_choice: { type: 'function', function: { name: 'look' } },
        parallel_tool_calls: false,
        max_tokens: 500,
        reasoning: { effort: 'high' },
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
        },
        verbosity: 'low',
        seed: 7,
        user: 'u-1',
      },
      { key: key.secret },
    );
    expect([response.status, isResponses()]).toEqual([200, true]);
    expect(sent().body).toEqual({
      model: 'gpt-stub',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'developer', content: 'Also polite.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: 'gAAAA-1',
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I do.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"id":12345678901234567890}' },
        { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'one' },
        { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'two' }] },
        { type: 'message', role: 'user', content: 'Go on.' },
      ],
      tools: [{ type: 'function', ...FUNCTION, strict: false }],
      tool_choice: { type: 'function', name: 'look' },
      parallel_tool_calls: false,
      text: {
        format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true },
        verbosity: 'low',
      },
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      user: 'u-1',
      max_output_tokens: 500,
      store: false,
    });
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers?.toSorted()).toEqual(['messages.reasoning_details', 'seed']);
  });

  it('keeps the settings that a model without reasoning has', async () => {
    expect((await messages({ model: PLAIN, temperature: 0.5, top_k: 3 })).status).toBe(200);
    expect(sent().body).toMatchObject({ temperature: 0.5 });
    expect(sent().body).not.toHaveProperty('include');
    expect(sent().body).not.toHaveProperty('top_k');
  });
});

describe('an answer', () => {
  it('comes to a client of Chat in chunks, and its reasoning goes back with the next turn', async () => {
    const body = { model: GPT, tools: [LOOK], reasoning: { effort: 'high' } };
    const stream = await streamChat(setup.app, body);
    const deltas = stream.events.flatMap((event) =>
      event === '[DONE]' ? [] : event.choices.map(({ delta }) => delta as Record<string, unknown>),
    );
    expect(stream.text).toBe('Hello é');
    const details = deltas.flatMap(
      (delta) => (delta['reasoning_details'] ?? []) as Record<string, unknown>[],
    );
    expect(details.at(-1)).toEqual({
      type: 'reasoning.encrypted',
      format: 'openai-responses-v1',
      index: 0,
      id: 'rs_0',
      data: 'gAAAA-of-the-thought',
    });
    const { choices } = (await (await chat(body)).json()) as {
      choices: [{ message: object; finish_reason: string }];
    };
    const [{ message, finish_reason: finish }] = choices;
    expect(finish).toBe('tool_calls');
    expect(message).toMatchObject({
      content: 'Hello é',
      reasoning: 'Let me see.\n\nBoth.',
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'Let me see.\n\nBoth.', index: 0 },
        { type: 'reasoning.encrypted', data: 'gAAAA-of-the-thought', index: 0 },
      ],
      tool_calls: [{ function: { arguments: '{"id": 12345678901234567890}' } }, { id: 'call_2' }],
    });
    for (const reasoning_details of [
      (message as { reasoning_details: object[] }).reasoning_details,
      details,
    ]) {
      const turn = [
        { role: 'user', content: 'hi' },
        { ...message, reasoning_details },
        ...['call_1', 'call_2'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
      ];
      expect((await chat({ ...body, messages: turn })).status).toBe(200);
      expect((sent().body['input'] as object[])[1]).toEqual({
        type: 'reasoning',
        id: 'rs_0',
        summary: [{ type: 'summary_text', text: 'Let me see.\n\nBoth.' }],
        encrypted_content: 'gAAAA-of-the-thought',
      });
    }
  });

  it('comes to the SDK of Anthropic as blocks, and its sealed reasoning goes back with the next turn', async () => {
    const client = new Anthropic({ apiKey: setup.app.apiKey, baseURL: setup.app.origin, maxRetries: 0 });
    const settings = {
      model: GPT,
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 3_000 },
      tools: [TOOL],
    } as const;
    const asked = { role: 'user', content: 'hi' } as const;
    const message = await client.messages.stream({ ...settings, messages: [asked] } as never).finalMessage();
    expect(sent().body).toMatchObject({ reasoning: { effort: 'medium', summary: 'auto' } });
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        {
          type: 'thinking',
          thinking: 'Let me see.\n\nBoth.',
          signature: expect.stringMatching(/^sbx1\.openai\./),
        },
        { type: 'text', text: 'Hello é' },
        { type: 'tool_use', id: 'call_1' },
        { type: 'tool_use', id: 'call_2', input: {} },
      ],
      usage: { input_tokens: 2_000, cache_read_input_tokens: 80_000, cache_creation_input_tokens: 5_000 },
    });
    const results = ['call_1', 'call_2'].map((id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: 'ok',
    }));
    const turn = [asked, { role: 'assistant', content: message.content }, { role: 'user', content: results }];
    await client.messages.create({ ...settings, messages: turn } as never);
    expect(sent().body['input']).toMatchObject([
      { role: 'user' },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Let me see.\n\nBoth.' }],
        encrypted_content: 'gAAAA-of-the-thought',
      },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello é' }] },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
      { type: 'function_call_output', call_id: 'call_2', output: 'ok' },
    ]);
  });

  it('is a refusal in every wire', async () => {
    const refusal: OutputSpec = { type: 'message', deltas: ['I must ', 'not.'], isRefusal: true };
    setup.openai.answerWith(answerOutput([refusal]));
    expect(await (await chat({})).json()).toMatchObject({
      choices: [{ message: { refusal: 'I must not.' } }],
    });
    expect(await (await messages({})).json()).toMatchObject({
      content: [{ type: 'text', text: 'I must not.' }],
    });
    const response = await postResponses(setup.app, { model: GPT, input: 'hi' });
    expect(await response.json()).toMatchObject({
      output: [{ content: [{ type: 'refusal', refusal: 'I must not.' }] }],
    });
  });

  it.each([
    ['max_output_tokens', 'length', 'max_tokens'],
    ['content_filter', 'content_filter', 'refusal'],
  ])('says in every wire why it is incomplete: %s', async (reason, finish, stop) => {
    const details = { status: 'incomplete', incomplete_details: { reason } };
    setup.openai.answerWith(answerOutput([{ type: 'message', deltas: ['Hel'] }], details));
    expect(await (await chat({})).json()).toMatchObject({
      choices: [{ finish_reason: finish, native_finish_reason: reason }],
    });
    const events = await eventsOf(await messages({ stream: true }));
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: stop } });
  });
});

describe('the cost of a call', () => {
  it('is the same to the last digit in every wire, streamed and whole', async () => {
    const { secret, record } = await setup.app.createKey();
    const tools = { reasoning: { effort: 'high' } };
    const headers = { 'x-api-key': secret };
    for (const stream of [false, true]) {
      const input = { model: GPT, input: 'x'.repeat(90_000), stream };
      const content = { messages: [{ role: 'user', content: 'x'.repeat(90_000) }], stream };
      await (await postResponses(setup.app, input, { key: secret })).text();
      await (await chat({ ...content, ...tools }, { key: secret })).text();
      await (await messages({ ...content, max_tokens: 100 }, { headers })).text();
    }
    const records = await eventually(
      () => chatsOf(setup.app, record.id),
      ({ length }) => length === 6,
    );
    expect(new Set(records.map(({ cost }) => cost))).toEqual(new Set([34_500_000_000n]));
    expect(records.map((each) => String(each.chat?.wire)).toSorted()).toEqual([
      'chat',
      'chat',
      'messages',
      'messages',
      'responses',
      'responses',
    ]);
  });
});

describe('reasoning that comes back', () => {
  it('stays at the credential that encrypted it, and leaves without it where that fails', async () => {
    await createCredential(setup.app, {
      provider: 'openai',
      isFallback: false,
      apiKey: OWN_KEY,
      sortOrder: 0,
    });
    const failing = new Set<string>();
    const keys: string[] = [];
    setup.openai.answerWith((request, response) => {
      const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
      keys.push(key);
      if (failing.has(key)) return sendError(response, 503, { message: 'Overloaded' });
      const encrypted = `gAAAA-by-${key}`;
      return answerOutput([{ type: 'reasoning', summary: [], encrypted }, RICH_OUTPUT[1]!])(
        request,
        response,
      );
    });
    const ask = (input: unknown) =>
      postResponses(setup.app, { model: GPT, input, include: ['reasoning.encrypted_content'] });
    await eventually(
      async () => {
        await (await ask('hi')).text();
        return keys.at(-1);
      },
      (key) => key === OWN_KEY,
    );
    failing.add(OWN_KEY);
    const { output } = (await (await ask('hi')).json()) as { output: object[] };
    failing.clear();
    const turn = [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'go on' }];
    expect((await ask(turn)).status).toBe(200);
    expect([keys.at(-1), sent().text.includes(`gAAAA-by-${STUB_KEY}`)]).toEqual([STUB_KEY, true]);
    failing.add(STUB_KEY);
    expect((await ask(turn)).status).toBe(200);
    expect([keys.at(-1), sent().text.includes('gAAAA')]).toEqual([OWN_KEY, false]);
  });
});

describe('the SDK of OpenAI', () => {
  it('reads the stream of Chat with parallel calls', async () => {
    const client = new OpenAI({ apiKey: setup.app.apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({ model: FUNCTIONS, messages: [{ role: 'user', content: 'hi' }], tools: [LOOK as never] })
      .finalChatCompletion();
    expect(completion.choices[0]?.message.tool_calls?.map((call) => call.id)).toEqual(['call_1', 'call_2']);
  });

  it('reads a stream of Responses that is translated there and back', async () => {
    const tools = [{ type: 'custom', name: 'patch' }];
    const events = await responseEvents(
      await postResponses(setup.app, { model: FUNCTIONS, input: 'hi', stream: true, tools }),
    );
    expect(responseOf(events)).toMatchObject({
      status: 'completed',
      model: FUNCTIONS,
      output: [
        { type: 'reasoning' },
        { content: [{ text: 'Hello é' }] },
        { call_id: 'call_1' },
        { call_id: 'call_2' },
      ],
    });
  });
});
