// Cached spend policies: a changed budget evicts the policy of its workspace alone.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import { SPEND_POLICY_CHANNEL, SpendPolicyCache } from '../../../src/spend/spend-policy-cache.js';
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
  const notifications = app.application.get(Notifications);
  const other = await app.createAccount();
  await Promise.all([policies.find(app.workspaceId), policies.find(other.workspaceId)]);
  await notifications.catchUp();
  const evicted: string[] = [];
  notifications.subscribe({
    channel: SPEND_POLICY_CHANNEL,
    onNotification: (payload) => void evicted.push(payload),
  });
  await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/daily`, { body: { limit_usd: 5 } });
  await eventually(
    () => policies.find(app.workspaceId),
    (policy) => policy?.budgets.length === 1,
  );
  await notifications.catchUp();
  expect(evicted).toEqual([app.workspaceId]);
  await app.sql('UPDATE accounts SET credits = 7 WHERE id = $1', [other.accountId]);
  await eventually(
    () => policies.find(other.workspaceId),
    (policy) => policy?.credits === 7_000_000_000_000n,
  );
});
