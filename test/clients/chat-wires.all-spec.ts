// Real clients that stream from every provider through the service: its stubs have the vendors' own forms of chunks, usage
// and tool calls.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CHAT_CLIENTS } from '../support/chat-clients.js';
import { INTERLEAVED_CALLS, INTERLEAVED_FUNCTIONS } from '../support/chat-providers/chat-stub.js';
import { CHAT_WIRES, modelAt } from '../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../support/chat-providers/every-chat-provider-app.js';
import type { ChatWireName } from '../support/chat-providers/every-chat-provider.js';
import type { EveryChatProviderApp } from '../support/chat-providers/every-chat-provider-app.js';

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider();
});
afterEach(() => setup.reset());
afterAll(() => setup.close());

const callOf = (wire: ChatWireName) => ({
  baseUrl: setup.app.baseUrl,
  apiKey: setup.app.apiKey,
  model: modelAt(wire),
});

describe.each(Object.entries(CHAT_CLIENTS))('%s', (_name, stream) => {
  it.each(CHAT_WIRES)('reads a text of %s with its usage', async (wire) => {
    const read = await stream(callOf(wire));
    expect(read).toEqual({
      text: 'Hello there',
      finishReason: 'stop',
      calls: [],
      promptTokens: 9,
      completionTokens: 2,
    });
  });

  it.each(CHAT_WIRES)('assembles two tool calls of %s', async (wire) => {
    setup.providers.stubOf(wire).answerWith(INTERLEAVED_CALLS);
    const tools = INTERLEAVED_FUNCTIONS.map(({ name }) => name);
    const read = await stream({ ...callOf(wire), tools });
    const calls = read.calls.map(({ name, arguments: text }) => ({ name, arguments: text }));
    // Some clients list a call as soon as its arguments are complete.
    expect(calls).toHaveLength(2);
    expect(calls).toEqual(expect.arrayContaining(INTERLEAVED_FUNCTIONS));
    const ids = read.calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain('');
    expect(read).toMatchObject({ finishReason: 'tool-calls', promptTokens: 40, completionTokens: 12 });
  });
});
