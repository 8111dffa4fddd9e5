// The limit of credentials for each provider in a workspace, also for workspaces that exceed it from earlier versions.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const LIMIT = 20;

let setup: ByokSetup;
beforeAll(async () => {
  setup = await startWithKeys({ PROVIDER_RETRIES: '0' });
});
beforeEach(async () => {
  await setup.app.sql('DELETE FROM provider_credentials');
});
afterAll(() => setup.close());

const create = (body: object = {}) =>
  ask(setup.app, 'post', '/byok', { body: { provider: 'openai', key: 'sk-own-0123456789', ...body } });

/** Creates more credentials than the limit, as an earlier version allowed. Their order is that of `keys`. */
async function createSurplus(keys: readonly string[], lastIsRequired = false): Promise<void> {
  for (const [index, apiKey] of keys.entries()) {
    const provider = index < LIMIT ? 'openai' : 'azure';
    const isRequired = lastIsRequired && index === keys.length - 1;
    await createCredential(setup.app, { apiKey, provider, isRequired, sortOrder: index });
  }
  await setup.app.sql("UPDATE provider_credentials SET provider = 'openai'");
}

describe('a workspace', () => {
  it('creates 20 of 30 parallel credentials of a provider, and returns 409 for the others', async () => {
    const answers = await Promise.all(
      // Disabled credentials count: enabling one never exceeds the limit.
      Array.from({ length: 30 }, (_, index) => create({ disabled: index % 2 === 0 })),
    );
    const rejected = answers.filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(10);
    for (const response of rejected) {
      expect(expectError(response, 409)).toContain(
        `workspace ${setup.app.workspaceId} has 20 provider credentials for openai, of at most 20; delete one`,
      );
    }
    const [{ count } = { count: 0 }] = await setup.app.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM provider_credentials',
    );
    expect(count).toBe(LIMIT);
  });

  it('has a separate limit for each provider, and a free slot after a deletion', async () => {
    const [first] = await Promise.all(Array.from({ length: LIMIT }, () => create()));
    expectError(await create(), 409);
    expect((await create({ provider: 'azure' })).status).toBe(201);
    await askFor(200, setup.app, 'delete', `/byok/${first?.body.data.id}`);
    expect((await create()).status).toBe(201);
    expectError(await create(), 409);
  });
});

describe('credentials beyond the limit', () => {
  const KEYS = Array.from({ length: LIMIT + 5 }, (_, index) => `own-key-number-${index}`);

  const askedKeys = async (): Promise<string[]> => {
    setup.takeKeys();
    await embed(setup.app, { model: SMALL, input: 'hello', dimensions: 2 });
    return setup.takeKeys();
  };

  it('are not used by calls, which continue with the shared endpoint after the first 20', async () => {
    for (const key of KEYS) setup.answerKeyWith(key, 503);
    await createSurplus(KEYS);
    const expected = [...KEYS.slice(0, LIMIT), SHARED_KEY];
    expect(await eventually(askedKeys, (keys) => keys.length >= expected.length)).toEqual(expected);
  });

  it('prevent the use of shared endpoints where they are required', async () => {
    for (const key of KEYS) setup.answerKeyWith(key, 503);
    await createSurplus(KEYS, true);
    const expected = KEYS.slice(0, LIMIT);
    expect(await eventually(askedKeys, (keys) => !keys.includes(SHARED_KEY))).toEqual(expected);
  });
});
