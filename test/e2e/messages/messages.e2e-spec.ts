// POST /messages before an endpoint of the same wire (docs/contract.md#messages).
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { chatOf, chatsOf } from '../../support/upstreams/chat-upstream.js';
import {
  CLAUDE,
  eventsOf,
  LONG_PROMPT,
  postMessages,
  startMessagesApp,
} from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import {
  blockDelta,
  blockStart,
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
  sendError,
  streamMessages,
  STUB_KEY,
  textBlock,
  USAGE_AT_START,
} from '../../support/messages/messages-stub.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.anthropic.answerWith(null));
afterAll(() => setup.close());

const blockOfDeltas = (count: number): string[] => [
  'content_block_start',
  ...Array<string>(count).fill('content_block_delta'),
  'content_block_stop',
];
const sent = () => setup.anthropic.requests.at(-1)!;
const clientOf = (options: object = {}): Anthropic =>
  new Anthropic({ apiKey: setup.app.apiKey, baseURL: setup.app.origin, maxRetries: 0, ...options });

describe('the fast path', () => {
  it("sends the caller's own bytes but for the model, and removes the members of this service", async () => {
    const messages =
      '[ {"role":"user","content":[{"type":"text","text":"caf\\u00e9 \\ud83d\\ude00"}]} , {"content":[{"signature":"sig-1","thinking":"a\\u00e9 b","type":"thinking"},{"type":"text","text":"ok"}],"role":"assistant"},{"role":"user","content":"go"}]';
    const tools =
      '[{"name":"t","input_schema":{"type":"object","properties":{"n":{"const":1234567890123456789012}}}}]';
    const body = `{"model":"${CLAUDE}","max_tokens":100,"session_id":"s-1","provider":{"order":["anthropic"]},"messages":${messages},"tools":${tools},"temperature":0.10}`;
    const response = await postMessages(setup.app, body);
    expect(response.status).toBe(200);
    expect(sent().text).toBe(
      `{"model":"claude-stub","max_tokens":100,"messages":${messages},"tools":${tools},"temperature":0.10}`,
    );
  });

  it('passes the body of the answer, and adds its cost and its provider', async () => {
    const response = await postMessages(setup.app, LONG_PROMPT);
    expect(await response.json()).toMatchObject({
      id: 'msg_01Stub',
      model: 'claude-stub-20261001',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'sig-of-the-thought' },
        { type: 'text', text: 'Hello' },
      ],
      provider: 'Anthropic',
      usage: { input_tokens: 2_000, output_tokens: 1_000, cost: 0.0345, is_byok: false },
    });
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-generation-id'));
  });

  it('passes the events of a stream in their order, and adds the cost to the last usage', async () => {
    const events = await eventsOf(await postMessages(setup.app, { ...LONG_PROMPT, stream: true }));
    expect(events.map(({ event }) => event)).toEqual([
      'message_start',
      ...blockOfDeltas(3),
      'ping',
      ...blockOfDeltas(2),
      ...blockOfDeltas(2),
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]?.data['message']).toMatchObject({ id: 'msg_01Stub', usage: { input_tokens: 2_000 } });
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { output_tokens: 1_000, cost: 0.0345 },
    });
  });

  it('lowers an output limit that the endpoint does not have', async () => {
    await postMessages(setup.app, { max_tokens: 90_000 });
    expect(sent().body['max_tokens']).toBe(32_000);
  });

  it.each(['', 'sbx1.none'])(
    'cuts a thought with the signature %j out, and records it',
    async (signature) => {
      const key = await setup.app.createKey();
      const thinking = { type: 'thinking', thinking: 'mine', signature };
      const response = await postMessages(
        setup.app,
        {
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: [thinking, { type: 'text', text: 'ok' }] },
            { role: 'user', content: 'go' },
          ],
        },
        { headers: { 'x-api-key': key.secret } },
      );
      expect(response.status).toBe(200);
      expect(sent().body['messages']).toMatchObject([{}, { content: [{ type: 'text', text: 'ok' }] }, {}]);
      const chat = await chatOf(setup.app, key.record.id);
      expect(chat.attempts[0]?.droppedMembers).toEqual(['messages.content.thinking']);
    },
  );

  it('leaves out tools that the provider runs, and records them', async () => {
    const key = await setup.app.createKey();
    const tools = [
      { name: 'mine', input_schema: { type: 'object' } },
      { type: 'web_search_20260318', name: 'web_search', max_uses: 5 },
    ];
    await postMessages(setup.app, { tools }, { headers: { 'x-api-key': key.secret } });
    expect(sent().body['tools']).toEqual([tools[0]]);
    const chat = await chatOf(setup.app, key.record.id);
    expect(chat.attempts[0]?.droppedMembers).toEqual(['tools.web_search_20260318']);
    const only = await postMessages(setup.app, { tools: [tools[1]] });
    expect(only.status).toBe(400);
  });

  it.each([
    [{ speed: 'fast' }, 'speed'],
    [{ inference_geo: 'us' }, 'inference_geo'],
    [{ container: 'c-1' }, 'container'],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, 'context_management'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
  ])('refuses %j and names the member', async (members, member) => {
    const before = setup.anthropic.requests.length;
    const response = await postMessages(setup.app, members);
    expect(response.status).toBe(400);
    const body = (await response.json()) as { type: string; error: { type: string; message: string } };
    expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' }, request_id: null });
    expect(body.error.message).toContain(member);
    expect(setup.anthropic.requests.length).toBe(before);
  });
});

