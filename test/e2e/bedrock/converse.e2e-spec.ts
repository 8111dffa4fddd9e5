// Models of Bedrock's Converse wire before clients of every wire (docs/contract.md#converse-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { NOVA, startBedrockApp } from '../../support/bedrock/bedrock-app.js';
import type { BedrockApp } from '../../support/bedrock/bedrock-app.js';
import {
  converseFrames,
  refuse,
  streamFrames,
  USAGE,
  WHOLE_CONVERSE,
} from '../../support/bedrock/bedrock-stub.js';
import { eventFrame, exceptionFrame } from '../../support/bedrock/frames.js';
import { eventsOf, postMessages } from '../../support/messages/messages-app.js';
import { postResponses, responseEvents, responseOf } from '../../support/responses/responses-client.js';
import { chatOf } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

/** 2,000 tokens of the prompt and 1,000 of the answer. */
const COST = 0.014;
const LOOK = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { properties: { id: { type: 'integer' } } } },
};

let setup: BedrockApp;
beforeAll(async () => {
  setup = await startBedrockApp();
});
afterEach(() => setup.bedrock.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.bedrock.requests.at(-1)!;
const chat = (body: object): Promise<Response> =>
  fetch(`${setup.app.origin}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.app.apiKey}` },
    body: JSON.stringify({ model: NOVA, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
const messages = (body: object): Promise<Response> => postMessages(setup.app, { model: NOVA, ...body });
const responses = (body: object): Promise<Response> =>
  postResponses(setup.app, { model: NOVA, input: 'hi', ...body });
const chunksOf = async (response: Response): Promise<Record<string, unknown>[]> =>
  (await response.text())
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>);

describe('a call that is signed', () => {
  it('costs the same for a client of every wire, streamed and whole', async () => {
    const whole = [await chat({}), await messages({}), await responses({})];
    const usages = await Promise.all(
      whole.map(async (response) => ((await response.json()) as { usage: { cost: number } }).usage.cost),
    );
    expect(usages).toEqual([COST, COST, COST]);
    const chunks = await chunksOf(await chat({ stream: true }));
    const events = await eventsOf(await messages({ stream: true }));
    const items = await responseEvents(await responses({ stream: true }));
    expect(chunks.at(-1)).toMatchObject({ usage: { cost: COST } });
    expect(events.find(({ event }) => event === 'message_delta')?.data).toMatchObject({
      usage: { cost: COST },
    });
    expect(responseOf(items).usage).toMatchObject({ cost: COST });
    expect(sent().path).toBe('/model/amazon.nova-stub-v1%3A0/converse-stream');
  });

  it('sends the settings under the names of the wire, and records what is lost', async () => {
    const response = await chat({
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop: 'END',
      seed: 7,
      reasoning: { effort: 'high' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'Answer', schema: { type: 'object', properties: {} } },
      },
    });
    expect(response.status).toBe(200);
    expect(sent().body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
      outputConfig: {
        effort: 'high',
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { schema: '{"type":"object","properties":{}}', name: 'Answer' } },
        },
      },
    });
  });
});

