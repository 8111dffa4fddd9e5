// Generations that wait longer than a day expire and are counted, however long no process has read them.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { PAGE_SIZE } from '../../../src/deliveries/log/log-tail.js';
import type { NewDestination } from '../../../src/domain/destinations/destination.js';
import type { FilterRules } from '../../../src/domain/destinations/filter-rules.js';
import { LOG_HORIZON } from '../../../src/persistence/database/log-offset.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { fillLog } from '../../support/database/plans.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const HOUR = 3_600_000;

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
  receiver = await startReceiver(traceCollector);
});
afterEach(async () => {
  await deleteAllDestinations(app);
  receiver.forget();
});
afterAll(async () => {
  await receiver.close();
  await app.close();
});

const before = (hours: number): Date => new Date(app.clock.now().getTime() - hours * HOUR);

/** A destination without deliveries until after `between`, by which time its cursor has stood for two days. */
async function standing(
  between: () => Promise<unknown>,
  rules: Partial<NewDestination> = {},
): Promise<string> {
  const { id } = await createDestination(app, { url: receiver.origin }, { ...rules, enabled: false });
  const set = (values: string): Promise<unknown> =>
    app.sql(`UPDATE delivery_cursors SET ${values} WHERE destination_id = $1`, [id]);
  await set("lease_owner = 'lost', lease_expires_at = now() + interval '1 hour'");
  await app.sql('UPDATE destinations SET enabled = true WHERE id = $1', [id]);
  await between();
  // A transaction in another database of the server can hold back old generations; no call is a day old by then.
  await eventually(
    () =>
      app.sql<{ areReadable: boolean }>(
        `SELECT bool_and(log_transaction < ${LOG_HORIZON}) AS "areReadable" FROM generations`,
      ),
    ([row]) => row?.areReadable === true,
  );
  await set("updated_at = now() - interval '2 days', lease_expires_at = now()");
  return id;
}

it('expires generations older than the log tail, behind a cursor that moved within the day', async () => {
  let young: string[] = [];
  const id = await standing(async () => {
    await recordGenerations(app, 5, { createdAt: before(27) });
    await recordGenerations(app, 3, { createdAt: before(25) });
    young = await recordGenerations(app, 2);
  });
  const { dropped, delivered } = await untilDelivered(app, id, 2);
  expect({ dropped, delivered }).toEqual({ dropped: { expired: 8 }, delivered: '2' });
  expect(receiver.stored.toSorted()).toEqual(young.toSorted());
});

it('expires in steps', async () => {
  const id = await standing(async () => {
    await fillLog(app, [app.key], { rows: 2 * PAGE_SIZE + 5, from: before(40), days: 1 / 24 });
    await recordGenerations(app, 1);
  });
  expect((await untilDelivered(app, id, 1)).dropped).toEqual({ expired: 2 * PAGE_SIZE + 5 });
});

it('reads once an hour, and records that nothing has expired', async () => {
  receiver.always({ status: 503 });
  const id = await standing(() => recordGenerations(app, 1));
  await eventually(
    () => readCursor(app, id),
    ({ failures }) => failures > 0,
  );
  const [row] = await app.sql<{ is_noted: boolean }>(
    "SELECT updated_at > now() - interval '1 hour' AS is_noted FROM delivery_cursors WHERE destination_id = $1",
    [id],
  );
  expect(row).toEqual({ is_noted: true });
  receiver.always(null);
  await untilDelivered(app, id, 1);
});

it('counts only generations that the rules select', async () => {
  const [other] = await app.sql<{ hash: string }>('SELECT hash FROM api_keys WHERE id = $1', [app.key.id]);
  const rules: FilterRules = {
    enabled: true,
    groups: [{ logic: 'and', rules: [{ field: 'user_id', operator: 'regex', value: '^wanted' }] }],
  };
  const id = await standing(
    async () => {
      await recordGenerations(app, 4, { createdAt: before(30), userId: 'wanted' });
      await recordGenerations(app, 3, { createdAt: before(30), userId: 'not wanted' });
      // Within the log tail, and expired anyway.
      await recordGenerations(app, 2, { createdAt: before(25), userId: 'wanted' });
      await recordGenerations(app, 5, { createdAt: before(25), userId: 'not wanted' });
      await recordGenerations(app, 1, { userId: 'wanted' });
    },
    { filterRules: rules, apiKeyHashes: other ? [other.hash] : [] },
  );
  expect((await untilDelivered(app, id, 1)).dropped).toEqual({ expired: 6 });
});

it('counts no generation from before the destination was enabled', async () => {
  await recordGenerations(app, 4, { createdAt: before(30) });
  const id = await standing(() => recordGenerations(app, 1));
  // The start of a destination that was enabled during an open transaction.
  await app.sql(
    'UPDATE delivery_cursors SET log_transaction = 0, log_ordinal = 0 WHERE destination_id = $1',
    [id],
  );
  expect((await untilDelivered(app, id, 1)).dropped).toEqual({});
});
