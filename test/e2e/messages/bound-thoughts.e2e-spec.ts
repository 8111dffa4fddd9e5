// Thoughts that come back: the endpoint and the credential that made them get them, and no other
// (docs/contract.md#messages-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createCredential } from '../../support/requests/provider-credential.js';
import {
  BUDGET_CLAUDE,
  CLAUDE,
  postMessages,
  startMessagesApp,
} from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { OWN_KEYS, sendError, STUB_KEY, WHOLE_MESSAGE } from '../../support/messages/messages-stub.js';
import { eventually } from '../../support/eventually.js';
import { chatOf, postChat } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

const [ONE, TWO] = OWN_KEYS;
const OF = { [ONE]: 'one', [TWO]: 'two', [STUB_KEY]: 'shared' } as const;

let setup: MessagesApp;
/** Keys that answer 529. */
const failing = new Set<string>();
beforeAll(async () => {
  setup = await startMessagesApp();
  const own = { provider: 'anthropic', isFallback: false };
  for (const [sortOrder, apiKey] of OWN_KEYS.entries())
    await createCredential(setup.app, { ...own, apiKey, sortOrder });
  answerBySignature();
  await eventually(
    () => serve([]),
    ([key]) => key === 'one',
  );
});
afterEach(() => failing.clear());
afterAll(() => setup.close());

/** Each key signs its thoughts with its own name. */
function answerBySignature(): void {
  setup.anthropic.answerWith((request, response) => {
    const key = String(request.headers['x-api-key']);
    if (failing.has(key)) return sendError(response, 529, 'overloaded_error', 'Overloaded');
    const signature = `sig-of-${OF[key as keyof typeof OF]}`;
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'text', text: 'ok' },
    ];
    return sendJson(response, 200, { ...WHOLE_MESSAGE, content });
  });
}

const turn = (content: object[]): object[] => [
  { role: 'assistant', content },
  { role: 'user', content: 'go on' },
];
const thought = (signature: string): object => ({ type: 'thinking', thinking: 'Hm.', signature });

/** The names of the keys that were called, in their order, and the signatures that each was sent. */
async function serve(
  history: readonly object[],
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const before = setup.anthropic.requests.length;
  const messages = [{ role: 'user', content: 'hi' }, ...history];
  const response = await postMessages(setup.app, { messages }, { headers });
  expect(response.status).toBe(200);
  return setup.anthropic.requests.slice(before).flatMap(({ headers: sent, text }) => {
    const signatures = [...text.matchAll(/"signature":"([^"]*)"/g)].map(([, signature]) => signature ?? '');
    const name: string = OF[String(sent['x-api-key']) as keyof typeof OF];
    return [name].concat(signatures);
  });
}

describe('a conversation with signed thoughts', () => {
  it('stays at the credential that made them, and returns to it after a failure', async () => {
    failing.add(ONE);
    expect(await serve([])).toEqual(['one', 'two']);
    failing.clear();
    const made = thought('sig-of-two');
    const first = turn([made, { type: 'text', text: 'ok' }]);
    // Without its history a call goes to the first key.
    expect(await serve([])).toEqual(['one']);
    expect(await serve(first)).toEqual(['two', 'sig-of-two']);
    failing.add(TWO);
    const key = await setup.app.createKey();
    expect(await serve(first, { 'x-api-key': key.secret })).toEqual(['two', 'sig-of-two', 'one']);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts.map(({ droppedMembers = [] }) => droppedMembers)).toEqual([
      [],
      ['messages.content.thinking'],
    ]);
    failing.clear();
    const second = [...first, ...turn([thought('sig-of-one'), { type: 'text', text: 'ok' }])];
    expect(await serve(second)).toEqual(['two', 'sig-of-two']);
  });

  it('keeps thoughts of makers that this process does not know for the first endpoint', async () => {
    const unknown = turn([thought('sig-of-another-replica'), { type: 'text', text: 'ok' }]);
    expect(await serve(unknown)).toEqual(['one', 'sig-of-another-replica']);
    failing.add(ONE);
    expect(await serve(unknown)).toEqual(['one', 'sig-of-another-replica', 'two']);
  });

  it('is kept for clients of Chat as well', async () => {
    failing.add(ONE);
    await serve([]);
    failing.clear();
    const plain = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, text: 'Hm.' };
    const signed = [{ ...plain, signature: 'sig-of-two' }];
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ok', reasoning_details: signed },
      { role: 'user', content: 'go on' },
    ];
    expect((await postChat(setup.app, { model: CLAUDE, messages })).status).toBe(200);
    expect(setup.anthropic.requests.at(-1)).toMatchObject({
      headers: { 'x-api-key': TWO },
      text: expect.stringContaining('sig-of-two'),
    });
  });

  it('counts the requests that lose thoughts, by the reason', async () => {
    const count = async (): Promise<string[]> => {
      const { text } = await setup.app.http.get('/metrics');
      return [...text.matchAll(/^signalbox_chat_reasoning_dropped_total\{reason="(\w+)".*\} (\d+)$/gm)].map(
        ([, reason, value]) => `${reason} ${value}`,
      );
    };
    const [foreign = '', moved = ''] = await count();
    failing.add(ONE);
    await serve(turn([thought('sig-unknown'), { type: 'text', text: 'ok' }]));
    await serve(turn([thought('sbx1.none'), { type: 'text', text: 'ok' }]));
    const next = (text: string, by: number) => text.replace(/\d+$/, (value) => String(Number(value) + by));
    expect(await count()).toEqual([next(foreign, 2), next(moved, 1)]);
  });
});

describe('a budget for thoughts', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'one', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'fine' };
  const open = (...thoughts: object[]) => [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [...thoughts, call] },
    { role: 'user', content: [result, { type: 'text', text: 'a reminder' }] },
  ];
  const members = {
    model: BUDGET_CLAUDE,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    tools: [{ name: 'one', input_schema: { type: 'object' } }],
  };

  it('is switched off where the open turn of calls has lost its thought, and recorded', async () => {
    const key = await setup.app.createKey();
    const headers = { 'x-api-key': key.secret };
    const messages = open(thought('sbx1.none'));
    expect((await postMessages(setup.app, { ...members, messages }, { headers })).status).toBe(200);
    expect(setup.anthropic.requests.at(-1)?.body['thinking']).toEqual({ type: 'disabled' });
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['messages.content.thinking', 'thinking']);
  });

  it('stays as it is where the turn has its thought', async () => {
    const messages = open(thought('sig-1'));
    expect((await postMessages(setup.app, { ...members, messages })).status).toBe(200);
    expect(setup.anthropic.requests.at(-1)?.body['thinking']).toEqual(members.thinking);
  });

  it('is switched off for a call of Chat that has no thought of this provider', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: null,
        reasoning_details: [{ type: 'reasoning.text', text: 'unsigned', index: 0 }],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'one', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'fine' },
    ];
    const tools = [{ type: 'function', function: { name: 'one', parameters: { type: 'object' } } }];
    const reasoning = { effort: 'high' };
    const body = { model: BUDGET_CLAUDE, messages, tools, reasoning };
    expect((await postChat(setup.app, body)).status).toBe(200);
    expect(setup.anthropic.requests.at(-1)?.body['thinking']).toEqual({ type: 'disabled' });
  });
});
