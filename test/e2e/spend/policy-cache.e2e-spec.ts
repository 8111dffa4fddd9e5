// Cached spend policies: a changed budget evicts the policy of its workspace alone.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SpendPolicyCache } from '../../../src/spend/spend-policy-cache.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { askFor } from '../../support/requests/admin.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

it('keeps the policies of others when a budget changes, and none of an account whose credits change', async () => {
  const policies = app.application.get(SpendPolicyCache);
  const untilEvicted = (workspaceId: string) =>
    eventually(
      async () => policies.peek(workspaceId),
      (policy) => policy === undefined,
    );
  const other = await app.createAccount();
  await policies.find(app.workspaceId);
  const kept = await policies.find(other.workspaceId);
  await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/daily`, { body: { limit_usd: 5 } });
  await untilEvicted(app.workspaceId);
  expect((await policies.find(app.workspaceId))?.budgets).toHaveLength(1);
  // A late heartbeat hides the entries for a while; one that was evicted never comes back.
  await eventually(
    async () => policies.peek(other.workspaceId),
    (policy) => policy === kept,
  );
  await app.sql('UPDATE accounts SET credits = 7 WHERE id = $1', [other.accountId]);
  await untilEvicted(other.workspaceId);
  expect((await policies.find(other.workspaceId))?.credits).toBe(7_000_000_000_000n);
});
