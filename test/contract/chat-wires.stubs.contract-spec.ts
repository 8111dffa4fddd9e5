// The chat wires against stubs that refuse what the vendors refuse. Numbers in titles are public reports.
import { afterEach, describe, expect, it } from '@jest/globals';
import { ChatStreamRelay } from '../../src/chat/stream/chat-stream-relay.js';
import type { ChatEndpoint } from '../../src/domain/chat/chat-model.js';
import { failureOfResponse } from '../../src/routing/failures/exchange-failures.js';
import { startChatStub } from '../support/chat-providers/chat-stub.js';
import type { RunningChatStub } from '../support/chat-providers/chat-stub.js';
import { CHAT_STUBS } from '../support/chat-providers/index.js';
import type { ChatStubName } from '../support/chat-providers/index.js';
import {
  builtChat,
  chatEndpoint,
  chatWireOf,
  exchangeChat,
  readBody,
} from '../support/chat-providers/send-chat.js';

const NAMES = Object.keys(CHAT_STUBS) as ChatStubName[];
const running: RunningChatStub[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((stub) => stub.close()));
});

async function start(name: ChatStubName): Promise<RunningChatStub> {
  const stub = await startChatStub(CHAT_STUBS[name]);
  running.push(stub);
  return stub;
}
const slugOf = (name: ChatStubName): string => CHAT_STUBS[name].slug;

function relayOf(slug: string, body: Buffer): ChatStreamRelay {
  const relay = new ChatStreamRelay({
    identity: { id: 'gen-1', created: 1, model: 'vendor/model', provider: slug },
    client: 'chat',
    wire: chatWireOf(slug),
    excludesReasoning: false,
    choiceCount: 1,
    countedPrompt: null,
    maxEventBytes: 1_000_000,
    maxAnswerBytes: 10_000_000,
  });
  relay.push(body);
  relay.end();
  return relay;
}

/** A conversation with everything that vendors refuse in one form or another. */
const RICH = {
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [{ type: 'text', text: 'Look it up.', cache_control: { type: 'ephemeral' } }],
    },
    {
      role: 'assistant',
      content: null,
      reasoning: 'thinking',
      reasoning_details: [{ type: 'reasoning.text', text: 'thinking' }],
      annotations: [],
      tool_calls: [
        {
          id: 'call_00000000000000000000000001',
          index: 0,
          type: 'function',
          function: { name: 'look_up', arguments: '{}' },
        },
      ],
    },
    { role: 'tool', name: 'look_up', tool_call_id: 'call_00000000000000000000000001', content: '42' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'look_up', strict: true, parameters: { type: 'object' } },
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_completion_tokens: 100,
  temperature: 0.7,
  top_p: 1,
  top_k: 5,
  frequency_penalty: 1.5,
  presence_penalty: -1,
  seed: 7,
  stop: 'END',
  logprobs: false,
  logit_bias: { '5': 1 },
  user: 'u-1',
  metadata: { a: 'b' },
  priority: 1,
  x_unknown: true,
};

/** Serialisers of callers write absent members as null, and no tool calls as an empty list. */
const ABSENT = {
  messages: [
    {
      role: 'user',
      name: null,
      content: [
        { type: 'text', text: 'Hello', cache_control: null },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: null } },
      ],
      tool_calls: null,
      tool_call_id: null,
    },
    { role: 'assistant', content: 'Hi', refusal: null, tool_calls: [] },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [
    { type: 'function', function: { name: 'look_up', description: null, parameters: null, strict: null } },
  ],
};