describe('credentials and headers', () => {
  it('takes the key of either header, and the one of this service of two', async () => {
    const { apiKey } = setup.app;
    const statuses = await Promise.all(
      [
        { 'x-api-key': apiKey },
        { 'x-api-key': '', authorization: `Bearer ${apiKey}` },
        { 'x-api-key': 'sk-ant-foreign', authorization: `Bearer ${apiKey}` },
        { 'x-api-key': apiKey, authorization: 'Bearer foreign-token' },
      ].map(async (headers) => (await postMessages(setup.app, {}, { headers })).status),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
    for (const { headers } of setup.anthropic.requests.slice(-4))
      expect([headers['x-api-key'], headers.authorization]).toEqual([STUB_KEY, undefined]);
  });

  it('rejects two different keys of this service', async () => {
    const other = await setup.app.createKey();
    const headers = { 'x-api-key': other.secret, authorization: `Bearer ${setup.app.apiKey}` };
    expect((await postMessages(setup.app, {}, { headers })).status).toBe(401);
  });

  it.each(['/v1/messages', '/api/v1/messages', '/v1/messages/count_tokens', '/v1/messages?beta=true'])(
    'answers 401 in the form of the wire without a credential at %s',
    async (path) => {
      const before = setup.anthropic.requests.length;
      const response = await postMessages(setup.app, {}, { path, headers: { 'x-api-key': '' } });
      expect([response.status, setup.anthropic.requests.length]).toEqual([401, before]);
      expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    },
  );

  it('passes the version, the betas and their members of the body, and no account or login', async () => {
    await postMessages(
      setup.app,
      { new_thing: { depth: 2 } },
      {
        headers: {
          'anthropic-version': '2026-10-21',
          'anthropic-beta': 'new-thing-2026-11-01, oauth-2025-04-20,other',
          'anthropic-workspace-id': 'ws-1',
        },
      },
    );
    expect(sent().headers).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'new-thing-2026-11-01,other',
    });
    expect(sent().headers).not.toHaveProperty('anthropic-workspace-id');
    expect(sent().body).toMatchObject({ new_thing: { depth: 2 } });
  });

  it("records a coding agent's session and the wire", async () => {
    const key = await setup.app.createKey();
    const headers = { 'x-api-key': key.secret, 'x-claude-code-session-id': 'session-7' };
    const response = await postMessages(setup.app, {}, { headers });
    const id = response.headers.get('x-generation-id') ?? '';
    const shown = await setup.app.http
      .get(`/api/v1/generation?id=${id}`)
      .set('authorization', `Bearer ${key.secret}`);
    expect(shown.body.data).toMatchObject({ api_type: 'messages', session_id: 'session-7' });
  });
});

