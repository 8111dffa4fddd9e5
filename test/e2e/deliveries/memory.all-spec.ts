// Slow destinations of other accounts never delay an account without deliveries in progress by the memory that they
// hold.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterAll(() => app.close());

describe('many destinations with large requests in flight', () => {
  it('delay neither a small trace nor a large batch of another account', async () => {
    const slow = await startReceiver(traceCollector);
    slow.always('hang');
    const accounts = await Promise.all(Array.from({ length: 10 }, () => app.createAccount()));
    for (const { accountId, workspaceId, key } of accounts) {
      for (const kind of ['webhook', 'otel-collector'])
        for (let copy = 0; copy < 5; copy++) {
          const config = kind === 'webhook' ? { url: slow.origin } : { endpoint: slow.origin };
          await createDestination(app, config, { accountId, workspaceId, kind, type: kind });
        }
      await recordGenerations(app, 8, {}, contentOfText('x'.repeat(250_000)), key);
    }
    // Some wait for the platform; the others wait for memory.
    await eventually(
      () => app.sql('SELECT 1 FROM delivery_cursors WHERE lease_owner IS NOT NULL'),
      ({ length }) => length === 100 && slow.requests.length >= 20,
    );
    const healthy = await startReceiver(traceCollector);
    const { id } = await createDestination(app, { url: healthy.origin });
    await recordGenerations(app, 1);
    await untilDelivered(app, id, 1);
    await recordGenerations(app, 8, {}, contentOfText('x'.repeat(250_000)));
    await untilDelivered(app, id, 9);
    expect(healthy.stored).toHaveLength(9);
    await deleteAllDestinations(app);
    await slow.close();
    await healthy.close();
  });
});