describe.each(NAMES)('%s', (name) => {
  const slug = slugOf(name);

  it.each([true, false])('takes a body with every member (stream: %s)', async (stream) => {
    const stub = await start(name);
    const { status, body } = await exchangeChat(slug, stub.baseUrl, { ...RICH, stream });
    expect([status, body.toString().slice(0, 300)]).toEqual([200, expect.anything()]);
    const [request] = stub.requests;
    expect(request?.body).not.toHaveProperty('metadata');
    expect(request?.body).not.toHaveProperty('priority');
  });

  it('takes a body with what callers send as absent (openai-node #1341, vllm #16678, #13978)', async () => {
    const stub = await start(name);
    const { status, sent } = await exchangeChat(slug, stub.baseUrl, ABSENT);
    expect([status, sent.edits]).toEqual([200, []]);
    expect(sent.text).not.toMatch(/null|"tool_calls"/);
  });

  it('takes tools with members of other APIs, and records the dropped ones', async () => {
    const stub = await start(name);
    const described = { name: 'look_up', parameters: { type: 'object' }, requires_confirmation: true };
    const others = { eager_input_streaming: true, cache_control: { type: 'ephemeral' } };
    const tools = [{ type: 'function', ...others, function: { ...described, ...others } }];
    const called = { name: 'look_up', arguments: '{}', parsed_arguments: {} };
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'abcDEF123', type: 'function', function: called }],
      },
      { role: 'tool', tool_call_id: 'abcDEF123', content: '1' },
    ];
    const { status, sent } = await exchangeChat(slug, stub.baseUrl, { messages, tools });
    expect(status).toBe(200);
    const cache = ['tools.cache_control', 'tools.function.cache_control'];
    const pruned = [
      'eager_input_streaming',
      'function.requires_confirmation',
      'function.eager_input_streaming',
    ];
    const dropped = [...cache, ...pruned.map((path) => `tools.${path}`)];
    expect(sent.edits.filter((path) => path.startsWith('tools'))).toEqual(expect.arrayContaining(dropped));
    expect(sent.edits.filter((path) => path.startsWith('tools'))).toHaveLength(dropped.length);
    expect(sent.body['tools']).toEqual([
      { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } },
    ]);
    expect(sent.edits).toContain('messages.tool_calls.function.parsed_arguments');
  });

  it('takes a tool without parameters (mirascope #961)', async () => {
    const stub = await start(name);
    const tools = [{ type: 'function', function: { name: 'look_up', description: 'Looks it up.' } }];
    const { status, sent } = await exchangeChat(slug, stub.baseUrl, { tools });
    expect([status, sent.edits]).toEqual([200, []]);
    const [tool] = sent.body['tools'] as typeof tools;
    const parameters = ['mistral', 'cohere'].includes(slug) ? { type: 'object', properties: {} } : undefined;
    expect(tool?.function).toEqual({ name: 'look_up', description: 'Looks it up.', parameters });
  });

  it('streams text whose usage the relay reads once', async () => {
    const stub = await start(name);
    const { body } = await exchangeChat(slug, stub.baseUrl, { stream: true });
    const relay = relayOf(slug, body);
    expect(relay.failure).toBeNull();
    expect(relay.choices()[0]).toMatchObject({ content: 'Hello there', finishReason: 'stop' });
    const isAsked = CHAT_STUBS[name].usage !== 'asked' || name !== 'oldAzure';
    expect(relay.usage).toEqual(
      isAsked ? expect.objectContaining({ promptTokens: 9, completionTokens: 2 }) : null,
    );
  });

  it('streams tool calls with an index and an id', async () => {
    const stub = await start(name);
    const call = { id: 'abcDEF123', type: 'function', function: { name: 'look_up', arguments: '{"a":1}' } };
    stub.answerWith({
      deltas: [{ role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] }],
      finishReason: slug === 'google' ? 'stop' : 'tool_calls',
      usage: { prompt_tokens: 5, completion_tokens: 3 },
    });
    const { body } = await exchangeChat(slug, stub.baseUrl, { stream: true });
    const [choice] = relayOf(slug, body).choices();
    expect(choice?.finishReason).toBe('tool_calls');
    expect(choice?.toolCalls).toEqual([
      { id: expect.stringMatching(/^\w{9,}$/), name: 'look_up', arguments: '{"a":1}' },
    ]);
  });

  it('refuses a wrong key in a form that counts against the credential', async () => {
    const stub = await start(name);
    const wire = chatWireOf(slug);
    const { url, headers, text } = await builtChat(slug, {}, chatEndpoint(slug), {
      baseUrl: stub.baseUrl,
      apiKey: 'wrong',
    });
    const response = await fetch(url, { method: 'POST', headers, body: text });
    const failure = failureOfResponse(
      wire,
      { status: response.status, headers: {}, body: Buffer.from(await response.arrayBuffer()) },
      { apiKeys: ['wrong'], baseUrl: stub.baseUrl, upstreamModel: 'gpt-4o', modelId: 'openai/gpt-4o' },
      new Date('2026-11-27T12:00:00Z'),
    );
    expect(failure.consequences.error).toBe(slug === 'google' ? 'provider_refused' : 'provider_error');
  });
});

