// Alerts of many keys at once, and the bound of those of a day.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { CrossingReporter } from '../../../src/deliveries/notifications/crossing-reporter.js';
import { MAX_REPORTED_A_DAY } from '../../../src/domain/notifications/reported-day.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createNotification,
  eventsOf,
  scanPast,
  startAlertReceiver,
  startWithAlerts,
  untilSent,
} from '../../support/deliveries/notifications.js';
import type { ReportedEvent } from '../../support/deliveries/notifications.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';

let setup: Setup;
let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  setup = await startWithAlerts();
  app = setup.app;
  receiver = await startAlertReceiver();
});
beforeEach(async () => {
  receiver.forget();
  await app.sql('DELETE FROM notification_rules');
});
afterAll(async () => {
  await setup.close();
  await receiver.close();
});

interface Owner {
  readonly workspaceId: string;
  readonly apiKeyId: string;
}

/** Keys that have spent nine tenths of their limits. */
async function createSpentKeys(count: number): Promise<readonly Owner[]> {
  const keys = await app.sql<Owner & { readonly hash: string }>(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, limit_amount)
     SELECT id, $1, $2, replace(id::text, '-', '') || repeat('0', 32), 'inference', 'Key', 'key', 10
     FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $3::integer)) AS made
     RETURNING workspace_id AS "workspaceId", id AS "apiKeyId", hash`,
    [app.workspaceId, app.accountId, count],
  );
  await app.sql(
    `INSERT INTO key_spend (workspace_id, api_key_id, last_day, total)
     SELECT $1, id, $3::date, 9 FROM unnest($2::uuid[]) AS id
     ON CONFLICT (workspace_id, api_key_id) DO UPDATE SET last_day = excluded.last_day, total = excluded.total`,
    [app.workspaceId, keys.map(({ apiKeyId }) => apiKeyId), app.clock.now()],
  );
  return keys;
}

const report = async (keys: readonly Owner[]): Promise<void> => {
  // Events of different reports have an order.
  app.clock.advance(1);
  await app.application.get(CrossingReporter).reportCalled({ keys, workspaceIds: [], accountIds: [] });
};

interface Crossing {
  readonly threshold: number;
  readonly subject: { readonly hash: string };
  readonly spend_usd: string;
}
/** A crossing that is alone has no list. */
const crossingsOf = ({ payload: { data } }: ReportedEvent): readonly Crossing[] =>
  (data['crossings'] ?? [data]) as readonly Crossing[];

it('keys that reach thresholds in one scan are reported in requests of at most 100, each key once', async () => {
  const { id } = await createNotification(app, receiver.origin);
  const keys = await createSpentKeys(150);
  await report(keys);
  await report(keys);
  await untilSent(app, id);
  const events = await eventsOf(app, id);
  expect(events.map(({ payload: { type } }) => type)).toEqual(
    Array<string>(2).fill('budget.thresholds_reached'),
  );
  expect(events.map((event) => crossingsOf(event).length).toSorted((one, two) => one - two)).toEqual([
    50, 100,
  ]);
  const reported = events.flatMap(crossingsOf);
  expect(new Set(reported.map(({ subject }) => subject.hash)).size).toBe(150);
  expect(new Set(reported.map(({ threshold, spend_usd }) => `${threshold} ${spend_usd}`))).toEqual(
    new Set(['80 9']),
  );
  expect(receiver.requests).toHaveLength(2);
});

it('a key that reaches a threshold beyond the bound of its account is left out, and the next day says how many were', async () => {
  // The first scan reads the counters of all keys.
  await scanPast(app);
  const { id } = await createNotification(app, receiver.origin);
  const { id: other } = await createNotification(app, receiver.origin, { thresholds: [90] });
  await app.sql(
    `UPDATE notification_queues SET counted_on = (now() AT TIME ZONE 'UTC')::date, reported_keys = $2
     WHERE rule_id = $1`,
    [other, MAX_REPORTED_A_DAY - 3],
  );
  await report(await createSpentKeys(4));
  const reported = [...(await eventsOf(app, id)), ...(await eventsOf(app, other))];
  expect(reported.map((event) => crossingsOf(event).length).reduce((sum, count) => sum + count)).toBe(3);
  await report(await createSpentKeys(2));
  const [sum] = await app.sql<{ leftOut: number }>(
    'SELECT sum(left_out)::integer AS "leftOut" FROM notification_queues',
  );
  // Two rules watch six keys.
  expect(sum).toEqual({ leftOut: 9 });

  await scanPast(app);
  const before = (await eventsOf(app, id)).length + (await eventsOf(app, other)).length;
  await app.sql('UPDATE notification_queues SET counted_on = counted_on - 1');
  await scanPast(app);
  await scanPast(app);
  const events = [...(await eventsOf(app, id)), ...(await eventsOf(app, other))];
  const leftOut = events.filter(({ payload: { type } }) => type === 'budget.alerts_left_out');
  expect(events).toHaveLength(before + leftOut.length);
  expect(
    leftOut.map(({ payload: { data } }) => Number(data['left_out'])).reduce((one, two) => one + two),
  ).toBe(9);
  expect(leftOut[0]?.payload.data).toEqual({
    account_id: app.accountId,
    day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    left_out: expect.any(Number),
  });
  // The bound is that of a day.
  await report(await createSpentKeys(2));
  expect((await eventsOf(app, id)).length + (await eventsOf(app, other)).length).toBe(events.length + 2);
});
