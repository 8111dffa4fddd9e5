// POST /chat/completions before closed schemas that refuse what the vendors refuse (docs/contract.md#chat-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import { chatOf, chatsOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';
import type { ReadStream } from '../../support/upstreams/chat-upstream.js';
import { INTERLEAVED_CALLS, startChatStub } from '../../support/chat-providers/chat-stub.js';
import {
  CHAT_WIRES,
  COMPLETION_PRICE,
  modelAt,
  PROMPT_PRICE,
} from '../../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../../support/chat-providers/every-chat-provider-app.js';
import type { ChatWireName } from '../../support/chat-providers/every-chat-provider.js';
import type { EveryChatProviderApp } from '../../support/chat-providers/every-chat-provider-app.js';
import { CHAT_STUBS } from '../../support/chat-providers/index.js';

const ID_OF_OTHERS = 'call_00000000000000000000000001';
const TOOL = {
  type: 'function',
  function: { name: 'look_up', strict: true, parameters: { type: 'object' } },
};

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider();
});
afterEach(() => setup.reset());
afterAll(() => setup.close());

const sentTo = (wire: ChatWireName): Readonly<Record<string, unknown>> =>
  setup.providers.stubOf(wire).requests.at(-1)?.body ?? {};
const chunksOf = ({ events }: ReadStream) => events.filter((event) => event !== '[DONE]');
const newKey = () => setup.app.createKey({ limit: 10n ** 12n });

describe('every wire', () => {
  it.each(CHAT_WIRES)('%s streams a text at the price of its tokens', async (wire) => {
    const key = await newKey();
    const read = await streamChat(setup.app, { model: modelAt(wire) }, { key: key.secret });
    expect([read.status, read.text, read.events.at(-1)]).toEqual([200, 'Hello there', '[DONE]']);
    expect(await chatsOf(setup.app, key.record.id)).toMatchObject([
      {
        provider: wire,
        cost: 9n * PROMPT_PRICE + 2n * COMPLETION_PRICE,
        chat: { completionTokens: 2, usageSource: 'reported', finishReason: 'stop' },
      },
    ]);
  });

  it.each(CHAT_WIRES)('%s answers without a stream', async (wire) => {
    const response = await postChat(setup.app, { model: modelAt(wire) });
    expect(await response.json()).toMatchObject({
      model: modelAt(wire),
      choices: [{ message: { content: 'Hello there' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    });
  });
});

describe('Mistral', () => {
  const model = modelAt('mistral');

  it('gets its own names, no member that it refuses, and nine-character ids in calls and results alike', async () => {
    const call = { id: ID_OF_OTHERS, type: 'function', function: { name: 'look_up', arguments: '{}' } };
    const read = await streamChat(setup.app, {
      model,
      messages: [
        { role: 'user', name: 'ann', content: 'Look it up.' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: ID_OF_OTHERS, content: '42' },
      ],
      tools: [TOOL],
      stream_options: { include_usage: true },
      seed: 7,
      max_completion_tokens: 100,
      user: 'u-1',
    });
    expect(read.status).toBe(200);
    const body = sentTo('mistral');
    expect(body).toMatchObject({ random_seed: 7, max_tokens: 100 });
    for (const name of ['stream_options', 'seed', 'max_completion_tokens', 'user'])
      expect(body).not.toHaveProperty(name);
    const [user, assistant, tool] = body['messages'] as Record<string, unknown>[];
    expect(user).not.toHaveProperty('name');
    const [sent] = (assistant?.['tool_calls'] ?? []) as { id: string }[];
    expect(sent?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(tool?.['tool_call_id']).toBe(sent?.id);
  });

  it('may be sent the tool calls of its own answer back', async () => {
    setup.providers.stubOf('mistral').answerWith(INTERLEAVED_CALLS);
    const answer = (await (await postChat(setup.app, { model, tools: [TOOL] })).json()) as {
      choices: { message: { tool_calls: { id: string }[] } }[];
    };
    const message = answer.choices[0]?.message;
    const results = (message?.tool_calls ?? []).map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: '1',
    }));
    expect(results).toHaveLength(2);
    setup.providers.stubOf('mistral').answerWith(null);
    const messages = [{ role: 'user', content: 'hi' }, message, ...results];
    expect((await postChat(setup.app, { model, messages, tools: [TOOL] })).status).toBe(200);
  });
});

describe('OpenAI', () => {
  const withFile = (data: string) => ({
    model: 'openai/gpt-4o',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Summarise it.' },
          { type: 'file', file: { filename: 'letter.pdf', file_data: data } },
        ],
      },
    ],
  });
  const PDF = withFile('data:application/pdf;base64,JVBERi0xLjQK');

  it('gets a PDF, for which the whole context is reserved', async () => {
    // 128,000 tokens of the prompt for $0.32, and 16,384 of the answer for $0.16384.
    const { secret } = await setup.app.createKey({ limit: parseUsd('0.49') });
    expect((await postChat(setup.app, PDF, { key: secret })).status).toBe(200);
    expect(sentTo('openai')['messages']).toEqual(PDF.messages);
    const { secret: poorer } = await setup.app.createKey({ limit: parseUsd('0.48') });
    expect((await postChat(setup.app, PDF, { key: poorer })).status).toBe(402);
  });

  it.each([
    ['an address', withFile('https://files.example/letter.pdf')],
    ['another type', withFile('data:text/plain;base64,AAAA')],
  ])("gets no file of %s in Chat's wire, the only one with several choices", async (_title, chat) => {
    const response = await postChat(setup.app, { ...chat, n: 2 });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('messages[0].content[1]: must be the data of a PDF');
  });
});

