// Redacted calls as their providers receive them: the spans change, and no other byte.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { createGovernedKey, errorOf, postAs } from '../../support/guardrails/governed.js';
import type { Answer, GovernedKey } from '../../support/guardrails/governed.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { askFor } from '../../support/requests/admin.js';

type Members = Readonly<Record<string, unknown>>;

const MAIL = 'ann@example.com';
const REDACT = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] };

let setup: MessagesApp;
let app: TestApp;
let free: TestKey;
let redacting: GovernedKey;
beforeAll(async () => {
  setup = await startMessagesApp({ RATE_LIMIT_CHANGES_PER_MINUTE: '10000' });
  ({ app } = setup);
  free = await app.createKey();
  redacting = await createGovernedKey(app, REDACT);
});
beforeEach(forget);
afterAll(() => setup?.close());

function forget(): void {
  setup.anthropic.requests.length = 0;
  setup.chat.requests.length = 0;
}

const chatOf = (members: Members): string =>
  JSON.stringify({ model: OPEN_MODEL, max_tokens: 10, ...members });
const said = (content: unknown): Members => ({ messages: [{ role: 'user', content }] });
const bodyAtProvider = (): Members => [...setup.chat.requests, ...setup.anthropic.requests][0]?.body ?? {};
const send = (key: TestKey, body: string, path = 'chat/completions'): Promise<Answer> =>
  postAs(app, key, path, body);

/** The bytes that the provider receives; the call must be served. */
async function bytesAtProvider(key: TestKey, body: string, path?: string): Promise<string> {
  forget();
  expect(await send(key, body, path)).toMatchObject({ status: 200 });
  const [request, ...others] = [...setup.chat.requests, ...setup.anthropic.requests];
  expect(others).toEqual([]);
  return request?.text ?? '';
}

/** The provider receives what it would receive if the caller had written the placeholders. */
async function expectOnlySpansToChange(body: string, path?: string): Promise<string> {
  const redacted = await bytesAtProvider(redacting, body, path);
  expect(redacted).toBe(await bytesAtProvider(free, body.replaceAll(MAIL, '[EMAIL]'), path));
  expect(redacted).not.toContain('ann@');
  return redacted;
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'mail', arguments: '{}' } };

it('keeps the id of the call and all bytes outside of the span of a tool result (V12)', async () => {
  const messages = [
    { role: 'user', content: 'whom?' },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'call_1', content: `{"to": "${MAIL}", "n": 1.0}\n` },
  ];
  const text = await expectOnlySpansToChange(chatOf({ messages, seed: 12 }));
  expect((JSON.parse(text) as { messages: Members[] }).messages[2]).toEqual({
    role: 'tool',
    tool_call_id: 'call_1',
    content: '{"to": "[EMAIL]", "n": 1.0}\n',
  });
});

it('redacts the texts before and behind an image in place, and keeps the image (V13)', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const content = [{ type: 'text', text: `from ${MAIL}` }, image, { type: 'text', text: `${MAIL}!` }];
  await expectOnlySpansToChange(chatOf(said(content)));
  expect(bodyAtProvider()['messages']).toEqual(
    said([{ type: 'text', text: 'from [EMAIL]' }, image, { type: 'text', text: '[EMAIL]!' }])['messages'],
  );
});

it('replaces a match by a label that matches its own pattern once (V14)', async () => {
  const key = await createGovernedKey(app, {
    content_filters: [{ pattern: 'SECRET', action: 'redact', label: 'SECRET' }],
  });
  forget();
  expect((await send(key, chatOf(said('a SECRET b')))).status).toBe(200);
  expect(bodyAtProvider()['messages']).toEqual(said('a [SECRET] b')['messages']);
});

it.each(['chat/completions', 'messages', 'responses'])(
  'redacts an escaped e-mail address in POST /%s, and half a surrogate beside it reaches no provider (V15)',
  async (path) => {
    const content = `${MAIL} \\ud83d and ${MAIL}`.replaceAll('@', '\\u0040');
    const input =
      path === 'responses' ? `"input":"${content}"` : `"messages":[{"role":"user","content":"${content}"}]`;
    const text = await bytesAtProvider(redacting, `{"model":"${OPEN_MODEL}","max_tokens":10,${input}}`, path);
    expect(text).not.toContain('example.com');
    expect(JSON.parse(text)).toMatchObject({
      messages: [{ role: 'user', content: expect.stringMatching(/^\[EMAIL\] (?:\ufffd) and \[EMAIL\]$/) }],
    });
  },
);

