// GET /generation/content: the inputs of a call, while they are stored.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ChatContent } from '../../../src/domain/generations/chat-content.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
let other: TestAccount;
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createAccount();
});
afterAll(() => app.close());

const OUTPUT = { completion: null, reasoning: null };
const content = (items: readonly (string | readonly number[])[], errorMessage: string | null = null) => ({
  items,
  isTruncated: false,
  errorMessage,
});

it('returns one text as a prompt, and several texts or tokens as messages', async () => {
  const [one] = await recordGenerations(app, 1, {}, content(['some words']));
  const [many] = await recordGenerations(app, 1, {}, content(['a', [1, 2]]));
  for (const key of [app.managementKey, app.apiKey]) {
    expect(await askFor(200, app, 'get', `/generation/content?id=${one}`, { key })).toEqual({
      data: { input: { prompt: 'some words' }, output: OUTPUT, error: null, is_truncated: false },
    });
  }
  expect(await askFor(200, app, 'get', `/generation/content?id=${many}`)).toMatchObject({
    data: {
      input: {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [1, 2] },
        ],
      },
    },
  });
});

const ANSWER: ChatContent['choices'][number] = {
  index: 0,
  content: 'A cat.',
  reasoning: 'It purrs.',
  refusal: null,
  toolCalls: [],
  finishReason: 'stop',
  nativeFinishReason: 'stop',
};
const chatOf = (members: Partial<ChatContent>): ChatContent => ({
  messages: [],
  tools: [],
  stop: [],
  responseSchema: null,
  choices: [ANSWER],
  isOutputTruncated: false,
  ...members,
});

it('returns the messages and the first answer of a chat', async () => {
  const messages: ChatContent['messages'] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Look: [image/png, 48213 bytes]' }], name: 'ada' },
  ];
  const choices = [ANSWER, { ...ANSWER, index: 1, content: 'A dog.' }];
  const chat = chatOf({ messages, choices, isOutputTruncated: true });
  const [id] = await recordGenerations(app, 1, { operation: 'chat' }, { ...content([]), chat });
  expect(await askFor(200, app, 'get', `/generation/content?id=${id}`)).toEqual({
    data: {
      input: { messages },
      output: { completion: 'A cat.', reasoning: 'It purrs.' },
      error: null,
      is_truncated: true,
    },
  });
});

it('returns the tool calls of the first answer in the form of the wire', async () => {
  const calls = [
    { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
    { id: 'call_2', name: 'get_time', arguments: '{"zo' },
  ];
  const second = { ...ANSWER, index: 1, toolCalls: [{ id: 'call_3', name: 'other', arguments: '{}' }] };
  const chat = chatOf({
    choices: [{ ...ANSWER, content: null, reasoning: null, toolCalls: calls }, second],
    isOutputTruncated: true,
  });
  const [id] = await recordGenerations(app, 1, { operation: 'chat' }, { ...content([]), chat });
  expect(await askFor(200, app, 'get', `/generation/content?id=${id}`)).toMatchObject({
    data: {
      output: {
        completion: null,
        reasoning: null,
        tool_calls: calls.map(({ id: callId, ...called }) => ({
          id: callId,
          type: 'function',
          function: called,
        })),
      },
      is_truncated: true,
    },
  });
});

it('returns the error of a failure', async () => {
  const failure = { status: 502, errorType: 'provider_error' };
  const [id] = await recordGenerations(app, 1, failure, content(['words'], 'Provider returned error'));
  expect(await askFor(200, app, 'get', `/generation/content?id=${id}`)).toMatchObject({
    data: {
      error: {
        message: 'Provider returned error',
        provider_name: 'OpenAI',
        status: 502,
        raw: null,
        previous_errors: [],
      },
    },
  });
});

it('returns 404 for content that is not stored, another account, and an unknown generation', async () => {
  const [bare] = await recordGenerations(app, 1, {}, null);
  const notStored = await ask(app, 'get', `/generation/content?id=${bare}`);
  expect(expectError(notStored, 404)).toContain('the content of this generation is not stored');
  const [id] = await recordGenerations(app, 1, {}, content(['words']));
  const foreign = await ask(app, 'get', `/generation/content?id=${id}`, { key: other.managementKey });
  expect(expectError(foreign, 404)).toContain('no generation has this id');
  const unknown = await ask(app, 'get', '/generation/content?id=019a960b-d800-7000-8000-000000000000');
  expect(expectError(unknown, 404)).toContain('no generation has this id');
  expectError(await ask(app, 'get', '/generation/content'), 400);
});
