// POST /embeddings through own provider keys: which keys are tried, their order, and that none is revealed.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Response } from 'supertest';
import type { NewProviderCredential } from '../../../src/domain/providers/provider-credential.js';
import { answerOf, EMBEDDINGS, SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const FIRST = 'own-key-number-one';
const SECOND = 'own-key-number-two';
const BODY = { model: SMALL, input: 'hello', dimensions: 2 };

let setup: ByokSetup;
beforeAll(async () => {
  setup = await startWithKeys({ PROVIDER_RETRIES: '0' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const key of [FIRST, SECOND, SHARED_KEY]) setup.answerKeyWith(key, 200);
  await setup.app.sql('DELETE FROM provider_credentials');
  await askUntil((keys) => keys.join() === SHARED_KEY);
});
afterAll(() => setup.close());

async function ask(body: object = BODY, secret = setup.app.apiKey): Promise<Response> {
  setup.takeKeys();
  const response = await setup.app.http
    .post(EMBEDDINGS)
    .set('authorization', `Bearer ${secret}`)
    .set('x-openrouter-metadata', 'enabled')
    .send(body);
  for (const key of [FIRST, SECOND, SHARED_KEY]) {
    expect(response.text).not.toContain(key);
    expect(JSON.stringify(response.headers)).not.toContain(key);
  }
  return response;
}

/** A committed change of credentials reaches the service a moment later. */
async function askUntil(isReached: (keys: readonly string[]) => boolean): Promise<string[]> {
  return eventually(async () => {
    await ask();
    return setup.takeKeys();
  }, isReached);
}

const create = (overrides: Partial<NewProviderCredential> & { readonly apiKey: string }) =>
  createCredential(setup.app, overrides);

async function keysFor(body: object, secret?: string): Promise<string[]> {
  await ask(body, secret);
  return setup.takeKeys();
}

const uses =
  (...expected: readonly string[]) =>
  (keys: readonly string[]) =>
    keys.join() === expected.join();

describe('an own key', () => {
  it('serves instead of the shared one, costs no credits, and is named in the metadata', async () => {
    await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    const response = await ask();
    expect(answerOf(response).usage).toEqual({
      prompt_tokens: 5,
      total_tokens: 5,
      cost: 0,
      is_byok: true,
    });
    const [row] = await setup.app.sql(
      'SELECT is_byok, cost::float8, upstream_cost::float8, attempts FROM generations ORDER BY log_transaction DESC, log_ordinal DESC LIMIT 1',
    );
    expect(row).toMatchObject({ is_byok: true, cost: 0, upstream_cost: 5 * 0.02e-6 });
    expect(JSON.stringify(row)).not.toContain(FIRST);
  });

  it('is tried before the shared endpoints even where provider.order names them', async () => {
    await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    expect(await keysFor({ ...BODY, provider: { order: ['openai'], allow_fallbacks: false } })).toEqual([
      FIRST,
    ]);
  });

  it('falls back to the next by sort_order, then to the shared key, when the provider rejects it', async () => {
    await create({ apiKey: SECOND, sortOrder: 2 });
    await create({ apiKey: FIRST, sortOrder: 1 });
    await askUntil(uses(FIRST));
    setup.answerKeyWith(FIRST, 401);
    expect(await keysFor(BODY)).toEqual([FIRST, SECOND]);
    setup.answerKeyWith(SECOND, 403);
    // The first key rests by now.
    setup.app.clock.advance(5_000);
    const response = await ask();
    expect(setup.takeKeys()).toEqual([FIRST, SECOND, SHARED_KEY]);
    expect(answerOf(response).usage).toMatchObject({ is_byok: false });
  });

  it('falls back when the provider is overloaded or broken', async () => {
    await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    for (const status of [429, 500, 503]) {
      setup.answerKeyWith(FIRST, status);
      expect(await keysFor(BODY)).toEqual([FIRST, SHARED_KEY]);
    }
  });

  it('does not fall back when the request itself is rejected', async () => {
    await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    setup.answerKeyWith(FIRST, 400);
    const response = await ask();
    expect(setup.takeKeys()).toEqual([FIRST]);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: { metadata: { is_byok: true, provider_name: 'OpenAI' } } });
  });

  it('is tried once for a call of many slices when the provider rejects it', async () => {
    await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    setup.answerKeyWith(FIRST, 401);
    const keys = await keysFor({ ...BODY, input: Array.from({ length: 2048 * 12 }, () => 'x') });
    expect(keys.filter((key) => key === SHARED_KEY)).toHaveLength(12);
    // At most the slices that were in flight at the first rejection.
    expect(keys.filter((key) => key === FIRST).length).toBeLessThanOrEqual(8);
  });
});

describe('a fallback', () => {
  it('is tried after the shared endpoints', async () => {
    await create({ apiKey: FIRST, isFallback: true });
    await create({ apiKey: SECOND });
    await askUntil(uses(SECOND));
    setup.answerKeyWith(SECOND, 401);
    setup.answerKeyWith(SHARED_KEY, 503);
    const response = await ask();
    expect(setup.takeKeys()).toEqual([SECOND, SHARED_KEY, FIRST]);
    expect(answerOf(response).usage).toMatchObject({ is_byok: true, cost: 0 });
  });
});