it('Mistral gets its own names and consistent ids (openai-agents-python #442, eca #231, gptel #1203)', async () => {
  const stub = await start('mistral');
  const { status, sent } = await exchangeChat('mistral', stub.baseUrl, { ...RICH, stream: true });
  expect(status).toBe(200);
  const body = stub.requests[0]?.body ?? {};
  expect(body).toMatchObject({ random_seed: 7, max_tokens: 100 });
  for (const name of ['stream_options', 'seed', 'max_completion_tokens', 'user'])
    expect(body).not.toHaveProperty(name);
  const [, user, assistant, tool] = body['messages'] as Record<string, unknown>[];
  expect(user).not.toHaveProperty('name');
  const [call] = (assistant?.['tool_calls'] ?? []) as { id: string }[];
  expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(tool?.['tool_call_id']).toBe(call?.id);
  expect(sent.edits).toEqual(
    expect.arrayContaining(['user', 'logit_bias', 'messages.name', 'messages.reasoning']),
  );
});

it('leaves ids that Mistral takes, and its own results, unchanged', () => {
  const { toolCallId } = chatWireOf('mistral');
  expect(toolCallId?.('abcDEF123')).toBe('abcDEF123');
  const replaced = toolCallId?.('call_1') ?? '';
  expect(replaced).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(toolCallId?.(replaced)).toBe(replaced);
  expect(toolCallId?.('call_2')).not.toBe(replaced);
});

it('continues an answer that the caller began at Mistral', async () => {
  const stub = await start('mistral');
  const messages = [
    { role: 'user', content: 'Count.' },
    { role: 'assistant', content: 'One,' },
  ];
  expect((await exchangeChat('mistral', stub.baseUrl, { messages })).status).toBe(200);
});

it('an older version of Azure gets no stream_options (openai-python #1469, griptape #1640)', async () => {
  const stub = await start('oldAzure');
  const { status } = await exchangeChat('azure', stub.baseUrl, { stream: true, max_tokens: 5 });
  expect(status).toBe(200);
  expect(stub.requests[0]?.body).toMatchObject({ max_tokens: 5, stream: true });
});

it.each([
  ['2024-06-01', false],
  ['2024-09-01-preview', true],
  ['2024-08-01-preview', false],
  ['2024-10-21', true],
  ['2025-04-01-preview', true],
])('sends stream_options to Azure’s version %s: %s', async (version, isSent) => {
  const connection = { baseUrl: `http://127.0.0.1:1/?api-version=${version}`, apiKey: 'k' };
  const { body } = await builtChat('azure', { stream: true }, chatEndpoint('azure'), connection);
  expect('stream_options' in body).toBe(isSent);
});

it.each(['openai', 'azure'] as const)(
  'a reasoning model of %s takes a body with every member',
  async (name) => {
    const stub = await start(name);
    const endpoint = chatEndpoint(name, { upstreamModel: 'gpt-5', isReasoning: true });
    const { status, sent } = await exchangeChat(name, stub.baseUrl, RICH, endpoint);
    expect(status).toBe(200);
    expect(sent.edits).toEqual(expect.arrayContaining(['temperature', 'logit_bias']));
  },
);

it('a reasoning deployment of Azure gets the new name of the limit (mentat #429, Pulse PR 1867)', async () => {
  const stub = await start('azure');
  const endpoint: ChatEndpoint = chatEndpoint('azure', { upstreamModel: 'gpt-5', isReasoning: true });
  const { status, body, sent } = await exchangeChat(
    'azure',
    stub.baseUrl,
    { stream: true, max_tokens: 50 },
    endpoint,
  );
  expect(status).toBe(200);
  expect(sent.body).toMatchObject({ max_completion_tokens: 50 });
  const text = relayOf('azure', body).take()?.toString() ?? '';
  expect(text).not.toContain('prompt_filter_results');
});

it('drops strict of a tool at Cohere, and records it (openrouter-examples #71)', async () => {
  const stub = await start('cohere');
  const { status, sent } = await exchangeChat('cohere', stub.baseUrl, RICH);
  expect(status).toBe(200);
  expect(sent.edits).toEqual(
    expect.arrayContaining(['tools.function.strict', 'frequency_penalty', 'presence_penalty']),
  );
  expect(stub.requests[0]?.body).toMatchObject({ frequency_penalty: 1, presence_penalty: 0, stop: ['END'] });
});

it('nothing of another spelling reaches a server that ignores case', () => {
  for (const name of ['Model', 'MODEL', 'Max_Tokens'])
    expect(() => readBody({ [name]: 'other' })).toThrow('is spelt');
});

it('strips members of vLLM that change the server for others, and records them', async () => {
  const stub = await start('vllm');
  const dangerous = { priority: 1, chat_template: 'x', cache_salt: 's', ignore_eos: true, min_tokens: 5 };
  const { sent } = await exchangeChat('vllm', stub.baseUrl, { ...dangerous, min_p: 0.1 });
  expect(sent.edits).toEqual(Object.keys(dangerous));
  expect(stub.requests[0]?.body).toMatchObject({ min_p: 0.1 });
});