describe('money', () => {
  const costOf = async (usage: object, output: number): Promise<bigint | null> => {
    const key = await setup.app.createKey({ limit: 10n ** 13n });
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({ ...USAGE_AT_START, ...usage }),
        ...textBlock(0, 'ok'),
        messageDelta('end_turn', { output_tokens: output }),
        MESSAGE_STOP,
      ]),
    );
    const response = await postMessages(
      setup.app,
      { ...LONG_PROMPT, stream: true },
      { headers: { 'x-api-key': key.secret } },
    );
    await response.text();
    return (await chatOf(setup.app, key.record.id)).cost;
  };

  it('charges fresh, read and written tokens once each', async () => {
    expect(await costOf({}, 1_000)).toBe(34_500_000_000n);
  });

  it('charges written tokens by the time that they live', async () => {
    const split = { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 3_000 };
    expect(await costOf({ cache_creation: split }, 1_000)).toBe(39_000_000_000n);
  });

  it('takes repeated numbers of the last event once', async () => {
    const key = await setup.app.createKey();
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({ input_tokens: 25, output_tokens: 1 }),
        ...textBlock(0, 'ok'),
        messageDelta('end_turn', { input_tokens: 25, output_tokens: 90, cache_read_input_tokens: null }),
        MESSAGE_STOP,
      ]),
    );
    await (await postMessages(setup.app, { stream: true }, { headers: { 'x-api-key': key.secret } })).text();
    const { promptTokens, chat } = await chatOf(setup.app, key.record.id);
    expect([promptTokens, chat?.completionTokens, chat?.usageSource]).toEqual([25, 90, 'reported']);
  });

  it('reports searches that the provider ran by itself, and charges none', async () => {
    const searches = { server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } };
    expect(await costOf(searches, 1_000)).toBe(34_500_000_000n);
    const { text } = await setup.app.http.get('/metrics');
    expect(text).toContain('signalbox_chat_unpriced_uses_total{provider="anthropic"} 2');
  });

  it('charges a call that warms the cache for what it writes', async () => {
    const key = await setup.app.createKey({ limit: 10n ** 13n });
    const written = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 5_000 };
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({
          input_tokens: 0,
          cache_creation_input_tokens: 5_000,
          cache_creation: written,
          output_tokens: 0,
        }),
        messageDelta('max_tokens', { output_tokens: 0 }),
        MESSAGE_STOP,
      ]),
    );
    const body = { ...LONG_PROMPT, max_tokens: 0, stream: true };
    await (await postMessages(setup.app, body, { headers: { 'x-api-key': key.secret } })).text();
    expect(sent().body['max_tokens']).toBe(0);
    expect((await chatOf(setup.app, key.record.id)).cost).toBe(20_000_000_000n);
  });

  it('charges a cancelled stream for the prompt as it was reported, and for the text that came', async () => {
    const key = await setup.app.createKey();
    let isClosed = false;
    setup.anthropic.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = [messageStart(), blockStart(0, { type: 'text', text: '' })];
      const deltas = ['one ', 'two ', 'three'].map((text) => blockDelta(0, { type: 'text_delta', text }));
      response.write([...events, ...deltas].map(messagesEvent).join(''));
      response.on('close', () => (isClosed = true));
    });
    const controller = new AbortController();
    const headers = { 'x-api-key': key.secret };
    const response = await postMessages(
      setup.app,
      { ...LONG_PROMPT, stream: true },
      { headers, signal: controller.signal },
    );
    await response.body?.getReader().read();
    controller.abort();
    await eventually(
      () => Promise.resolve(isClosed),
      (closed) => closed,
    );
    await eventually(
      () => chatsOf(setup.app, key.record.id),
      (chats) => chats.length === 1,
    );
    const { promptTokens, cost, chat } = await chatOf(setup.app, key.record.id);
    expect(promptTokens).toBe(87_000);
    expect(chat).toMatchObject({ cachedTokens: 80_000, cacheWriteTokens: 5_000, isCancelled: true });
    const output = BigInt(chat?.completionTokens ?? 0) * 10_000_000n;
    expect(cost).toBe(24_500_000_000n + output);
    expect(chat?.completionTokens).toBeGreaterThan(2);
    expect(chat?.completionTokens).toBeLessThan(8);
  });

  it('serves as many parallel calls as a limit has money for', async () => {
    const key = await setup.app.createKey({ limit: 70_000_000_000n });
    const before = setup.anthropic.requests.length;
    const headers = { 'x-api-key': key.secret };
    setup.anthropic.answerWith(
      streamMessages([
        messageStart({ input_tokens: 1, output_tokens: 1 }),
        ...textBlock(0, 'ok'),
        messageDelta('end_turn', { output_tokens: 1_999 }),
        MESSAGE_STOP,
      ]),
    );
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await postMessages(setup.app, { stream: true }, { headers });
        const body = await response.text();
        return { status: response.status, body, retry: response.headers.get('x-should-retry') };
      }),
    );
    const refused = answers.filter(({ status }) => status === 402);
    // Three bounds of 0.02 USD and the prompt.
    expect([refused.length, setup.anthropic.requests.length - before]).toEqual([47, 3]);
    for (const { body, retry } of refused) {
      expect(JSON.parse(body)).toMatchObject({ error: { type: 'billing_error' } });
      expect(retry).toBe('false');
    }
  });
});

