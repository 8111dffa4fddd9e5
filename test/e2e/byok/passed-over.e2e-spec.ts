// POST /embeddings where an own key cannot serve: the sign that the operator's credential replaced it, and the
// error where it may not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { answerOf, embed, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const BODY = { model: SMALL, input: 'hello', dimensions: 2 };
const KEY = 'own-key-number-1';
const HEADER = 'x-byok-passed-over';

let setup: ByokSetup;
beforeAll(async () => {
  setup = await startWithKeys({ PROVIDER_RETRIES: '0' });
});
beforeEach(async () => {
  for (const key of [KEY, SHARED_KEY]) setup.answerKeyWith(key, 200);
  await setup.app.sql('DELETE FROM provider_credentials');
  setup.app.clock.advance(60_000);
  await eventually(call, ({ keys }) => keys.join() === SHARED_KEY);
});
afterAll(() => setup.close());

async function call(
  headers: Readonly<Record<string, string>> = {},
): Promise<{ response: Response; keys: string[] }> {
  setup.takeKeys();
  const response = await embed(setup.app, BODY).set(headers);
  return { response, keys: setup.takeKeys() };
}

async function create(
  options: { readonly isRequired?: boolean; readonly isFallback?: boolean } = {},
): Promise<void> {
  await createCredential(setup.app, { apiKey: KEY, ...options });
  if (options.isFallback !== true) await eventually(call, ({ keys }) => keys.join() === KEY);
}

describe('an own key that the operator’s replaced', () => {
  it.each([
    [402, 'used_up'],
    [401, 'refused'],
    [403, 'refused'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
  ])('is named with the reason when its provider answers %d: %s', async (status, reason) => {
    await create();
    setup.answerKeyWith(KEY, status);
    const { response, keys } = await call({ 'x-openrouter-metadata': 'enabled' });
    expect(keys).toEqual([KEY, SHARED_KEY]);
    expect(answerOf(response).usage).toMatchObject({ is_byok: false, cost: 1e-7 });
    expect(response.headers[HEADER]).toBe(`openai;reason=${reason}`);
    expect(response.body).toMatchObject({
      openrouter_metadata: { own_keys_passed_over: [{ provider: 'openai', reason }] },
    });
  });

  it('is named while it rests', async () => {
    await create();
    setup.answerKeyWith(KEY, 402);
    await call();
    const { response, keys } = await call();
    expect(keys).toEqual([SHARED_KEY]);
    expect(response.headers[HEADER]).toBe('openai;reason=used_up');
  });

  it('is not named when it serves, when there is none, or when it is a fallback', async () => {
    expect((await call()).response.headers).not.toHaveProperty(HEADER);
    await create();
    const { response } = await call({ 'x-openrouter-metadata': 'enabled' });
    expect(response.headers).not.toHaveProperty(HEADER);
    expect(response.body).not.toHaveProperty('openrouter_metadata.own_keys_passed_over');
    await setup.app.sql('DELETE FROM provider_credentials');
    await create({ isFallback: true });
    expect((await call()).response.headers).not.toHaveProperty(HEADER);
  });
});

describe('a required own key whose account is used up', () => {
  it('is a 402 that says whose account it is, at once and while it rests', async () => {
    await create({ isRequired: true });
    setup.answerKeyWith(KEY, 402);
    const { response, keys } = await call();
    expect(keys).toEqual([KEY]);
    expect(expectError(response, 402)).toBe(
      "Insufficient credits: your provider account at OpenAI is used up or without billing; OpenAI refused the workspace's own key",
    );
    expect(response.body).toMatchObject({
      error: {
        metadata: {
          error_type: 'payment_required',
          limit_source: 'provider_account',
          provider_name: 'OpenAI',
          is_byok: true,
        },
      },
    });
    const resting = await call();
    expect(resting.keys).toEqual([]);
    expect(expectError(resting.response, 402)).toContain('your provider account at OpenAI is used up');
  });
});