it.each(['ollama', 'vllm', 'openai-compatible'])('no address goes to the local server %s', async (slug) => {
  const messages = [
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'http://169.254.169.254/latest' } }],
    },
  ];
  const data = {
    ...messages[0],
    content: [{ type: 'image_url', image_url: { url: 'https://169.254.169.254/latest' } }],
  };
  expect(() => readBody({ messages })).toThrow('messages[0].content[0]');
  await expect(builtChat(slug, { messages: [data] })).rejects.toThrow('messages[0].content[0]');
});

describe('Google', () => {
  it('counts thinking as completion when only the total has it', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 };
    expect(chatWireOf('google').readUsage?.(usage)).toMatchObject({
      promptTokens: 10,
      completionTokens: 30,
      reasoningTokens: 25,
    });
  });

  it('gets thinking_config and nothing else of extra_body', async () => {
    const config = { thinking_budget: 5 };
    const { body, edits } = await builtChat('google', {
      extra_body: { google: { thinking_config: config, cached_content: 'cachedContents/1' } },
    });
    expect(body['extra_body']).toEqual({ google: { thinking_config: config } });
    expect(edits).toEqual(['extra_body']);
    const dropped = await builtChat('google', { extra_body: { google: {} } });
    expect(dropped.body).not.toHaveProperty('extra_body');
  });

  it('reads its error in a list, with the delay', () => {
    const error = {
      code: 429,
      message: 'Quota exceeded',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ retryDelay: '7s' }],
    };
    const body = Buffer.from(JSON.stringify([{ error }]));
    expect(chatWireOf('google').readError({ status: 429, headers: {}, body })).toMatchObject({
      message: 'Quota exceeded',
      status: 429,
      retryAfter: 7,
    });
  });

  describe('a call without its signature', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
    const encrypted = { type: 'reasoning.encrypted', data: 'sig', id: 'c1', format: 'google-gemini-v1' };
    const send = (upstreamModel: string, details?: readonly object[]) =>
      builtChat(
        'google',
        {
          messages: [
            {
              role: 'assistant',
              content: null,
              tool_calls: [call, { ...call, id: 'c2' }],
              ...(details && { reasoning_details: details }),
            },
          ],
        },
        chatEndpoint('google', { upstreamModel }),
      );
    const signaturesOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
      (body['messages'] as { tool_calls: { extra_content?: { google: object } }[] }[])[0]?.tool_calls.map(
        ({ extra_content: extra }) => extra?.google,
      );

    it.each([
      ['gemini-3-flash-preview', true],
      ['gemini-3.1-pro-preview', true],
      ['gemini-flash-latest', true],
      ['gemini-2.5-pro', false],
      ['gemini-1.5-pro-latest', false],
    ])('at %s gets the placeholder with the first one: %s', async (model, isSigned) => {
      const sent = await send(model);
      const placeholder = { thought_signature: 'skip_thought_signature_validator' };
      expect(signaturesOf(sent)).toEqual([isSigned ? placeholder : undefined, undefined]);
      expect(sent.edits).toEqual([]);
    });

    it('gets that of the details with its id, at every model', async () => {
      for (const model of ['gemini-3-flash-preview', 'gemini-2.5-pro']) {
        const sent = await send(model, [encrypted]);
        expect(signaturesOf(sent)).toEqual([{ thought_signature: 'sig' }, undefined]);
        expect([sent.edits, sent.text.includes('reasoning_details')]).toEqual([[], false]);
      }
    });

    it('gets none of another vendor: those details are dropped, and recorded', async () => {
      const sent = await send('gemini-2.5-pro', [{ ...encrypted, format: 'anthropic-claude-v1' }, encrypted]);
      expect(signaturesOf(sent)).toEqual([{ thought_signature: 'sig' }, undefined]);
      expect(sent.edits).toEqual(['messages.reasoning_details']);
    });
  });

  it('gets the signature of a thought back', async () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'look_up', arguments: '{}' },
      extra_content: { google: { thought_signature: 'sig' } },
    };
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '1' },
    ];
    const google = await builtChat('google', { messages });
    expect(google.text).toContain('thought_signature');
    const openai = await builtChat('openai', { messages });
    expect(openai.text).not.toContain('thought_signature');
    expect(openai.edits).toEqual(['messages.tool_calls.extra_content']);
  });
});
