// GET /keys/{hash}: rejected credentials, representative of every other route.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'supertest';
import { ApiKeysRepository } from '../../../src/persistence/keys/api-keys.repository.js';
import { ask } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { getKey } from '../../support/requests/get-key.js';

const NOW = '2026-11-18T12:00:00.000Z';
const INVALID = 'Invalid credentials';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => app.clock.set(NOW));
afterAll(() => app.close());

describe('401', () => {
  const request = (authorization?: string): Promise<Response> =>
    getKey(app, app.key.hash, authorization ?? null);

  it('is returned without a credential', async () => {
    expectError(await request(), 401, 'Missing Authentication header');
    expectError(await request(''), 401, 'Missing Authentication header');
  });

  it.each([
    ['Bearer'],
    ['Basic dXNlcjpwYXNzd29yZA=='],
    ['sk-sb-v1-without-scheme'],
    ['Bearer two words'],
    [`Bearer ${'x'.repeat(513)}`],
    ['Bearer sk-sb-v1-unknown'],
    ["Bearer ' OR 1=1 --"],
  ])('is returned for the credential %#', async (authorization) => {
    expectError(await request(authorization), 401, INVALID);
  });

  it('is returned for the hash of a key', async () => {
    expectError(await request(`Bearer ${app.key.hash}`), 401, INVALID);
  });

  it.each([
    ['disabled', 'UPDATE api_keys SET disabled = true WHERE id = $1'],
    ['deleted', 'UPDATE api_keys SET deleted_at = now() WHERE id = $1'],
    ['expired', `UPDATE api_keys SET expires_at = '${NOW}' WHERE id = $1`],
    ['rotated away', `UPDATE api_key_secrets SET expires_at = '${NOW}' WHERE api_key_id = $1`],
  ])('has the text of an unknown key for a %s key', async (_name, change) => {
    const { secret, record } = await app.createKey({ kind: 'management' });
    await app.sql(change, [record.id]);
    expectError(await request(`Bearer ${secret}`), 401, INVALID);
  });

  it.each(['/key', '/auth/key'])(
    'is returned by GET %s for a key that is deleted after its authentication',
    async (path) => {
      const { secret } = await app.createKey();
      // Between the guard and the read, as when this replica has not heard of the change.
      jest.spyOn(app.application.get(ApiKeysRepository), 'find').mockResolvedValueOnce(null);
      expectError(await ask(app, 'get', path, { key: secret }), 401, INVALID);
      expect((await ask(app, 'get', path, { key: secret })).status).toBe(200);
    },
  );

  it('is returned as soon as a key expires, although it was used just before', async () => {
    const { secret } = await app.createKey({
      kind: 'management',
      expiresAt: new Date('2026-11-18T12:00:01Z'),
    });
    expect((await request(`Bearer ${secret}`)).status).toBe(200);
    app.clock.advance(1_000);
    expectError(await request(`Bearer ${secret}`), 401, INVALID);
  });

  it('is returned for an inference key, even for its own record', async () => {
    const response = await request(`Bearer ${app.apiKey}`);
    expectError(response, 401, 'Only management keys can perform this operation');
  });
});
