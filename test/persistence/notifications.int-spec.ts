// Read-your-writes: caches of a process after a change that it made.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkspaceDestinationsCache } from '../../src/deliveries/workspace-destinations.js';
import { Database } from '../../src/persistence/database/database.js';
import { Notifications } from '../../src/persistence/database/notifications.js';
import type { TestApp } from '../support/app/app.js';
import { createDeliveryApp, createDestination } from '../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../support/requests/create-destination.js';

let app: TestApp;
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterAll(() => app.close());

describe('a change', () => {
  it('is visible in memory as soon as it is committed', async () => {
    const destinations = app.application.get(WorkspaceDestinationsCache);
    const before = await destinations.find(app.workspaceId);
    expect(before?.needsContent).toBe(false);
    for (let round = 0; round < 4; round++) {
      const { id } = await createDestination(app, { url: 'http://127.0.0.1:1' }, { name: String(round) });
      expect((await destinations.find(app.workspaceId))?.targets.has(id)).toBe(true);
    }
    await deleteAllDestinations(app);
  });

  it('is received before catchUp() resolves, for any number of concurrent callers', async () => {
    const received: string[] = [];
    const database = app.application.get(Database);
    const notifications = app.application.get(Notifications);
    notifications.subscribe({
      channel: 'broadcast_terms_changed',
      onNotification: (payload) => void received.push(payload),
    });
    for (let round = 0; round < 50; round++) {
      await Promise.all(
        Array.from({ length: 5 }, async (_, index) => {
          const payload = `${round}-${index}`;
          await database.query({
            text: `SELECT pg_notify('broadcast_terms_changed', $1)`,
            values: [payload],
          });
          await notifications.catchUp();
          expect(received).toContain(payload);
        }),
      );
    }
  });
});
