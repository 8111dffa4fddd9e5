// The first keys of `npm start`, and the account that operates the service where OPERATOR_ACCOUNTS names none.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ensureQuickstartKeys } from '../../src/runtime/quickstart.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

it('the account of new quickstart keys is the oldest one', async () => {
  const { accountId } = await ensureQuickstartKeys({ databaseUrl: app.databaseUrl });
  expect(accountId).toBe(app.accountId);
});

it('the account of kept quickstart keys is that of the management key', async () => {
  const younger = await app.createAccount();
  const existing = { managementKey: younger.managementKey, apiKey: app.apiKey };
  expect(await ensureQuickstartKeys({ databaseUrl: app.databaseUrl, existing })).toEqual({
    ...existing,
    accountId: younger.accountId,
  });
});
