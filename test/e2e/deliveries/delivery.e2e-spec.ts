// Deliveries of the log to destinations: complete, in order, once, and continued by any live process.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { DESTINATIONS, deleteAllDestinations } from '../../support/requests/create-destination.js';
import { createTestDatabase } from '../../support/database/database.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
let others: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterEach(async () => {
  await deleteAllDestinations(app);
  for (const close of others.splice(0).toReversed()) await close();
});
afterAll(() => app.close());

async function newReceiver(): Promise<RunningReceiver> {
  const started = await startReceiver(traceCollector);
  others.push(() => started.close());
  return started;
}

describe('a destination', () => {
  it('receives every generation of a session once, in the order of commit', async () => {
    receiver = await newReceiver();
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await recordGenerations(app, 1_234, { sessionId: 'session' });
    const cursor = await untilDelivered(app, id, ids.length);
    const order = await app.sql<{ id: string }>(
      'SELECT id FROM generations WHERE workspace_id = $1 ORDER BY log_transaction, log_ordinal',
      [app.workspaceId],
    );
    expect(receiver.stored).toEqual(order.map((row) => row.id));
    expect(cursor).toMatchObject({ failures: 0, dropped: {}, paused_at: null });
  });

  it('receives no generation from before its creation', async () => {
    receiver = await newReceiver();
    await recordGenerations(app, 3);
    const { id } = await createDestination(app, { url: receiver.origin });
    const later = await recordGenerations(app, 2);
    await untilDelivered(app, id, 2);
    expect(receiver.stored.toSorted()).toEqual(later.toSorted());
  });

  it('receives the late commit of an older transaction before later generations', async () => {
    receiver = await newReceiver();
    const { id } = await createDestination(app, { url: receiver.origin });
    const slow = new pg.Client(app.databaseUrl);
    await slow.connect();
    others.push(() => slow.end());
    // A copy of a generation, appended by a transaction that stays open while others begin and commit.
    const [template] = await recordGenerations(app, 1);
    await untilDelivered(app, id, 1);
    await slow.query('BEGIN');
    const { rows } = await slow.query<{ id: string }>(
      `INSERT INTO generations SELECT (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(),
         'log_transaction', current_log_transaction()))).* FROM generations AS g WHERE g.id = $1 RETURNING id`,
      [template],
    );
    const later = await recordGenerations(app, 5);
    // A commit of another workspace is no signal: nothing may be sent while the older transaction can still commit.
    const lateReceiver = await newReceiver();
    await createDestination(app, { url: lateReceiver.origin });
    await eventually(
      () =>
        app.sql<{ held: boolean }>(
          `SELECT bool_and(log_transaction >= pg_snapshot_xmin(current_log_snapshot()::pg_snapshot)::text::bigint) AS held
           FROM generations WHERE id = ANY($1)`,
          [later],
        ),
      ([row]) => row?.held === true,
    );
    expect(receiver.stored).toEqual([template]);
    await slow.query('COMMIT');
    await untilDelivered(app, id, 7);
    expect(receiver.stored[1]).toBe(rows[0]?.id);
    expect(receiver.stored.slice(2).toSorted()).toEqual(later.toSorted());
  });

  it('is delivered to by another replica after the claim of a lost one has expired', async () => {
    receiver = await newReceiver();
    // Disabled until another process holds the claim: the notification of earlier generations would make this one
    // claim it.
    const { id } = await createDestination(app, { url: receiver.origin }, { enabled: false });
    const set = (claim: string): Promise<unknown> =>
      app.sql(`UPDATE delivery_cursors SET ${claim} WHERE destination_id = $1`, [id]);
    await set(`lease_owner = 'lost', lease_expires_at = now() + interval '1 hour'`);
    await app.sql('UPDATE destinations SET enabled = true WHERE id = $1', [id]);
    const ids = await recordGenerations(app, 10);
    const other = await newReceiver();
    const { id: otherId } = await createDestination(app, { url: other.origin });
    await recordGenerations(app, 1);
    await untilDelivered(app, otherId, 1);
    expect(receiver.stored).toEqual([]);
    await set('lease_expires_at = now()');
    await untilDelivered(app, id, 11);
    expect(receiver.stored).toHaveLength(11);
    expect(receiver.stored.slice(0, 10).toSorted()).toEqual(ids.toSorted());
  });

  it('is delivered to by one of two replicas at a time', async () => {
    receiver = await newReceiver();
    const { id } = await createDestination(app, { url: receiver.origin });
    const replica = await app.startReplica();
    others.push(() => replica.close());
    const ids: string[] = [];
    for (let round = 0; round < 10; round++) {
      ids.push(...(await recordGenerations(app, 20)));
      ids.push(...(await recordGenerations(replica, 20, {}, null, app.key)));
    }
    await untilDelivered(app, id, ids.length);
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
  });

  it('receives after a restart what was committed before it', async () => {
    const database = await createTestDatabase();
    others.push(() => database.drop());
    receiver = await newReceiver();
    receiver.always({ status: 503 });
    const first = await createDeliveryApp({ databaseUrl: database.url });
    const { id } = await createDestination(first, { url: receiver.origin });
    const ids = await recordGenerations(first, 5);
    await eventually(
      () => readCursor(first, id),
      ({ failures }) => failures > 0,
    );
    await first.close();
    receiver.always(null);
    const second = await createDeliveryApp({ databaseUrl: database.url });
    await untilDelivered(second, id, 5);
    await second.close();
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
  });
});

describe('a failure with an earlier config', () => {
  it('does not pause the destination', async () => {
    const patient = await createDeliveryApp({ environment: { BROADCAST_RETRY_MAX_DELAY_MS: '3600000' } });
    others.push(() => patient.close());
    let answer: (() => void) | null = null;
    const old = await startReceiver({
      check: async () => {
        await new Promise<void>((resolve) => (answer = resolve));
        return { reply: { status: 401 }, stored: [] };
      },
    });
    others.push(() => old.close());
    const current = await newReceiver();
    const { id } = await createDestination(patient, { url: old.origin });
    const ids = await recordGenerations(patient, 3);
    await eventually(
      async () => answer,
      (given) => given !== null,
    );
    const { status } = await patient.http
      .patch(`${DESTINATIONS}/${id}`)
      .set('authorization', `Bearer ${patient.managementKey}`)
      .send({ config: { url: current.origin } });
    expect(status).toBe(200);
    // Resolves when the app knows of the commit.
    await patient.sql('SELECT 1');
    answer!();
    await untilDelivered(patient, id, 3);
    expect(current.stored.toSorted()).toEqual(ids.toSorted());
  });
});

describe('deliveries while it is disabled', () => {
  it.each([
    ['the destination', `UPDATE destinations SET enabled = $2 WHERE workspace_id = $1`],
    ['its workspace', `UPDATE workspaces SET is_broadcast_enabled = $2 WHERE id = $1`],
  ])('collect nothing for %s, and continue behind the disabled time', async (_what, statement) => {
    receiver = await newReceiver();
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 1);
    await untilDelivered(app, id, 1);
    await app.sql(statement, [app.workspaceId, false]);
    await eventually(
      () => readCursor(app, id),
      ({ lease_owner }) => lease_owner === null,
    );
    await recordGenerations(app, 3);
    await app.sql(statement, [app.workspaceId, true]);
    const [last] = await recordGenerations(app, 1);
    await untilDelivered(app, id, 2);
    expect(receiver.stored).toHaveLength(2);
    expect(receiver.stored[1]).toBe(last);
  });
});
