// Deliveries of budget alerts: retries, dead letters, replays, lost processes, and receivers that hang.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { NotificationSender } from '../../../src/deliveries/notifications/notification-sender.js';
import { NotificationQueuesRepository } from '../../../src/persistence/notifications/notification-queues.repository.js';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { createDeliveryApp } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import {
  createNotification,
  eventsOf,
  scanPast,
  startAlertReceiver,
  untilSent,
} from '../../support/deliveries/notifications.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { spendShare } from '../../support/deliveries/spend-share.js';

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
  // The first scan reads counters, which these tests write themselves.
  await scanPast(app);
});
beforeEach(async () => {
  receiver = await startAlertReceiver();
});
afterEach(async () => {
  await app.sql('DELETE FROM notification_rules');
  await receiver.close();
});
afterAll(() => app.close());

const idsOf = ({ requests }: RunningReceiver): unknown[] =>
  requests.map(({ headers }) => headers['webhook-id']);

describe('an event', () => {
  it('is sent again after 503, 409, a lost connection and 401, with the same id and bytes', async () => {
    const { id } = await createNotification(app, receiver.origin);
    receiver.script({ status: 503 }, { status: 409 }, 'reset', { status: 401 });
    await spendShare(app, app, 50);
    const [event] = await untilSent(app, id);
    expect(event).toMatchObject({ state: 'delivered', attempts: 5, last_status: 204, last_error: null });
    expect(idsOf(receiver)).toEqual(Array(5).fill(event?.id));
    expect(new Set(receiver.requests.map(({ bytes }) => bytes.toString())).size).toBe(1);
  });

  it('keeps no words of the receiver', async () => {
    const { id } = await createNotification(app, receiver.origin);
    receiver.always({ status: 400, body: 'words of the receiver' });
    await spendShare(app, app, 50);
    const [event] = await untilSent(app, id);
    expect(event).toMatchObject({ state: 'dead_letter', last_status: 400, last_error: 'HTTP 400' });
    const rows = await app.sql('SELECT * FROM notification_events');
    expect(JSON.stringify(rows)).not.toContain('words of the receiver');
  });

  it('becomes a dead letter when it is refused, holds back no later one, and is delivered by a replay', async () => {
    const { id } = await createNotification(app, receiver.origin);
    receiver.script({ status: 422 });
    await spendShare(app, app, 50);
    await untilSent(app, id);
    await spendShare(app, app, 80);
    const events = await untilSent(app, id);
    expect(events.map(({ state }) => state).toSorted()).toEqual(['dead_letter', 'delivered']);
    const replayed = await askFor(202, app, 'post', `/notifications/${id}/replay`);
    expect(replayed).toEqual({ data: { dead_letters: 1 } });
    const after = await untilSent(app, id);
    expect(after.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(await askFor(202, app, 'post', `/notifications/${id}/replay`)).toEqual({
      data: { dead_letters: 0 },
    });
  });

  it('becomes a dead letter when no attempt succeeds within 24 hours', async () => {
    const { id } = await createNotification(app, receiver.origin);
    receiver.always({ status: 503 });
    await spendShare(app, app, 50);
    await eventually(
      () => eventsOf(app, id),
      ([event]) => (event?.attempts ?? 0) >= 2,
    );
    const [left] = await app.sql<{ hours: number }>(
      `SELECT round(extract(epoch FROM expires_at - now()) / 3600)::integer AS hours FROM notification_events`,
    );
    expect(left?.hours).toBe(24);
    await app.sql('UPDATE notification_events SET expires_at = now()');
    const [event] = await untilSent(app, id);
    expect(event).toMatchObject({ state: 'dead_letter', last_error: 'no attempt has succeeded in time' });
  });

  it('waits while its notification is switched off', async () => {
    const { id } = await createNotification(app, receiver.origin);
    receiver.always({ status: 503 });
    await spendShare(app, app, 50);
    await eventually(
      () => eventsOf(app, id),
      ([event]) => (event?.attempts ?? 0) > 0,
    );
    await askFor(200, app, 'patch', `/notifications/${id}`, { body: { enabled: false } });
    expectError(await ask(app, 'post', `/notifications/${id}/replay`), 409);
    await eventually(
      () => app.sql('SELECT 1 FROM notification_queues WHERE next_attempt_at IS NULL'),
      (rows) => rows.length === 1,
    );
    receiver.forget();
    await app.application.get(NotificationSender).poll();
    expect(receiver.requests).toEqual([]);
    await askFor(200, app, 'patch', `/notifications/${id}`, { body: { enabled: true } });
    expect(await untilSent(app, id)).toMatchObject([{ state: 'delivered' }]);
  });
});

describe('a process that is lost', () => {
  it('after it reported an event, leaves it to the others', async () => {
    const { id } = await createNotification(app, receiver.origin);
    // It reports, and never sends.
    const lost = await createDeliveryApp({
      databaseUrl: app.databaseUrl,
      clock: app.clock,
      override: (testing) =>
        testing.overrideProvider(NotificationSender).useValue({ poll: () => Promise.resolve() }),
    });
    try {
      await spendShare(lost, app, 50);
    } finally {
      await lost.close();
    }
    expect(await untilSent(app, id)).toMatchObject([{ state: 'delivered' }]);
    expect(receiver.requests).toHaveLength(1);
  });

  it('with a claim, holds the event until the claim expires', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const queues = app.application.get(NotificationQueuesRepository);
    receiver.always({ status: 503 });
    await spendShare(app, app, 50);
    await eventually(
      async () => {
        await app.sql(
          'UPDATE notification_queues SET next_attempt_at = now(), lease_owner = NULL, lease_expires_at = NULL',
        );
        return queues.claim(1, []);
      },
      (claims) => claims.length === 1,
    );
    receiver.forget();
    expect(await queues.claim(1, [])).toEqual([]);
    await app.application.get(NotificationSender).poll();
    expect(await eventsOf(app, id)).toMatchObject([{ state: 'pending' }]);
    expect(await queues.countPending(10)).toBe(1);
    await app.sql('UPDATE notification_queues SET lease_expires_at = now()');
    expect(await untilSent(app, id)).toMatchObject([{ state: 'delivered' }]);
  });
});