describe('failures', () => {
  it("passes a provider's own refusal byte for byte", async () => {
    const body =
      '{"type":"error", "error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid \\u00e9"},"request_id":"req_1"}';
    setup.anthropic.answerWith((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(body);
    });
    const response = await postMessages(setup.app, {});
    expect([response.status, await response.text()]).toEqual([400, body]);
  });

  it.each([
    ['the key of the operator', { message: `bad request of ${STUB_KEY}` }, 400],
    ['an escaped key', `{"message":"bad request of \\u0073${STUB_KEY.slice(1)}"}`, 400],
    ['a long body', { message: 'x'.repeat(70_000) }, 400],
    ['another status', { message: 'no such model' }, 404],
  ])('writes an error of its own for %s', async (_case, error, status) => {
    const text = typeof error === 'string' ? error : JSON.stringify(error);
    setup.anthropic.answerWith((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(`{"type":"error","error":${text},"request_id":"req_1"}`);
    });
    const response = await postMessages(setup.app, {});
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { error_type: expect.any(String) } });
    expect(body).not.toContain('req_1');
    expect(body).not.toContain(STUB_KEY);
  });

  it("masks a refusal of the operator's credential", async () => {
    const own = await startMessagesApp();
    own.anthropic.answerWith((_request, response) =>
      sendError(response, 401, 'authentication_error', `invalid x-api-key ${STUB_KEY}`),
    );
    const response = await postMessages(own.app, {});
    const text = await response.text();
    await own.close();
    expect(response.status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect(text).not.toContain(STUB_KEY);
  });

  it('ends a stream with an error of the wire, and without a stop', async () => {
    setup.anthropic.answerWith(
      streamMessages([
        messageStart(),
        blockStart(0, { type: 'text', text: '' }),
        blockDelta(0, { type: 'text_delta', text: 'Hel' }),
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]),
    );
    const events = await eventsOf(await postMessages(setup.app, { stream: true }));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: { type: 'overloaded_error' } } });
    expect(events.some(({ event }) => event === 'message_stop')).toBe(false);
  });

  it('answers an overload in the first event of a stream with its status', async () => {
    setup.anthropic.answerWith(
      streamMessages([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    );
    expect((await postMessages(setup.app, { stream: true })).status).toBe(529);
  });

  it('answers an unknown model and a wrong method in the form of the wire', async () => {
    const unknown = await postMessages(setup.app, { model: 'no/model' });
    expect(await unknown.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    const get = await fetch(`${setup.app.origin}/v1/messages`);
    expect(get.status).toBe(405);
    expect(await get.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });
});

describe('counts and models', () => {
  it('asks the provider for the tokens of a prompt, without a generation', async () => {
    const key = await setup.app.createKey();
    const body = { max_tokens: undefined, system: 'Be brief.' };
    const path = '/v1/messages/count_tokens';
    const response = await postMessages(setup.app, body, { path, headers: { 'x-api-key': key.secret } });
    expect([response.status, await response.json(), response.headers.get('x-token-count')]).toEqual([
      200,
      { input_tokens: 77 },
      null,
    ]);
    expect(sent()).toMatchObject({
      path: '/v1/messages/count_tokens',
      body: { model: 'claude-stub', system: 'Be brief.' },
    });
    expect(await chatsOf(setup.app, key.record.id)).toEqual([]);
  });

  it('lists models with display names at the address of coding agents', async () => {
    const response = await fetch(`${setup.app.origin}/v1/models?limit=1000`, { redirect: 'error' });
    const { data } = (await response.json()) as { data: { id: string; display_name: string }[] };
    expect(data.find(({ id }) => id === 'anthropic/claude-haiku-4.5')).toMatchObject({
      display_name: 'Anthropic: Claude Haiku 4.5',
    });
  });

  it('answers a coding agent that looks whether there is a service', async () => {
    const response = await fetch(`${setup.app.origin}/`, { method: 'HEAD', redirect: 'error' });
    expect(response.status).toBe(200);
  });
});

describe('the SDK', () => {
  it('builds a message of a stream with a thought and a call', async () => {
    const stream = clientOf().messages.stream({
      model: CLAUDE,
      max_tokens: 2_000,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig-of-the-thought' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'toolu_01', name: 'look_up' },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 2_000, output_tokens: 1_000 });
  });

  it('raises errors with their status', async () => {
    const call = clientOf({ apiKey: 'sk-wrong' }).messages.create({
      model: CLAUDE,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await expect(call).rejects.toMatchObject({ status: 401 });
  });

  it('counts tokens', async () => {
    const counted = await clientOf().messages.countTokens({
      model: CLAUDE,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(counted.input_tokens).toBe(77);
  });
});