describe('Google', () => {
  const model = modelAt('google');

  it('may refuse a prompt without a message: the answer is a content filter, and its endpoint stays', async () => {
    const stub = setup.providers.stubOf('google');
    const key = await newKey();
    const choice = { index: 0, finish_reason: 'content_filter: PROHIBITED_CONTENT' };
    const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
    stub.replyWith({ status: 200, body: { object: 'chat.completion', choices: [choice], usage } });
    for (let call = 0; call < 8; call++) {
      const response = await postChat(setup.app, { model }, { key: key.secret });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        choices: [
          {
            message: { role: 'assistant', content: null },
            finish_reason: 'content_filter',
            native_finish_reason: 'content_filter: PROHIBITED_CONTENT',
          },
        ],
      });
    }
    const [recorded] = await chatsOf(setup.app, key.record.id);
    expect(recorded).toMatchObject({
      status: 200,
      cost: 9n * PROMPT_PRICE,
      chat: { finishReason: 'content_filter', usageSource: 'reported' },
    });
  });

  interface CallDelta {
    readonly tool_calls?: readonly { readonly id: string; readonly function: object }[];
    readonly reasoning_details?: readonly object[];
  }

  it.each([
    ['keeps reasoning_details', true, 'c2lnbmF0dXJl'],
    ['keeps known members only', false, 'skip_thought_signature_validator'],
  ])('goes on with the calls of Gemini 3 where the client %s', async (_title, keepsDetails, signature) => {
    const gemini = { model: 'google/gemini-3-flash-preview', tools: [TOOL] };
    const stub = setup.providers.stubOf('google');
    stub.answerWith(INTERLEAVED_CALLS);
    const read = await streamChat(setup.app, gemini);
    const deltas = chunksOf(read).flatMap(({ choices }) => choices.map(({ delta }) => delta as CallDelta));
    const calls = deltas.flatMap(({ tool_calls: some = [] }) => some);
    const details = deltas.flatMap(({ reasoning_details: some = [] }) => some);
    expect(details).toEqual([
      {
        type: 'reasoning.encrypted',
        data: 'c2lnbmF0dXJl',
        id: calls[0]?.id,
        format: 'google-gemini-v1',
        index: 0,
      },
    ]);
    stub.answerWith(null);
    const kept = calls.map(({ id, function: called }) => ({ id, type: 'function', function: called }));
    const messages = [
      { role: 'user', content: 'Look it up.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: kept,
        ...(keepsDetails && { reasoning_details: details }),
      },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '1' })),
    ];
    expect((await postChat(setup.app, { ...gemini, messages })).status).toBe(200);
    const [, assistant] = sentTo('google')['messages'] as Record<string, unknown>[];
    expect(assistant).not.toHaveProperty('reasoning_details');
    expect(assistant?.['tool_calls']).toEqual([
      { ...kept[0], extra_content: { google: { thought_signature: signature } } },
      kept[1],
    ]);
  });

  it('may end with a malformed call: client and record have the error, with a stream and without', async () => {
    const stub = setup.providers.stubOf('google');
    const finishReason = 'function_call_filter: MALFORMED_FUNCTION_CALL';
    const usage = { prompt_tokens: 9, completion_tokens: 2 };
    stub.answerWith({ deltas: [{ role: 'assistant', content: '' }], finishReason, usage });
    const key = await newKey();
    const read = await streamChat(setup.app, { model, tools: [TOOL] }, { key: key.secret });
    const reasons = chunksOf(read).map(({ choices }) => choices[0]?.finish_reason ?? null);
    expect([read.status, reasons.filter((reason) => reason !== null)]).toEqual([200, ['error']]);
    const whole = await postChat(setup.app, { model, tools: [TOOL] }, { key: key.secret });
    expect(await whole.json()).toMatchObject({ choices: [{ finish_reason: 'error' }] });
    const records = await chatsOf(setup.app, key.record.id);
    expect(records).toHaveLength(2);
    for (const record of records)
      expect(record).toMatchObject({
        status: 200,
        cost: 9n * PROMPT_PRICE + 2n * COMPLETION_PRICE,
        chat: { finishReason: 'error', nativeFinishReason: finishReason },
      });
  });
});

