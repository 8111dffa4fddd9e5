// POST /messages before Google's own wire (docs/contract.md#gemini-providers).
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PLACEHOLDER } from '../../support/gemini/gemini-checks.js';
import { BOTH_WIRES, GEMINI, startGeminiApp } from '../../support/gemini/gemini-app.js';
import type { GeminiApp } from '../../support/gemini/gemini-app.js';
import { answerChunks, geminiChunk, SIGNATURE } from '../../support/gemini/gemini-stub.js';
import { eventsOf, postMessages } from '../../support/messages/messages-app.js';
import { chatOf } from '../../support/upstreams/chat-upstream.js';

let setup: GeminiApp;
beforeAll(async () => {
  setup = await startGeminiApp();
});
afterEach(() => setup.google.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.google.requests.at(-1)!;
const post = (body: object, headers = {}) => postMessages(setup.app, { model: GEMINI, ...body }, { headers });
const clientOf = (): Anthropic =>
  new Anthropic({ apiKey: setup.app.apiKey, baseURL: setup.app.origin, maxRetries: 0 });
const USER = { role: 'user' as const, content: 'hi' };
const TOOLS = [
  {
    name: 'look_up',
    input_schema: {
      type: 'object' as const,
      $defs: { id: { type: 'integer' } },
      properties: { id: { anyOf: [{ $ref: '#/$defs/id' }, { type: 'null' }] } },
      additionalProperties: false,
    },
  },
];

describe('a conversation of the SDK', () => {
  it('keeps the signature of a call in a thinking block before it', async () => {
    const ask = { model: GEMINI, max_tokens: 2_000, tools: TOOLS, system: 'x'.repeat(500) };
    const first = await clientOf()
      .messages.stream({ ...ask, messages: [USER], thinking: { type: 'adaptive' } })
      .finalMessage();
    expect(first.content).toMatchObject([
      { type: 'thinking', thinking: 'Let me see.', signature: 'sbx1.none' },
      { type: 'text', text: 'Hello' },
      { type: 'thinking', thinking: '', signature: expect.stringMatching(/^sbx1\.gemini\./) },
      { type: 'tool_use', id: 'fc-1', input: { id: 1 } },
      { type: 'tool_use', id: 'fc-2', input: { id: 2 } },
    ]);
    expect([first.stop_reason, first.usage.output_tokens]).toEqual(['tool_use', 320]);
    const results = ['fc-2', 'fc-1'].map((id) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: id,
    }));
    const history = [
      USER,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [...results, { type: 'text' as const, text: 'Go on.' }] },
    ];
    const second = await clientOf().messages.create({ ...ask, messages: history });
    expect(second.content[1]).toMatchObject({ type: 'text', text: 'Hello' });
    expect(sent().body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'Hello' },
          { functionCall: { id: 'fc-1', name: 'look_up', args: { id: 1 } }, thoughtSignature: SIGNATURE },
          { functionCall: { id: 'fc-2', name: 'look_up', args: { id: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'fc-1', name: 'look_up', response: { output: 'fc-1' } } },
          { functionResponse: { id: 'fc-2', name: 'look_up', response: { output: 'fc-2' } } },
          { text: 'Go on.' },
        ],
      },
    ]);
    expect(sent().body['tools']).toMatchObject([
      {
        functionDeclarations: [
          {
            parametersJsonSchema: {
              properties: { id: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
              additionalProperties: false,
            },
          },
        ],
      },
    ]);
  });

  it("of Claude's calls gets the placeholder on the first call of each turn only", async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'look_up', input: {} });
    const results = (...ids: string[]) => ({
      role: 'user',
      content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
    });
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig-of-claude' };
    const key = await setup.app.createKey();
    const messages = [
      USER,
      { role: 'assistant', content: [thinking, call('toolu_1'), call('toolu_2')] },
      results('toolu_1', 'toolu_2'),
      { role: 'assistant', content: [call('toolu_3')] },
      results('toolu_3'),
    ];
    expect((await post({ tools: TOOLS, messages }, { 'x-api-key': key.secret })).status).toBe(200);
    const contents = sent().body['contents'] as { role: string; parts: { thoughtSignature?: string }[] }[];
    const signatures = contents
      .filter(({ role }) => role === 'model')
      .map(({ parts }) => parts.map(({ thoughtSignature }) => thoughtSignature));
    expect(signatures).toEqual([[PLACEHOLDER, undefined], [PLACEHOLDER]]);
    expect(sent().text).not.toContain('sig-of-claude');
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['messages.content.thinking']);
  });

  it('records no lost thought where every one comes back', async () => {
    const message = (await (await post({ tools: TOOLS, system: 'x'.repeat(500) })).json()) as {
      content: { type: string; signature?: string }[];
    };
    const content = message.content.filter(({ signature }) => signature !== 'sbx1.none');
    const results = ['fc-1', 'fc-2'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }));
    const key = await setup.app.createKey();
    const messages = [USER, { role: 'assistant', content }, { role: 'user', content: results }];
    const body = { tools: TOOLS, messages, provider: { require_parameters: true } };
    expect((await post(body, { 'x-api-key': key.secret })).status).toBe(200);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers ?? []).toEqual([]);
  });
});