describe('a prompt', () => {
  it('has turns that alternate, results before words, media and marks of the cache as elements', async () => {
    const response = await chat({
      tools: [{ ...LOOK, cache_control: { type: 'ephemeral' } }],
      tool_choice: 'required',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Brief.', cache_control: { type: 'ephemeral' } }] },
        { role: 'user', content: '  ' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } }],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'look', arguments: '{"id":12345678901234567890}' },
            },
            { id: 'call:2', type: 'function', function: { name: 'look', arguments: '' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: '',
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
        { role: 'tool', tool_call_id: 'call:2', content: 'two' },
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'a/b?.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
            },
            {
              type: 'file',
              file: { filename: 'a/b?.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
            },
          ],
        },
      ],
    });
    expect(await response.json()).not.toHaveProperty('error');
    expect(sent().text).toContain('"input":{"id":12345678901234567890}');
    const [, other] = (sent().body['messages'] as { content: { toolUse: { toolUseId: string } }[] }[])[1]!
      .content;
    const made = other!.toolUse.toolUseId;
    expect(sent().body).toMatchObject({
      system: [{ text: 'Brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        { role: 'user', content: [{ image: { format: 'png', source: { bytes: 'iVBORw==' } } }] },
        {
          role: 'assistant',
          content: [
            { toolUse: { toolUseId: 'call_1', name: 'look' } },
            { toolUse: { toolUseId: made, name: 'look', input: {} } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'call_1', content: [{ text: '' }] } },
            { cachePoint: { type: 'default', ttl: '1h' } },
            { toolResult: { toolUseId: made, content: [{ text: 'two' }] } },
            { document: { format: 'pdf', name: 'a-b-pdf', source: { bytes: 'JVBERg==' } } },
            { document: { format: 'pdf', name: 'a-b-pdf 2' } },
          ],
        },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'look',
              description: 'Looks.',
              inputSchema: { json: { type: 'object', properties: { id: { type: 'integer' } } } },
            },
          },
          { cachePoint: { type: 'default' } },
        ],
        toolChoice: { any: {} },
      },
    });
    expect(made).toMatch(/^[\w-]{1,64}$/);
  });

  it('defines the tools of its history again where the caller declares none', async () => {
    const response = await messages({
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'one' }] },
      ],
    });
    expect(response.status).toBe(200);
    expect(sent().body['toolConfig']).toEqual({
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
    });
  });

  it('is refused where it begins with the assistant', async () => {
    const before = setup.bedrock.requests.length;
    const response = await chat({ messages: [{ role: 'assistant', content: 'I am.' }] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('messages') } });
    expect(setup.bedrock.requests).toHaveLength(before);
  });
});

