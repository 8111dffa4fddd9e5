// POST /chat/completions before Google's own wire (docs/contract.md#gemini-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { PLACEHOLDER } from '../../support/gemini/gemini-checks.js';
import { BOTH_WIRES, GEMINI, startGeminiApp } from '../../support/gemini/gemini-app.js';
import type { GeminiApp } from '../../support/gemini/gemini-app.js';
import {
  answerChunks,
  geminiCall,
  geminiChunk,
  geminiSse,
  sendGoogleError,
  SIGNATURE,
} from '../../support/gemini/gemini-stub.js';
import { answerChat, chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';

let setup: GeminiApp;
beforeAll(async () => {
  setup = await startGeminiApp();
});
afterEach(() => setup.google.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.google.requests.at(-1)!;
const post = (body: object, options = {}) => postChat(setup.app, { model: GEMINI, ...body }, options);
const stream = (body: object = {}, options = {}) =>
  streamChat(setup.app, { model: GEMINI, ...body }, options);
const USER = { role: 'user', content: 'hi' };
const TOOLS = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
/** Its usage is below the bound of a prompt of so many characters. */
const longPrompt = (characters: number) => ({
  messages: [{ role: 'user', content: 'x'.repeat(characters) }],
});

interface Message {
  readonly content: string | null;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly object[];
  readonly tool_calls?: readonly { readonly id: string }[];
}
const messageOf = async (response: Response): Promise<Message> => {
  const { choices } = (await response.json()) as { choices: { message: Message }[] };
  return choices[0]!.message;
};

describe('a conversation with tools', () => {
  it('keeps the signature of a call on its call, streamed and whole', async () => {
    const first = await messageOf(await post({ tools: TOOLS, ...longPrompt(500) }));
    expect(first).toMatchObject({
      content: 'Hello',
      reasoning: 'Let me see.',
      tool_calls: [{ id: 'fc-1' }, { id: 'fc-2' }],
    });
    const results = (first.tool_calls ?? []).map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: '{"found":true}',
    }));
    const messages = [...longPrompt(500).messages, { role: 'assistant', ...first }, ...results];
    const second = await stream({ tools: TOOLS, messages });
    expect(second).toMatchObject({ status: 200, text: 'Hello' });
    expect(sent()).toMatchObject({
      path: '/v1beta/models/gemini-3-stub:streamGenerateContent?alt=sse',
      body: {
        contents: [
          { role: 'user' },
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
              { functionResponse: { id: 'fc-1', name: 'look_up', response: { found: true } } },
              { functionResponse: { id: 'fc-2', name: 'look_up', response: { found: true } } },
            ],
          },
        ],
      },
    });
  });

  it('of another model gets the placeholder on the first call of its turn', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look_up', arguments: '{}' } });
    const details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, text: 'Hm.', signature: 'sig' },
    ];
    const assistant = {
      role: 'assistant',
      content: null,
      tool_calls: [call('toolu_1'), call('toolu_2')],
      reasoning_details: details,
    };
    const results = ['toolu_1', 'toolu_2'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
    const key = await setup.app.createKey();
    const body = { tools: TOOLS, messages: [USER, assistant, ...results] };
    expect((await post(body, { key: key.secret })).status).toBe(200);
    const { parts } = (sent().body['contents'] as { parts: { thoughtSignature?: string }[] }[])[1]!;
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([PLACEHOLDER, undefined]);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['messages.reasoning_details']);
  });
});