describe('a receiver that hangs', () => {
  it('delays no other account, and holds two deliveries of its own', async () => {
    const hanging = await startAlertReceiver();
    hanging.always('hang');
    try {
      const stranger: TestAccount = await app.createAccount();
      for (let number = 0; number < 6; number++) await createNotification(app, hanging.origin);
      await spendShare(app, app, 50);
      await eventually(
        async () => {
          await app.application.get(NotificationSender).poll();
          return hanging.requests.length;
        },
        (requests) => requests === 2,
      );
      const { id } = await createNotification(app, receiver.origin, {}, stranger.managementKey);
      await spendShare(app, stranger, 50);
      const [event] = await untilSent(app, id, stranger.managementKey);
      expect(event?.state).toBe('delivered');
      expect(hanging.requests).toHaveLength(2);
      expect(hanging.abandoned).toBe(0);
    } finally {
      await hanging.close();
    }
  });
});

describe('the metrics', () => {
  it('count reported events and attempts by outcome, from 0', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const read = async (name: string): Promise<number> => {
      const { text } = await app.http.get('/metrics');
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    };
    const names = [
      'signalbox_notification_events_total',
      'signalbox_notification_attempts_total{outcome="delivered"}',
      'signalbox_notification_attempts_total{outcome="retry"}',
    ];
    const before = await Promise.all(names.map(read));
    receiver.script({ status: 503 });
    await spendShare(app, app, 50);
    await untilSent(app, id);
    const after = await Promise.all(names.map(read));
    expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 1]);
    expect(await read('signalbox_notification_attempts_total{outcome="expired"}')).toBeGreaterThanOrEqual(0);
    expect(await read('signalbox_notification_pending_events')).toBeGreaterThanOrEqual(0);
  });
});
