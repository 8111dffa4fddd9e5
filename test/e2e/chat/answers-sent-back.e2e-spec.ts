// Every form of an answer comes back as a message of the next request, at every wire (docs/contract.md#chat-messages).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { postChat } from '../../support/upstreams/chat-upstream.js';
import { CHAT_WIRES, modelAt } from '../../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../../support/chat-providers/every-chat-provider-app.js';
import type { EveryChatProviderApp } from '../../support/chat-providers/every-chat-provider-app.js';

interface Message {
  readonly tool_calls?: readonly { readonly id: string }[];
}

const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };
const CALL = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
const FORMS: Readonly<Record<string, object>> = {
  'a text': { content: 'Hello' },
  'an empty text': { content: '' },
  'parts of text': { content: [{ type: 'text', text: 'Hello' }] },
  'a refusal': { content: null, refusal: 'I cannot.' },
  'tool calls': { content: null, tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
  'a tool call without an id': { content: '', tool_calls: [{ ...CALL, id: '' }] },
  reasoning: { content: 'Hello', reasoning: 'hm' },
  'reasoning content': { content: 'Hello', reasoning_content: 'hm' },
  'reasoning details': {
    content: 'Hello',
    reasoning: 'hm',
    reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
  },
  'absent members as null': { content: 'Hello', refusal: null, reasoning: null, tool_calls: null },
  'members of the vendor': { content: 'Hello', extra_content: { google: { thought_signature: 'x' } } },
};

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider();
});
afterEach(() => setup.reset());
afterAll(() => setup.close());

describe.each(CHAT_WIRES)('%s takes back', (wire) => {
  it.each(Object.entries(FORMS))('%s', async (_title, members) => {
    const stub = setup.providers.stubOf(wire);
    const ask = { model: modelAt(wire), tools: [TOOL] };
    const user = { role: 'user', content: 'Hello' };
    const choices = [{ index: 0, message: { role: 'assistant', ...members }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    stub.replyWith({ status: 200, body: { object: 'chat.completion', choices, usage } });
    const answer = await postChat(setup.app, { ...ask, messages: [user] });
    expect(answer.status).toBe(200);
    const { choices: answered } = (await answer.json()) as { choices: { message: Message }[] };
    const message = answered[0]!.message;
    stub.replyWith(null);
    const results = (message.tool_calls ?? []).map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: '42',
    }));
    const next = await postChat(setup.app, { ...ask, messages: [user, message, ...results, user] });
    expect([next.status, await next.text()]).toEqual([200, expect.any(String)]);
  });
});
