// Leases of work that one process does at a time: they last while their owner lives, and end at once with its death.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Notifications } from '../../src/persistence/database/notifications.js';
import { DeliveryCursorsRepository } from '../../src/persistence/deliveries/delivery-cursors.repository.js';
import { HistoryCopyRepository } from '../../src/persistence/history/history-copy.repository.js';
import { BudgetSubjectsRepository } from '../../src/persistence/notifications/budget-subjects.repository.js';
import { NotificationQueuesRepository } from '../../src/persistence/notifications/notification-queues.repository.js';
import type { TestApp } from '../support/app/app.js';
import { createDeliveryApp, createDestination } from '../support/deliveries/deliveries.js';
import { createNotification } from '../support/deliveries/notifications.js';
import { eventually } from '../support/eventually.js';

let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  // Nothing is delivered, copied or scanned but what a test claims.
  app = await createDeliveryApp({ environment: { SIGNALBOX_ROLE: 'calls' } });
  await createDestination(app, { url: 'http://127.0.0.1:9/' });
  await createNotification(app, 'http://127.0.0.1:9/');
});
beforeEach(async () => {
  await app.sql('DELETE FROM history_copy');
  await app.sql("UPDATE notification_scan SET claimed_until = '-infinity', ended_at = '-infinity'");
  await app.sql('UPDATE notification_queues SET next_attempt_at = now(), lease_expires_at = NULL');
  await app.sql(
    'UPDATE delivery_cursors SET lease_owner = NULL, lease_session = NULL, lease_expires_at = NULL',
  );
  replica = await app.startReplica();
});
afterEach(() => replica.close());
afterAll(() => app.close());

/** Ends the connection of notifications, as the death of the process would. */
async function endSession({ application }: TestApp): Promise<void> {
  const notifications = application.get(Notifications);
  const { session } = notifications;
  await notifications.onApplicationShutdown();
  await eventually(
    () => application.get(DeliveryCursorsRepository).listLiveSessions(),
    (live) => !live.includes(String(session)),
  );
}

/** Each returns whether the process has the lease now. */
const KINDS: [string, (owner: TestApp) => Promise<boolean>][] = [
  [
    'the cursor of a destination',
    async ({ application }) =>
      (await application.get(DeliveryCursorsRepository).claimWorkspace(app.workspaceId)).length > 0,
  ],
  ['the copy to the history', (owner) => owner.application.get(HistoryCopyRepository).claim(owner.baseUrl)],
  [
    'the queue of a notification rule',
    async ({ application }) => (await application.get(NotificationQueuesRepository).claim(10, [])).length > 0,
  ],
  [
    'the scan for budget alerts',
    async ({ application }) => (await application.get(BudgetSubjectsRepository).beginScan(0, 1)) !== null,
  ],
];

describe.each(KINDS)('the lease of %s', (_name, claim) => {
  it('lasts while its owner lives, and is taken over when the owner dies', async () => {
    expect(await claim(replica)).toBe(true);
    expect(await claim(app)).toBe(false);
    await endSession(replica);
    expect(await claim(app)).toBe(true);
  });

  it('lasts until it expires where its owner has no session', async () => {
    await endSession(replica);
    expect(await claim(replica)).toBe(true);
    expect(await claim(app)).toBe(false);
  });
});