describe('an answer', () => {
  const RICH = [
    eventFrame('messageStart', { role: 'assistant' }),
    ...['Let me ', 'see.'].map((text) =>
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text } } }),
    ),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { signature: 'sig-1' } },
    }),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('contentBlockStart', {
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: 'tooluse_1', name: 'look' } },
    }),
    ...['{"id":', '7}'].map((input) =>
      eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input } } }),
    ),
    eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
    eventFrame('messageStop', { stopReason: 'tool_use' }),
    eventFrame('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
  ];

  it('returns thoughts with their signatures to their producer, whatever the wire of the client', async () => {
    setup.bedrock.answerWith(streamFrames(...RICH));
    const events = await eventsOf(await messages({ stream: true }));
    const signature = events
      .map(({ data }) => (data['delta'] as { signature?: string } | undefined)?.signature)
      .find((found) => found !== undefined);
    expect(signature).toMatch(/^sbx1\.bedrock\./);
    const chunks = await chunksOf(await chat({ stream: true }));
    const details = chunks.flatMap(
      ({ choices }) =>
        (choices as { delta?: { reasoning_details?: object[] } }[])[0]?.delta?.reasoning_details ?? [],
    );
    expect(details.at(-1)).toMatchObject({ format: 'amazon-bedrock-v1', signature: 'sig-1' });
    setup.bedrock.answerWith(null);
    const thought = { reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'sig-1' } } };
    const answered = [
      { type: 'tool_use', id: 'tooluse_1', name: 'look', input: { id: 7 } },
      { type: 'tool_result', tool_use_id: 'tooluse_1', content: 'seven' },
    ];
    await messages({
      messages: [
        { role: 'user', content: 'look' },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'Let me see.', signature }, answered[0]],
        },
        { role: 'user', content: [answered[1]] },
      ],
    });
    expect(sent().body['messages']).toMatchObject([{}, { content: [thought, { toolUse: {} }] }, {}]);
    await chat({
      messages: [
        { role: 'user', content: 'look' },
        {
          role: 'assistant',
          content: null,
          reasoning_details: details,
          tool_calls: [
            { id: 'tooluse_1', type: 'function', function: { name: 'look', arguments: '{"id":7}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'tooluse_1', content: 'seven' },
      ],
    });
    expect(sent().body['messages']).toMatchObject([{}, { content: [thought, { toolUse: {} }] }, {}]);
  });

  it.each([
    ['', 'messages.content.thinking'],
    ['sbx1.none', 'messages.content.thinking'],
    ['sig-of-another-vendor', 'messages.reasoning_details'],
  ])(
    'is asked for without a thought that has the signature %j, which is left out and recorded as %s',
    async (signature, edit) => {
      const key = await setup.app.createKey();
      const response = await postMessages(
        setup.app,
        {
          model: NOVA,
          messages: [
            { role: 'user', content: 'hi' },
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'mine', signature },
                { type: 'text', text: 'ok' },
              ],
            },
            { role: 'user', content: 'go' },
          ],
        },
        { headers: { 'x-api-key': key.secret } },
      );
      expect(response.status).toBe(200);
      expect(sent().body['messages']).toMatchObject([{}, { content: [{ text: 'ok' }] }, {}]);
      expect(sent().text).not.toMatch(/signature|mine/);
      const { attempts } = await chatOf(setup.app, key.record.id);
      expect(attempts[0]?.droppedMembers).toContain(edit);
    },
  );

  it('names the tokens that were written to the cache to clients of Responses, at their price', async () => {
    const usage = { inputTokens: 200, outputTokens: 0, cacheWriteInputTokens: 1_000, totalTokens: 1_200 };
    setup.bedrock.answerWith((_request, response) => sendJson(response, 200, { ...WHOLE_CONVERSE, usage }));
    const response = await responses({ input: 'x'.repeat(5_000) });
    // 200 at 2 and 1,000 at 2.5 USD a million.
    expect(await response.json()).toMatchObject({
      usage: { input_tokens: 1_200, input_tokens_details: { cache_write_tokens: 1_000 }, cost: 0.0029 },
    });
  });

  it.each([
    ['beside the input', { totalTokens: 10_500 }],
    ['inside of the input', { inputTokens: 9_500, totalTokens: 10_500 }],
  ])('prices the tokens of the cache %s by the total that the provider states', async (_where, more) => {
    setup.bedrock.answerWith((_request, response) =>
      sendJson(response, 200, {
        ...WHOLE_CONVERSE,
        usage: {
          inputTokens: 500,
          outputTokens: 1_000,
          cacheReadInputTokens: 4_000,
          cacheWriteInputTokens: 5_000,
          cacheDetails: [
            { ttl: '5m', inputTokens: 2_000 },
            { ttl: '1h', inputTokens: 3_000 },
          ],
          ...more,
        },
      }),
    );
    const mark = { type: 'ephemeral', ttl: '1h' };
    const content = [{ type: 'text', text: 'x'.repeat(40_000), cache_control: mark }];
    const response = await chat({ messages: [{ role: 'user', content }] });
    const { usage } = (await response.json()) as { usage: { cost: number; prompt_tokens: number } };
    // 500 fresh, 4,000 read, 2,000 and 3,000 written, 1,000 of the answer.
    expect(usage).toMatchObject({ prompt_tokens: 9_500, cost: 0.0284 });
  });

  it('tries no frame with a wrong checksum as an answer, and charges nothing', async () => {
    const [first, ...others] = converseFrames({ text: 'Hello' });
    const flipped = Buffer.from(first!);
    for (const at of [2, first!.length - 6]) {
      const broken = Buffer.from(flipped);
      broken[at] = broken[at]! ^ 1;
      setup.bedrock.answerWith(streamFrames(broken, ...others));
      const response = await chat({ stream: true });
      expect(response.status).toBe(502);
    }
    setup.bedrock.answerWith(streamFrames(...others.slice(0, 1), others[1]!.subarray(0, 20)));
    const cut = await chat({ stream: true });
    expect(await cut.text()).toContain('"finish_reason":"error"');
  });

  it('says overloaded for an exception of the stream, before and after content', async () => {
    setup.bedrock.answerWith(streamFrames(exceptionFrame('throttlingException', 'Too many tokens')));
    const before = await messages({ stream: true });
    expect(before.status).toBe(429);
    setup.bedrock.answerWith(
      streamFrames(
        ...converseFrames({ text: 'Hel' }).slice(0, 2),
        exceptionFrame('serviceUnavailableException', 'busy'),
      ),
    );
    const after = await eventsOf(await messages({ stream: true }));
    expect(after.at(-1)).toMatchObject({ event: 'error', data: { error: { type: 'overloaded_error' } } });
  });

  it('repeats the words of a refusal', async () => {
    setup.bedrock.answerWith((_request, response) =>
      refuse(response, 400, 'ValidationException', 'The model does not take images.'),
    );
    const response = await chat({});
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('The model does not take images.');
  });
});
