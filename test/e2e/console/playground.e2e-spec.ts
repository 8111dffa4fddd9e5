// The playground's calls. Contract: docs/contract.md#console.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { ask } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { CHANGE, cookieOf, FROM_PAGE } from '../../support/app/console.js';
import { expectError } from '../../support/requests/error-shape.js';

interface Operation {
  readonly operation: string;
  readonly body: object;
  readonly answer: object;
  /** Without its input, and with the member that the error names. */
  readonly incomplete: object;
  readonly missing: RegExp;
  /** A model of a provider that is not configured. */
  readonly unconfigured: string;
}

const OPERATIONS: readonly Operation[] = [
  {
    operation: 'embeddings',
    body: { model: 'local/hashing', input: 'words', dimensions: 8 },
    answer: { object: 'list', model: 'local/hashing', data: [{ index: 0 }] },
    incomplete: { model: 'local/hashing' },
    missing: /input/,
    unconfigured: 'openai/text-embedding-3-small',
  },
  {
    operation: 'chat/completions',
    body: { model: 'local/echo', messages: [{ role: 'user', content: 'words' }] },
    answer: {
      object: 'chat.completion',
      model: 'local/echo',
      choices: [{ message: { role: 'assistant', content: 'words' } }],
    },
    incomplete: { model: 'local/echo' },
    missing: /messages/,
    unconfigured: 'openai/gpt-4.1-mini',
  },
  {
    operation: 'messages',
    body: { model: 'local/echo', max_tokens: 100, messages: [{ role: 'user', content: 'words' }] },
    answer: { type: 'message', model: 'local/echo', content: [{ type: 'text', text: 'words' }] },
    incomplete: { model: 'local/echo', max_tokens: 100 },
    missing: /messages/,
    unconfigured: 'openai/gpt-4.1-mini',
  },
  {
    operation: 'responses',
    body: { model: 'local/echo', input: 'words' },
    answer: { object: 'response', model: 'local/echo', output: [{ content: [{ text: 'words' }] }] },
    incomplete: { model: 'local/echo' },
    missing: /input/,
    unconfigured: 'openai/gpt-4.1-mini',
  },
];

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await createTestApp();
  cookie = await cookieOf(app, app.managementKey);
});
afterAll(() => app.close());

describe.each(OPERATIONS)('POST /console/playground/$operation', (tested) => {
  const { operation, body, answer, incomplete, missing, unconfigured } = tested;
  const call = async (
    hash: string | null,
    headers: object = { ...CHANGE, cookie },
    sent: object = body,
    to: TestApp = app,
  ): Promise<Response> =>
    to.http
      .post(`/console/playground/${operation}${hash === null ? '' : `?api_key_hash=${hash}`}`)
      .set({ ...headers })
      .send(sent);

  it('answers like the operation of the API and charges the chosen key', async () => {
    const { record } = await app.createKey();
    const response = await call(record.hash);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject(answer);
    const rows = await app.sql<{ request: string }>(
      'SELECT request_id AS request FROM generations WHERE api_key_id = $1',
      [record.id],
    );
    expect(rows).toEqual([{ request: response.headers['x-request-id'] }]);
    expect(response.headers['x-generation-id']).toMatch(/^gen-/);
  });

  it('refuses what the operation of the API refuses', async () => {
    expectError(await call(app.key.hash, { ...CHANGE, cookie }, incomplete), 400, missing);
    const { record } = await app.createKey({ limit: 0n });
    expectError(await call(record.hash, { ...CHANGE, cookie }, { ...body, model: unconfigured }), 404);
  });

  it('takes a management key as a bearer token', async () => {
    expect((await call(app.key.hash, { authorization: `Bearer ${app.managementKey}` })).status).toBe(200);
  });

  it.each([
    ['no hash', null, 400],
    ['a hash of another form', 'abc', 400],
    ['the hash of no key', 'a'.repeat(64), 404],
  ])('rejects %s', async (_name, hash, status) => {
    expectError(await call(hash), status, /hash/);
  });

  it("rejects a management key, another account's key, and keys that are off", async () => {
    const stranger = await app.createAccount();
    expectError(await call(stranger.key.hash), 404);
    const other = await app.createKey({ kind: 'management' });
    expectError(await call(other.record.hash), 400, /must be an inference key/);
    const disabled = await app.createKey();
    await ask(app, 'patch', `/keys/${disabled.record.hash}`, { body: { disabled: true } });
    expectError(await call(disabled.record.hash), 400, /neither disabled nor expired/);
    const expired = await app.createKey({ expiresAt: app.clock.now() });
    expectError(await call(expired.record.hash), 400, /neither disabled nor expired/);
  });

  describe('an inference key', () => {
    it('pays for its own calls alone', async () => {
      const own = await cookieOf(app, app.apiKey);
      expect((await call(null, { ...CHANGE, cookie: own })).status).toBe(200);
      expect((await call(app.key.hash, { ...CHANGE, cookie: own })).status).toBe(200);
      const { record } = await app.createKey();
      expectError(await call(record.hash, { ...CHANGE, cookie: own }), 404);
    });
  });

  it('needs a session and the header of the console', async () => {
    expectError(await call(app.key.hash, {}), 401);
    expectError(await call(app.key.hash, { ...FROM_PAGE, cookie }), 401);
    expectError(await call(app.key.hash, { ...CHANGE, 'sec-fetch-site': 'cross-site', cookie }), 401);
  });

  it('counts toward the requests of the chosen key', async () => {
    const limited = await createTestApp({ environment: { RATE_LIMIT_INFERENCE_PER_MINUTE: '1' } });
    const session = { ...CHANGE, cookie: await cookieOf(limited, limited.managementKey) };
    expect((await call(limited.key.hash, session, body, limited)).status).toBe(200);
    expectError(await call(limited.key.hash, session, body, limited), 429, /1 requests a minute/);
    await limited.close();
  });
});

it('streams a chat, ends with its usage, and commits the record before it', async () => {
  const response = await app.http
    .post(`/console/playground/chat/completions?api_key_hash=${app.key.hash}`)
    .set({ ...CHANGE, cookie })
    .send({ model: 'local/echo', messages: [{ role: 'user', content: 'one two' }], stream: true });
  expect(response.status).toBe(200);
  expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const events = response.text.split('\n\n').filter((event) => event.startsWith('data: '));
  expect(events.at(-1)).toBe('data: [DONE]');
  expect(events.at(-2)).toContain('"usage":');
  const id = String(response.headers['x-generation-id']);
  const { status, body } = await ask(app, 'get', `/generation?id=${id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ data: { api_type: 'completions', streamed: true, cancelled: false } });
});

it('never takes the cookie for POST /chat/completions itself', async () => {
  const response = await app.http
    .post('/api/v1/chat/completions')
    .set({ ...CHANGE, cookie })
    .send({ model: 'local/echo', messages: [{ role: 'user', content: 'words' }] });
  expectError(response, 401);
});