describe('a request', () => {
  it('becomes contents with images, a thinking level and a forced tool', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    const response = await post({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'Look.' },
          ],
        },
      ],
      tools: TOOLS,
      tool_choice: { type: 'tool', name: 'look_up' },
      thinking: { type: 'enabled', budget_tokens: 1_800 },
      stop_sequences: ['END'],
    });
    expect(response.status).toBe(200);
    expect(sent().body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }, { text: 'Look.' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look_up'] } },
      generationConfig: {
        maxOutputTokens: 2_000,
        stopSequences: ['END'],
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
      },
    });
  });

  it("takes an endpoint's own wire of Google where it speaks Chat as well", async () => {
    expect((await post({ model: BOTH_WIRES })).status).toBe(200);
    expect(sent().path).toBe('/v1beta/models/gemini-3-stub:generateContent');
  });

  it('is counted by Google, without a call', async () => {
    const { data, response } = await clientOf()
      .messages.countTokens({ model: GEMINI, messages: [USER], tools: TOOLS })
      .withResponse();
    expect([data.input_tokens, response.headers.get('x-token-count')]).toEqual([77, null]);
    expect(sent().path).toBe('/v1beta/models/gemini-3-stub:countTokens');
  });

  it('is counted here where Google would refuse it', async () => {
    const messages = [USER, { role: 'assistant' as const, content: 'One,' }];
    const { data, response } = await clientOf()
      .messages.countTokens({ model: GEMINI, messages })
      .withResponse();
    expect([data.input_tokens > 0, response.headers.get('x-token-count')]).toEqual([true, 'estimated']);
    const refused = await post({ messages });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('messages[1]')]);
  });
});

describe('a stream', () => {
  it('begins with the counted prompt, and ends with the charged usage', async () => {
    const events = await eventsOf(await post({ stream: true, system: 'x'.repeat(500) }));
    const start = events[0]?.data['message'] as { usage: { input_tokens: number } };
    expect(start.usage.input_tokens).toBeGreaterThan(0);
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: {
        input_tokens: 100,
        output_tokens: 320,
        output_tokens_details: { thinking_tokens: 300 },
        cost: 0.003325,
      },
    });
  });

  it('of a text ends with the text: its signature need not come back', async () => {
    setup.google.answerWith(
      answerChunks(
        geminiChunk([{ text: 'Hello' }]),
        geminiChunk([{ text: '', thoughtSignature: SIGNATURE }], { finishReason: 'STOP' }),
      ),
    );
    const events = await eventsOf(await post({ stream: true, system: 'x'.repeat(500) }));
    const starts = events.filter(({ event }) => event === 'content_block_start');
    expect(starts.map(({ data }) => (data['content_block'] as { type: string }).type)).toEqual(['text']);
  });

  it('fails with an event of the wire where Google fails in the middle', async () => {
    setup.google.answerWith(
      answerChunks(geminiChunk([{ text: 'Hel' }]), {
        error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
      }),
    );
    const events = await eventsOf(await post({ stream: true }));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: { type: 'overloaded_error' } } });
  });
});
