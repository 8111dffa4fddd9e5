// A redacted call everywhere that its text goes: the provider, contents, every kind of destination, the log, the database.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { canary } from '../../support/app/canaries.js';
import type { TestApp } from '../../support/app/app.js';
import { createDeliveryApp, createDestination, untilDelivered } from '../../support/deliveries/deliveries.js';
import { createGovernedKey, postAs } from '../../support/guardrails/governed.js';
import { DESTINATION_RECEIVERS } from '../../support/receivers/index.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { ask } from '../../support/requests/admin.js';
import { answerChat, MODEL } from '../../support/upstreams/chat-upstream.js';
import { answerLikeOpenAi, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

// The check of the log at the end of the app finds it in any encoding.
const PERSON = canary('Mail');
const MAIL = `${PERSON}@example.com`;
// Its provider has no wire but Chat's.
const CHAT_MODEL = 'mistralai/mistral-large-2512';
const KINDS = DESTINATION_RECEIVERS.filter((receiver) => receiver.configFor('http://127.0.0.1:1') !== null);
const CALLS: readonly (readonly [path: string, body: Readonly<Record<string, unknown>>])[] = [
  ['chat/completions', { model: MODEL, messages: [{ role: 'user', content: `write to ${MAIL}` }] }],
  ['responses', { model: CHAT_MODEL, input: `write to ${MAIL}` }],
  [
    'messages',
    { model: CHAT_MODEL, max_tokens: 9, messages: [{ role: 'user', content: `write to ${MAIL}` }] },
  ],
  ['embeddings', { model: 'openai/text-embedding-3-small', input: [`write to ${MAIL}`] }],
];

let app: TestApp;
let upstream: StubUpstream;
const running: RunningReceiver[] = [];
beforeAll(async () => {
  upstream = await startStubUpstream((request, response) =>
    request.path.endsWith('/embeddings')
      ? answerLikeOpenAi(request, response)
      : answerChat(request, response),
  );
  app = await createDeliveryApp({
    environment: {
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      MISTRAL_API_KEY: 'upstream-key',
      MISTRAL_BASE_URL: `${upstream.origin}/v1`,
    },
  });
});
afterAll(async () => {
  await app?.close();
  await Promise.all(running.map((receiver) => receiver.close()));
  await upstream?.close();
});

it('a redacted address is nowhere: provider, contents, every kind of destination and the database have the placeholder (V11)', async () => {
  const key = await createGovernedKey(app, {
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
  });
  const destinations = await Promise.all(
    KINDS.map(async (kind) => {
      const receiver = await startReceiver(kind);
      running.push(receiver);
      const config = kind.configFor(receiver.origin) ?? {};
      const { id } = await createDestination(app, config, { kind: kind.type, type: kind.type });
      return { id, type: kind.type, receiver };
    }),
  );
  // A destination that fails keeps the contents stored.
  const webhook = KINDS.find(({ type }) => type === 'webhook');
  const failing = await startReceiver(webhook!);
  running.push(failing);
  failing.always({ status: 503 });
  await createDestination(app, webhook!.configFor(failing.origin) ?? {});
  const ids: string[] = [];
  for (const [path, body] of CALLS) {
    const answer = await postAs(app, key, path, body);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.text).not.toContain(PERSON);
    ids.push(answer.headers.get('x-generation-id') ?? '');
  }
  expect(upstream.requests).toHaveLength(CALLS.length);
  for (const { text } of upstream.requests) {
    expect(text).toContain('write to [EMAIL]');
    expect(text).not.toContain(PERSON);
  }

  // Each kind has its own form of a text: one that cannot be read would be a failure of the receiver's check.
  for (const { id } of destinations) await untilDelivered(app, id, CALLS.length);
  const delivered = destinations.map(
    ({ type, receiver }) =>
      [type, receiver.requests.map(({ bytes }) => bytes.toString('utf8')).join('\n')] as const,
  );
  expect(delivered.filter(([, text]) => text.includes(PERSON)).map(([type]) => type)).toEqual([]);
  expect(delivered.filter(([, text]) => !text.includes('write to [EMAIL]')).map(([type]) => type)).toEqual(
    [],
  );

  for (const id of ids) {
    const content = await ask(app, 'get', `/generation/content?id=${id}`);
    expect([content.status, content.text]).toEqual([200, expect.stringContaining('write to [EMAIL]')]);
    expect(content.text).not.toContain(PERSON);
  }
  const tables = await app.sql<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const found = await app.sql(`SELECT 1 FROM ${name} AS row WHERE row::text ILIKE $1 LIMIT 1`, [
      `%${PERSON}%`,
    ]);
    expect([name, found]).toEqual([name, []]);
  }
  expect((await app.http.get('/metrics')).text).not.toContain(PERSON);
});
