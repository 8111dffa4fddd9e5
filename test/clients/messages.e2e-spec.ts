// The Messages wire as the real clients speak it: Anthropic's SDK of both majors, the AI SDK and LangChain (docs/contract.md#messages).
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import Anthropic0 from 'anthropic0';
import { delta, usageOnly } from '../support/chat/chat-events.js';
import { eventually } from '../support/eventually.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../support/messages/messages-app.js';
import type { MessagesApp } from '../support/messages/messages-app.js';
import {
  countWithoutEnd,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  RICH_EVENTS,
  streamMessages,
  textBlock,
} from '../support/messages/messages-stub.js';
import { chatOf, chatsOf, streamOf } from '../support/upstreams/chat-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => {
  setup.chat.answerWith(null);
  setup.anthropic.answerWith(null);
});
afterAll(() => setup.close());

const SCHEMA = { type: 'object', properties: { id: { type: 'number' } } } as const;
const LOOK = { name: 'look_up', input_schema: SCHEMA };
/** As long as the usage of the stub states. */
const LONG = 'x'.repeat(88_000);
const at = (model: string) => (model === CLAUDE ? setup.anthropic : setup.chat).requests.at(-1)!;

/** A thought, a text and a call; then an answer. */
function answerInTwoSteps(): void {
  let step = 0;
  setup.anthropic.answerWith((request, response) => {
    const end = [messageDelta('end_turn', { output_tokens: 10 }), MESSAGE_STOP];
    const last = [
      messageStart({ input_tokens: 100, output_tokens: 1 }),
      ...textBlock(0, 'It is red.'),
      ...end,
    ];
    streamMessages(step++ === 0 ? RICH_EVENTS : last)(request, response);
  });
  let turn = 0;
  setup.chat.answerWith((request, response) => {
    const called = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'look_up', arguments: '{"id":7}' },
    };
    const first = [
      delta({ reasoning_content: 'Let me see.' }),
      delta({ content: 'Hello' }),
      delta({ tool_calls: [called] }),
      delta({}, 'tool_calls'),
    ];
    const last = [delta({ content: 'It is red.' }), delta({}, 'stop')];
    return streamOf(...(turn++ === 0 ? first : last), usageOnly(100, 10), '[DONE]')(request, response);
  });
}

// Anthropic: 34,500 and 300, in front of Chat 300 and 300 millionths of a dollar.
const COSTS: Readonly<Record<string, readonly bigint[]>> = {
  [CLAUDE]: [34_500_000_000n, 300_000_000n],
  [OPEN_MODEL]: [300_000_000n, 300_000_000n],
};
const costsOf = async (keyId: string): Promise<(bigint | null)[]> => {
  const calls = await eventually(
    () => chatsOf(setup.app, keyId),
    ({ length }) => length === 2,
  );
  return calls.map(({ cost }) => cost);
};

describe.each([
  ['newest', (apiKey: string) => new Anthropic({ apiKey, baseURL: setup.app.origin, maxRetries: 0 })],
  [
    'last 0.x',
    (apiKey: string) =>
      new Anthropic0({ apiKey, baseURL: setup.app.origin, maxRetries: 0 }) as unknown as Anthropic,
  ],
])("Anthropic's SDK, the %s", (_version, clientOf) => {
  it.each([CLAUDE, OPEN_MODEL])(
    'thinks, calls a tool and answers at %s, priced to the last digit',
    async (model) => {
      const { secret, record } = await setup.app.createKey();
      const client = clientOf(secret);
      answerInTwoSteps();
      const asked: MessageParam = { role: 'user', content: model === CLAUDE ? LONG : 'Which colour?' };
      const body = { model, max_tokens: 2_000, tools: [LOOK] };
      const thoughts: string[] = [];
      const stream = client.messages.stream({ ...body, messages: [asked] });
      stream.on('thinking', (thought) => thoughts.push(thought));
      const first = await stream.finalMessage();
      expect(thoughts.join('')).toBe('Let me see.');
      expect(first).toMatchObject({
        stop_reason: 'tool_use',
        content: [
          { type: 'thinking' },
          { type: 'text', text: 'Hello' },
          { type: 'tool_use', name: 'look_up' },
        ],
      });
      const call = first.content.at(-1) as { id: string };
      const second = await client.messages
        .stream({
          ...body,
          messages: [
            asked,
            { role: 'assistant', content: first.content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'red' }] },
          ],
        })
        .finalMessage();
      expect(second.content).toMatchObject([{ type: 'text', text: 'It is red.' }]);
      expect(await costsOf(record.id)).toEqual(COSTS[model]);
      // The signature of a foreign thought is recognised and goes nowhere.
      expect(at(model).text).not.toContain('sbx1');
    },
  );

  it('pays for a turn that it cancels as far as it came', async () => {
    const { secret, record } = await setup.app.createKey();
    setup.anthropic.answerWith(countWithoutEnd(11));
    const stream = clientOf(secret).messages.stream({
      model: CLAUDE,
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Count.' }],
    });
    let text = '';
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
      if (text === 'One two three ') break;
    }
    const { chat, cost } = await chatOf(setup.app, record.id);
    expect(chat).toMatchObject({ isCancelled: true, usageSource: 'counted', wire: 'messages' });
    expect(cost).toBe(11n * 2_000_000n + BigInt(chat!.completionTokens) * 10_000_000n);
  });

  it('raises errors of its own kinds', async () => {
    const body = { model: CLAUDE, max_tokens: 10, messages: [] };
    await expect(clientOf(setup.app.apiKey).messages.create(body)).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    });
    await expect(clientOf('sk-wrong').messages.create(body)).rejects.toMatchObject({ status: 401 });
  });
});

describe('the AI SDK', () => {
  it.each([CLAUDE, OPEN_MODEL])(
    'thinks, runs a tool and answers at %s, priced to the last digit',
    async (model) => {
      const { secret, record } = await setup.app.createKey();
      answerInTwoSteps();
      const anthropic = createAnthropic({ baseURL: `${setup.app.origin}/v1`, apiKey: secret });
      const result = streamText({
        model: anthropic(model),
        prompt: model === CLAUDE ? LONG : 'Which colour?',
        maxRetries: 0,
        maxOutputTokens: 2_000,
        stopWhen: stepCountIs(3),
        tools: {
          look_up: tool({ inputSchema: jsonSchema<{ id: number }>({ ...SCHEMA }), execute: () => 'red' }),
        },
      });
      expect(await result.text).toBe('It is red.');
      const [first] = await result.steps;
      expect(first?.reasoningText).toBe('Let me see.');
      expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(await costsOf(record.id)).toEqual(COSTS[model]);
    },
  );
});

describe('LangChain', () => {
  it.each([CLAUDE, OPEN_MODEL])('calls a tool and answers at %s, priced to the last digit', async (model) => {
    const { secret, record } = await setup.app.createKey();
    answerInTwoSteps();
    const chat = new ChatAnthropic({
      model,
      apiKey: secret,
      anthropicApiUrl: setup.app.origin,
      maxRetries: 0,
      maxTokens: 2_000,
      streaming: true,
    }).bindTools([LOOK]);
    const asked = new HumanMessage(model === CLAUDE ? LONG : 'Which colour?');
    const first = await chat.invoke([asked]);
    const [call] = first.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'look_up' });
    const result = new ToolMessage({ tool_call_id: call?.id ?? '', content: 'red' });
    const second = await chat.invoke([asked, first, result]);
    expect(second.text).toBe('It is red.');
    expect(await costsOf(record.id)).toEqual(COSTS[model]);
  });
});