describe('Azure', () => {
  it('begins with a chunk without choices, which no client sees', async () => {
    const read = await streamChat(setup.app, { model: modelAt('azure') });
    expect(JSON.stringify(read.events)).not.toContain('prompt_filter_results');
    expect(chunksOf(read).every(({ choices }) => choices.length === 1)).toBe(true);
  });

  it('gets the limit of a reasoning deployment under its new name', async () => {
    const read = await streamChat(setup.app, {
      model: 'openai/gpt-5',
      provider: { only: ['azure'] },
      max_tokens: 50,
    });
    expect(read.text).toBe('Hello there');
    expect(sentTo('azure')).toMatchObject({ model: 'gpt-5', max_completion_tokens: 50 });
    expect(sentTo('azure')).not.toHaveProperty('max_tokens');
  });

  it('gets no stream_options at an older address, and its usage is counted', async () => {
    const stub = await startChatStub(CHAT_STUBS.oldAzure);
    const app = await createTestApp({
      environment: { AZURE_BASE_URL: stub.baseUrl, AZURE_API_KEY: CHAT_STUBS.oldAzure.apiKey },
    });
    const read = await streamChat(app, {
      model: 'openai/gpt-4o',
      stream_options: { include_usage: true },
      max_tokens: 5,
    });
    expect([read.status, read.text]).toEqual([200, 'Hello there']);
    expect(stub.requests[0]?.body).toMatchObject({ stream: true, max_tokens: 5 });
    expect(stub.requests[0]?.body).not.toHaveProperty('stream_options');
    expect((await chatOf(app)).chat).toMatchObject({ usageSource: 'counted', completionTokens: 2 });
    await app.close();
    await stub.close();
  });
});

describe('a dropped member', () => {
  const droppedBy = async (body: object): Promise<readonly string[]> => {
    const key = await newKey();
    const read = await streamChat(setup.app, body, { key: key.secret });
    expect(read.status).toBe(200);
    return (await chatOf(setup.app, key.record.id)).attempts[0]?.droppedMembers ?? [];
  };

  it('is recorded: strict of a tool at Cohere', async () => {
    expect(await droppedBy({ model: modelAt('cohere'), tools: [TOOL] })).toEqual(['tools.function.strict']);
    const [tool] = sentTo('cohere')['tools'] as { function: object }[];
    expect(tool?.function).toEqual({ name: 'look_up', parameters: { type: 'object' } });
  });

  it('is recorded: members that change a vLLM server for others or defeat a bound', async () => {
    const dangerous = { priority: 1, chat_template: 'x', cache_salt: 's', ignore_eos: true, min_tokens: 5 };
    const names = Object.keys(dangerous);
    expect(await droppedBy({ model: modelAt('vllm'), ...dangerous, min_p: 0.1 })).toEqual(names);
    for (const name of names) expect(sentTo('vllm')).not.toHaveProperty(name);
    expect(sentTo('vllm')).toMatchObject({ min_p: 0.1 });
  });
});

describe('media by address', () => {
  const image = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];

  it.each(['ollama', 'vllm', 'openai-compatible'] as const)(
    'is refused before the local server %s sees it',
    async (wire) => {
      const { requests } = setup.providers.stubOf(wire);
      const before = requests.length;
      for (const url of ['http://169.254.169.254/latest', 'https://169.254.169.254/latest']) {
        const response = await postChat(setup.app, { model: modelAt(wire), messages: image(url) });
        expect(response.status).toBe(400);
        expect(JSON.stringify(await response.json())).toContain('messages[0].content[0]');
      }
      expect(requests).toHaveLength(before);
    },
  );

  it('goes to a public provider as it is', async () => {
    const url = 'https://images.example/cat.png';
    const response = await postChat(setup.app, { model: modelAt('openai'), messages: image(url) });
    expect(response.status).toBe(200);
    expect(sentTo('openai')['messages']).toEqual(image(url));
  });
});
