// The playground's calls. Contract: docs/contract.md#console.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { ask } from '../../support/admin.js';
import { createTestApp } from '../../support/app.js';
import type { TestApp } from '../../support/app.js';
import { CHANGE, cookieOf, FROM_PAGE } from '../../support/console.js';
import { expectError } from '../../support/error-shape.js';

const BODY = { model: 'local/hashing', input: 'words', dimensions: 8 };

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await createTestApp();
  cookie = await cookieOf(app, app.managementKey);
});
afterAll(() => app.close());

const embed = async (
  hash: string | null,
  headers: object = { ...CHANGE, cookie },
  body: object = BODY,
): Promise<Response> =>
  app.http
    .post(`/console/playground/embeddings${hash === null ? '' : `?api_key_hash=${hash}`}`)
    .set({ ...headers })
    .send(body);

it('answers like POST /embeddings and charges the chosen key', async () => {
  const { record } = await app.createKey();
  const response = await embed(record.hash);
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ object: 'list', model: 'local/hashing', data: [{ index: 0 }] });
  const [row] = await app.sql<{ id: string; request: string }>(
    'SELECT api_key_id AS id, request_id AS request FROM generations ORDER BY created_at DESC, id DESC LIMIT 1',
  );
  expect(row).toEqual({ id: record.id, request: response.headers['x-request-id'] });
  expect(response.headers['x-generation-id']).toMatch(/^gen-/);
});

it('refuses what POST /embeddings refuses, and the limit of the chosen key', async () => {
  expectError(await embed(app.key.hash, { ...CHANGE, cookie }, { model: 'local/hashing' }), 400, /input/);
  const { record } = await app.createKey({ limit: 0n });
  expectError(
    await embed(record.hash, { ...CHANGE, cookie }, { ...BODY, model: 'openai/text-embedding-3-small' }),
    404,
  );
});

it('takes a management key as a bearer token', async () => {
  expect((await embed(app.key.hash, { authorization: `Bearer ${app.managementKey}` })).status).toBe(200);
});

it.each([
  ['no hash', null, 400],
  ['a hash of another form', 'abc', 400],
  ['the hash of no key', 'a'.repeat(64), 404],
])('rejects %s', async (_name, hash, status) => {
  expectError(await embed(hash), status, /hash/);
});

it("rejects a management key, another account's key, and keys that are off", async () => {
  const stranger = await app.createAccount();
  expectError(await embed(stranger.key.hash), 404);
  const other = await app.createKey({ kind: 'management' });
  expectError(await embed(other.record.hash), 400, /must be an inference key/);
  const disabled = await app.createKey();
  await ask(app, 'patch', `/keys/${disabled.record.hash}`, { body: { disabled: true } });
  expectError(await embed(disabled.record.hash), 400, /neither disabled nor expired/);
  const expired = await app.createKey({ expiresAt: app.clock.now() });
  expectError(await embed(expired.record.hash), 400, /neither disabled nor expired/);
});

describe('an inference key', () => {
  it('pays for its own calls alone', async () => {
    const own = await cookieOf(app, app.apiKey);
    expect((await embed(null, { ...CHANGE, cookie: own })).status).toBe(200);
    expect((await embed(app.key.hash, { ...CHANGE, cookie: own })).status).toBe(200);
    const { record } = await app.createKey();
    expectError(await embed(record.hash, { ...CHANGE, cookie: own }), 404);
  });
});

it('needs a session and the header of the console', async () => {
  expectError(await embed(app.key.hash, {}), 401);
  expectError(await embed(app.key.hash, { ...FROM_PAGE, cookie }), 401);
  expectError(await embed(app.key.hash, { ...CHANGE, 'sec-fetch-site': 'cross-site', cookie }), 401);
});

it('counts toward the requests of the chosen key', async () => {
  const limited = await createTestApp({ environment: { RATE_LIMIT_INFERENCE_PER_MINUTE: '1' } });
  const session = await cookieOf(limited, limited.managementKey);
  const send = async (): Promise<Response> =>
    limited.http
      .post(`/console/playground/embeddings?api_key_hash=${limited.key.hash}`)
      .set({ ...CHANGE, cookie: session })
      .send(BODY);
  expect((await send()).status).toBe(200);
  expectError(await send(), 429, /1 requests a minute/);
  await limited.close();
});
