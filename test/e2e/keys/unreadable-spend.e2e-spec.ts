// Spend of keys that cannot be read: a failed request has changed nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
beforeEach(() => app.sql('ALTER TABLE key_spend RENAME byok_monthly TO away'));
afterEach(() => app.sql('ALTER TABLE key_spend RENAME away TO byok_monthly'));
afterAll(() => app.close());

it('creates a key without reading its spend', async () => {
  const { data } = await askFor<{ data: object }>(201, app, 'post', '/keys', { body: { name: 'New' } });
  expect(data).toMatchObject({ usage: 0, usage_daily: 0, byok_usage: 0, byok_usage_monthly: 0 });
});

it('changes nothing when a change fails', async () => {
  const { record } = await app.createKey();
  const body = { name: 'Renamed' };
  expectError(await ask(app, 'patch', `/keys/${record.hash}`, { body }), 500);
  const [row] = await app.sql('SELECT name FROM api_keys WHERE hash = $1', [record.hash]);
  expect(row).toEqual({ name: record.name });
});

it('keeps the current secret when a rotation fails and is repeated', async () => {
  const { record } = await app.createKey();
  for (let count = 0; count < 2; count++) {
    expectError(await ask(app, 'post', `/keys/${record.hash}/rotate`, { body: {} }), 500);
  }
  const secrets = await app.sql(
    'SELECT expires_at FROM api_key_secrets WHERE api_key_id = (SELECT id FROM api_keys WHERE hash = $1)',
    [record.hash],
  );
  expect(secrets).toEqual([{ expires_at: null }]);
});