describe('a stream', () => {
  it('has every part in the form of Chat, and ends with [DONE]', async () => {
    const { events, text } = await stream(longPrompt(500));
    expect([text, events.at(-1)]).toEqual(['Hello', '[DONE]']);
    const chunks = events.filter((event) => event !== '[DONE]');
    const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
    expect(reasons).toEqual(['tool_calls']);
  });

  it('charges cached tokens once, to the last digit (litellm #14849)', async () => {
    const usage = {
      promptTokenCount: 262_960,
      cachedContentTokenCount: 257_955,
      candidatesTokenCount: 1_744,
      totalTokenCount: 264_704,
    };
    setup.google.answerWith(
      answerChunks(
        geminiChunk([{ text: 'Hel' }], {}, { promptTokenCount: 262_960, totalTokenCount: 262_960 }),
        geminiChunk([{ text: 'lo' }], { finishReason: 'STOP' }, usage),
      ),
    );
    const key = await setup.app.createKey();
    await stream(longPrompt(300_000), { key: key.secret });
    const { cost, promptTokens, chat } = await chatOf(setup.app, key.record.id);
    expect([cost, promptTokens, chat?.cachedTokens]).toEqual([184_918_125_000n, 262_960, 257_955]);
  });

  it('charges thoughts as output once, although five chunks repeat the usage', async () => {
    const usage = {
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 300,
      totalTokenCount: 420,
    };
    const chunks = Array.from({ length: 4 }, () => geminiChunk([{ text: 'a' }], {}, usage));
    setup.google.answerWith(
      answerChunks(...chunks, geminiChunk([{ text: 'b' }], { finishReason: 'STOP' }, usage)),
    );
    const key = await setup.app.createKey();
    const { events } = await stream(longPrompt(500), { key: key.secret });
    expect(events.at(-2)).toMatchObject({
      usage: {
        prompt_tokens: 100,
        completion_tokens: 320,
        total_tokens: 420,
        completion_tokens_details: { reasoning_tokens: 300 },
        cost: 0.003325,
      },
    });
    expect((await chatOf(setup.app, key.record.id)).cost).toBe(3_325_000_000n);
  });

  it('is read to its end when its client leaves, and charged as reported', async () => {
    let finish: (() => void) | null = null;
    setup.google.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(geminiSse([geminiChunk([{ text: 'One ' }])]));
      finish = () => response.end(geminiSse([geminiChunk([{ text: 'two' }], { finishReason: 'STOP' })]));
    });
    const key = await setup.app.createKey();
    const controller = new AbortController();
    const options = { key: key.secret, signal: controller.signal };
    const response = await post({ stream: true, ...longPrompt(500) }, options);
    await response.body?.getReader().read();
    controller.abort();
    await eventually(
      () => setup.app.http.get('/metrics'),
      ({ text }) => text.includes('signalbox_chat_open_drains 1'),
    );
    (finish as (() => void) | null)?.();
    const { cost, chat } = await chatOf(setup.app, key.record.id);
    expect([cost, chat?.isCancelled, chat?.usageSource]).toEqual([3_325_000_000n, true, 'reported']);
  });

  it('of a blocked prompt is filtered, and costs the prompt only', async () => {
    setup.google.answerWith(
      answerChunks({
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 80, totalTokenCount: 80 },
      }),
    );
    const key = await setup.app.createKey();
    const { events } = await stream(longPrompt(500), { key: key.secret });
    expect(events[0]).toMatchObject({ choices: [{ delta: { content: '' } }] });
    const { cost, chat } = await chatOf(setup.app, key.record.id);
    expect([cost, chat?.finishReason, chat?.nativeFinishReason]).toEqual([
      100_000_000n,
      'content_filter',
      'PROHIBITED_CONTENT',
    ]);
  });
});

describe('a request', () => {
  it('of a JSON Schema asks for it in the own wire', async () => {
    const schema = {
      type: 'object',
      $defs: { a: { type: 'string' } },
      properties: { a: { $ref: '#/$defs/a' } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'answer', schema } };
    expect((await post({ response_format: format, reasoning: { effort: 'high' } })).status).toBe(200);
    expect(sent().body['generationConfig']).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
      responseMimeType: 'application/json',
      responseJsonSchema: { ...schema, properties: { a: { type: 'string' } } },
    });
  });

  it('goes by bytes to an endpoint that speaks Chat as well', async () => {
    // The stub of Google's own wire refuses the address of the OpenAI-compatible one.
    const response = await post({ model: BOTH_WIRES });
    expect(response.status).toBe(502);
    expect(sent().path).toBe('/v1beta/openai/chat/completions');
  });

  it('ends a stream with an error that comes after the first content', async () => {
    setup.google.answerWith(
      answerChunks(geminiChunk([{ text: 'Hel' }]), {
        error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
      }),
    );
    const { events } = await stream();
    expect(events.at(-2)).toMatchObject({ choices: [{ finish_reason: 'error' }] });
  });

  it('has an id of its own for a call without one', async () => {
    setup.google.answerWith(answerChunks(geminiChunk([geminiCall('look_up', {})], { finishReason: 'STOP' })));
    expect((await messageOf(await post({ tools: TOOLS }))).tool_calls?.[0]?.id).toMatch(
      /^call_[A-Za-z0-9]{24}$/,
    );
  });
});

describe('a server that answers without the wire', () => {
  it('fails the call', async () => {
    setup.google.answerWith(answerChat);
    expect((await post({})).status).toBe(502);
  });
});

describe('an error of Google', () => {
  it.each([
    [400, 'INVALID_ARGUMENT', 'Invalid value at contents', 400],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (2000000) exceeds the maximum number of tokens allowed.',
      400,
    ],
    [403, 'PERMISSION_DENIED', 'no access', 502],
    [404, 'NOT_FOUND', 'no such model', 502],
    [429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted', 429],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 529],
    [500, 'INTERNAL', 'An internal error has occurred', 502],
  ])('with %s %s (%s) answers %s', async (code, status, message, expected) => {
    // A rejected credential rests for a minute at most, as an endpoint does.
    setup.app.clock.advance(60_000);
    setup.google.answerWith((_request, response) => sendGoogleError(response, code, status, message));
    expect((await post({})).status).toBe(expected);
  });
});