it('changes one value of the arguments of a tool call, which still parse (V16)', async () => {
  const written = `{"n": 1.0,\t"to": "${MAIL}", "subject": "a \\"b\\""}`;
  const call = { ...CALL, function: { name: 'mail', arguments: written } };
  const messages = [
    { role: 'user', content: 'mail it' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
  ];
  const text = await expectOnlySpansToChange(chatOf({ messages }));
  const [, assistant] = (JSON.parse(text) as { messages: { tool_calls: (typeof call)[] }[] }).messages;
  const sent = assistant?.tool_calls[0]?.function.arguments ?? '';
  expect(sent).toBe(written.replace(MAIL, '[EMAIL]'));
  expect(JSON.parse(sent)).toEqual({ n: 1, to: '[EMAIL]', subject: 'a "b"' });
});

it('refuses a match in the description of a tool with its path (V17)', async () => {
  const tools = [{ type: 'function', function: { name: 'f', description: `mails ${MAIL}` } }];
  const refused = await send(redacting, chatOf({ ...said('hi'), tools }));
  expect([refused.status, errorOf(refused).metadata]).toEqual([
    403,
    expect.objectContaining({ filter: 'email', member: 'tools[0].function.description' }),
  ]);
  expect([...setup.chat.requests, ...setup.anthropic.requests]).toEqual([]);
});

it('redacts the instructions and the input of POST /responses (V18)', async () => {
  const body = {
    model: OPEN_MODEL,
    instructions: `you are ${MAIL}`,
    input: [{ role: 'user', content: [{ type: 'input_text', text: `I am ${MAIL}` }] }],
  };
  await expectOnlySpansToChange(JSON.stringify(body), 'responses');
  expect(JSON.stringify(bodyAtProvider()).match(/\[EMAIL\]/g)).toHaveLength(2);
});

const THINKING = { type: 'thinking', thinking: 'they want mail', signature: 'sig-abc' };
const historyOf = (thinking: Members, text: string): string =>
  JSON.stringify({
    model: CLAUDE,
    max_tokens: 2_000,
    messages: [
      { role: 'user', content: text },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'sent' }] },
      { role: 'user', content: 'thanks' },
    ],
  });

it('keeps every byte of a history with signed thinking where nothing matches (V23)', async () => {
  const body = historyOf(THINKING, 'mail it');
  expect(await bytesAtProvider(redacting, body, 'messages')).toBe(
    await bytesAtProvider(free, body, 'messages'),
  );
});

it('keeps signed thinking where a text beside it is redacted, and refuses a match within it (V23)', async () => {
  const text = await expectOnlySpansToChange(historyOf(THINKING, `mail ${MAIL}`), 'messages');
  expect(text).toContain(JSON.stringify(THINKING));
  forget();
  const refused = await send(redacting, historyOf({ ...THINKING, thinking: MAIL }, 'mail it'), 'messages');
  expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('blocked by a guardrail') });
  expect(setup.anthropic.requests).toEqual([]);
});

it('flags a match without changing a byte, and counts it in the record and in the pipeline (V24)', async () => {
  const flagging = await createGovernedKey(app, {
    content_filter_builtins: [{ slug: 'email', action: 'flag' }],
  });
  const body = chatOf({ ...said(`${MAIL} to ${MAIL}`), seed: 1 });
  expect(await bytesAtProvider(flagging, body)).toBe(await bytesAtProvider(free, body));
  const answer = await postAs(app, flagging, 'chat/completions', body, {
    'x-openrouter-metadata': 'enabled',
  });
  const { id, openrouter_metadata: metadata } = JSON.parse(answer.text) as {
    id: string;
    openrouter_metadata: { pipeline: unknown };
  };
  expect(metadata.pipeline).toEqual([
    expect.objectContaining({ guardrail_id: flagging.guardrail, data: { action: 'flag', matches: 2 } }),
  ]);
  const { data } = await eventually(
    () =>
      askFor<{ data: Members }>(200, app, 'get', `/generation?id=${id}`).catch(() => ({
        data: {} as Members,
      })),
    (read) => read.data['guardrails'] !== undefined,
  );
  expect(data['guardrails']).toEqual([
    { id: flagging.guardrail, name: 'Careful', scope: 'api_key', filter: 'email', action: 'flag', count: 2 },
  ]);
});