describe.each([{ isRequired: true }, { isByokOnly: true }])('with %p', (options) => {
  it('does not use the shared endpoints of the provider', async () => {
    await create({ apiKey: FIRST, ...options });
    await askUntil(uses(FIRST));
    setup.answerKeyWith(FIRST, 401);
    const response = await ask();
    expect(setup.takeKeys()).toEqual([FIRST]);
    expect(response.status).toBe(502);
    expect(response.body).toMatchObject({ error: { metadata: { is_byok: true } } });
    expect(response.body).not.toHaveProperty('error.metadata.raw');
  });
});

describe('a call', () => {
  // Using the second key shows that the change has arrived.
  const cases: readonly [string, Partial<NewProviderCredential>][] = [
    ['a disabled one', { disabled: true }],
    ['one for other models', { allowedModels: ['openai/text-embedding-3-large'] }],
    ['one for other keys', { allowedApiKeyHashes: ['ab'.repeat(32)] }],
    ['one for other users', { allowedUserIds: ['user-1'] }],
    ['one of another provider', { provider: 'cohere' }],
  ];
  it.each(cases)('does not use %s', async (_name, options) => {
    await create({ apiKey: FIRST, ...options });
    await create({ apiKey: SECOND, sortOrder: 1 });
    expect(await askUntil((keys) => keys.includes(SECOND))).toEqual([SECOND]);
  });

  it('does not use a key of another workspace', async () => {
    const other = await setup.app.createAccount();
    await create({ apiKey: FIRST, accountId: other.accountId, workspaceId: other.workspaceId });
    await eventually(
      () => keysFor(BODY, other.apiKey),
      (keys) => keys.join() === FIRST,
    );
    expect(await keysFor(BODY)).toEqual([SHARED_KEY]);
  });

  it('does not use a key for another user because a request names that user', async () => {
    await create({ apiKey: FIRST, allowedUserIds: ['user-1'] });
    await create({ apiKey: SECOND, sortOrder: 1 });
    await askUntil(uses(SECOND));
    expect(await keysFor({ ...BODY, user: 'user-1' })).toEqual([SECOND]);
    const { secret } = await setup.app.createKey({ creatorUserId: 'user-1' });
    expect(await keysFor(BODY, secret)).toEqual([FIRST]);
  });

  it('does not use a key for another API key', async () => {
    const { secret, record } = await setup.app.createKey();
    await create({ apiKey: FIRST, allowedApiKeyHashes: [record.hash] });
    await eventually(
      () => keysFor(BODY, secret),
      (keys) => keys.join() === FIRST,
    );
    expect(await keysFor(BODY)).toEqual([SHARED_KEY]);
  });
});

describe('data retention', () => {
  it('is declared by the customer for its own account', async () => {
    const zdr = { ...BODY, provider: { zdr: true } };
    expect((await ask(zdr)).status).toBe(404);
    await create({ apiKey: FIRST, declaredZdr: true });
    await askUntil(uses(FIRST));
    setup.answerKeyWith(FIRST, 401);
    expect((await ask(zdr)).status).toBe(502);
    expect(setup.takeKeys()).toEqual([FIRST]);
  });
});

describe('a stored key', () => {
  it('is encrypted, and its ciphertext cannot be decrypted in another row', async () => {
    const one = await create({ apiKey: FIRST });
    const other = await create({ apiKey: SECOND });
    const rows = await setup.app.sql<{ ciphertext: Buffer; label: string }>(
      'SELECT *, ciphertext FROM provider_credentials',
    );
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row.ciphertext.includes('own-key')).toBe(false);
      expect(JSON.stringify(row)).not.toContain('own-key-number');
    }
    expect(one.label).toBe('own-...-one');
    const warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await setup.app.sql(
      `UPDATE provider_credentials AS thief SET ciphertext = victim.ciphertext
       FROM provider_credentials AS victim WHERE thief.id = $1 AND victim.id = $2`,
      [other.id, one.id],
    );
    setup.answerKeyWith(FIRST, 401);
    await askUntil(uses(FIRST, SHARED_KEY));
    const logged = warnings.mock.calls.filter(([message]) => String(message).includes(other.id));
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain('own-key');
  });

  it('is reported once and skipped when it cannot be decrypted, and other keys continue to serve', async () => {
    const warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const { id } = await create({ apiKey: FIRST });
    await askUntil(uses(FIRST));
    await setup.app.sql("UPDATE provider_credentials SET encryption_key_id = 'lost' WHERE id = $1", [id]);
    await askUntil(uses(SHARED_KEY));
    // Every change makes the service read all of them again.
    await create({ apiKey: SECOND, sortOrder: 1 });
    await askUntil(uses(SECOND));
    const logged = warnings.mock.calls.map(String).filter((message) => message.includes(id));
    expect(logged).toEqual([
      `the provider credential ${id}, encrypted with the key lost, cannot be read and is not used`,
    ]);
    expect((await ask()).status).toBe(200);
  });

  it.each([{ isRequired: true }, { isByokOnly: true }])(
    'still excludes the shared endpoints when it cannot be decrypted: %j',
    async (options) => {
      const { id } = await create({ apiKey: FIRST, ...options });
      await askUntil(uses(FIRST));
      await setup.app.sql("UPDATE provider_credentials SET encryption_key_id = 'lost' WHERE id = $1", [id]);
      await askUntil(uses());
      expect((await ask()).status).toBe(404);
    },
  );
});
