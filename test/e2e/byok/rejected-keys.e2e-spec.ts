// POST /embeddings through own keys that their provider rejects: attempts, rests, and the error of the caller.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { ask, askFor } from '../../support/requests/admin.js';
import { answerOf, embed, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const BODY = { model: SMALL, input: 'hello', dimensions: 2 };
const KEYS = Array.from({ length: 6 }, (_, index) => `own-key-number-${index}`);
const LONGEST_REST = 60_000;

let setup: ByokSetup;
beforeAll(async () => {
  setup = await startWithKeys({ PROVIDER_RETRIES: '0' });
});
beforeEach(async () => {
  for (const key of [...KEYS, SHARED_KEY]) setup.answerKeyWith(key, 200);
  await setup.app.sql('DELETE FROM provider_credentials');
  setup.app.clock.advance(LONGEST_REST);
  await eventually(call, ({ keys }) => keys.join() === SHARED_KEY);
});
afterAll(() => setup.close());

async function call(): Promise<{ response: Response; keys: string[] }> {
  setup.takeKeys();
  const response = await embed(setup.app, BODY);
  return { response, keys: setup.takeKeys() };
}

const keysOfCall = async (): Promise<string[]> => (await call()).keys;

async function createAll(keys: readonly string[], options: { readonly isRequired?: boolean } = {}) {
  const made = [];
  for (const [sortOrder, apiKey] of keys.entries())
    made.push(await createCredential(setup.app, { apiKey, sortOrder, ...options }));
  await eventually(keysOfCall, (asked) => asked.join() === keys[0]);
  return made;
}

describe('a call', () => {
  it('tries at most 3 rejected keys, then fails with 502', async () => {
    await createAll(KEYS, { isRequired: true });
    for (const key of KEYS) setup.answerKeyWith(key, 401);
    const { response, keys } = await call();
    expect(keys).toEqual(KEYS.slice(0, 3));
    expect(expectError(response, 502)).toBe(
      'Provider returned error: providers refused 3 own keys of the workspace, and a call tries no more than 3; check it at the provider, or replace it with PATCH /byok/{id}',
    );
    expect(response.body).toMatchObject({ error: { metadata: { is_byok: true, provider_name: 'OpenAI' } } });
  });

  it('continues with the shared endpoint after 3 rejected keys, where that is allowed', async () => {
    await createAll(KEYS);
    for (const key of KEYS) setup.answerKeyWith(key, 402);
    const { response, keys } = await call();
    expect(keys).toEqual([...KEYS.slice(0, 3), SHARED_KEY]);
    expect(answerOf(response).usage).toMatchObject({ is_byok: false });
  });

  it('tries keys that were not rejected yet in the next call', async () => {
    await createAll(KEYS, { isRequired: true });
    for (const key of KEYS.slice(0, 5)) setup.answerKeyWith(key, 401);
    expect((await call()).response.status).toBe(502);
    const { response, keys } = await call();
    expect(keys).toEqual(KEYS.slice(3));
    expect(answerOf(response).usage).toMatchObject({ is_byok: true });
    expect(await keysOfCall()).toEqual(KEYS.slice(5));
  });
});

describe('a rejected key', () => {
  it('is skipped while it rests, and serves again afterwards', async () => {
    const [key = ''] = KEYS;
    await createAll([key], { isRequired: true });
    setup.answerKeyWith(key, 401);
    expect(expectError((await call()).response, 502)).toContain("OpenAI refused the workspace's own key");
    for (let again = 0; again < 5; again++) {
      const { response, keys } = await call();
      expect(keys).toEqual([]);
      expect(expectError(response, 502)).toContain('which is retried in 5 s; check it at the provider');
      expect(response.headers['retry-after']).toBe('5');
      expect(response.body).toMatchObject({ error: { metadata: { is_byok: true } } });
    }
    setup.answerKeyWith(key, 200);
    setup.app.clock.advance(5_000);
    expect(answerOf((await call()).response).usage).toMatchObject({ is_byok: true });
    expect(await keysOfCall()).toEqual([key]);
  });

  it('serves all slices of a call as soon as one slice was served after the rest', async () => {
    const [key = ''] = KEYS;
    await createAll([key], { isRequired: true });
    setup.answerKeyWith(key, 401);
    expect((await call()).response.status).toBe(502);
    setup.answerKeyWith(key, 200);
    setup.app.clock.advance(5_000);
    const input = Array.from({ length: 2048 * 3 }, () => 'x');
    expect((await embed(setup.app, { ...BODY, input })).status).toBe(200);
  });

  it('is tried again as soon as it is replaced', async () => {
    const [key = '', other = ''] = KEYS;
    const [made] = await createAll([key], { isRequired: true });
    setup.answerKeyWith(key, 401);
    expect((await call()).response.status).toBe(502);
    setup.app.clock.advance(1);
    await askFor(200, setup.app, 'patch', `/byok/${made?.id}`, { body: { key: other } });
    expect(await eventually(keysOfCall, (keys) => keys.length > 0)).toEqual([other]);
  });
});

it("the operator's rejected credential rests while own keys serve, and is reported as open", async () => {
  setup.answerKeyWith(SHARED_KEY, 401);
  expect((await call()).response.status).toBe(502);
  const { response, keys } = await call();
  expect(keys).toEqual([]);
  expect(expectError(response, 502)).toBe(
    "Provider returned error: OpenAI refused the operator's credential, which is retried in 5 s",
  );
  const report = await ask(setup.app, 'get', `/models/${SMALL}/endpoints`, { key: setup.app.apiKey });
  expect(report.body.data.endpoints).toMatchObject([{ provider_name: 'OpenAI', status: -5 }, {}]);
  await createAll(KEYS.slice(0, 1));
  expect(await keysOfCall()).toEqual(KEYS.slice(0, 1));
});
