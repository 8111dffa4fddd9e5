// Replays from a time: delivered generations, and rejected requests.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import type { FilterRules } from '../../../src/domain/destinations/filter-rules.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  readDeadLetters,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { DESTINATIONS, deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
let destination: Destination;
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  receiver = await startReceiver(traceCollector);
  destination = await createDestination(app, { url: receiver.origin });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

const post = (action: string, body: object, id = destination.id) =>
  app.http
    .post(`${DESTINATIONS}/${id}/${action}`)
    .set('authorization', `Bearer ${app.managementKey}`)
    .send(body);
const fromNow = (): object => ({ from: app.clock.now().toISOString() });

/** Excludes generations with these words in their input. */
const without = (words: string): FilterRules => ({
  enabled: true,
  groups: [{ logic: 'and', rules: [{ field: 'input', operator: 'not_contains', value: words }] }],
});

describe('POST /replay from a time', () => {
  it('delivers all generations since then again in order, then continues', async () => {
    await recordGenerations(app, 2);
    await untilDelivered(app, destination.id, 2);
    app.clock.advance(60_000);
    const from = app.clock.now();
    const again = await recordGenerations(app, 3);
    await untilDelivered(app, destination.id, 5);
    expect((await post('replay', { from: from.toISOString() })).body).toEqual({
      data: { dead_letters: null },
    });
    const later = await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 9);
    expect(receiver.stored.slice(5, 8).toSorted()).toEqual(again.toSorted());
    expect(receiver.stored[8]).toBe(later[0]);
  });

  it('delivers the dead letters among its generations', async () => {
    const from = fromNow();
    const [kept] = await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 1);
    const ids = await recordGenerations(app, 2);
    await untilDelivered(app, destination.id, 3);
    await app.sql(
      `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
       SELECT workspace_id, $1, id, created_at, 'refused', 'before' FROM generations WHERE id = ANY($2)`,
      [destination.id, ids],
    );
    // A generation that is not part of a replay costs nothing further.
    await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 4);
    expect(await readDeadLetters(app, destination.id)).toHaveLength(2);
    expect((await post('replay', from)).status).toBe(202);
    await untilDelivered(app, destination.id, 8);
    expect(receiver.stored.filter((id) => id === kept)).toHaveLength(2);
    await eventually(
      () => readDeadLetters(app, destination.id),
      ({ length }) => length === 0,
    );
  });

  it.each<[string, () => object]>([
    ['nothing', () => ({})],
    ['both', () => ({ from: app.clock.now().toISOString(), dead_letters: 'all' })],
    ['the future', () => ({ from: new Date(app.clock.now().getTime() + 60_000).toISOString() })],
    ['two days ago', () => ({ from: new Date(app.clock.now().getTime() - 48 * 3_600_000).toISOString() })],
    ['no time', () => ({ from: 'yesterday' })],
    ['a time that JavaScript cannot read', () => ({ from: '2026-11-18T12:00:00+00' })],
    ['a time of no zone', () => ({ from: '2026-11-18T12:00:00' })],
    ['no ids', () => ({ dead_letters: [] })],
    ['what is no id', () => ({ dead_letters: ['x'] })],
    ['an unknown member', () => ({ dead_letters: 'all', force: true })],
  ])('rejects %s', async (_name, body) => {
    expectError(await post('replay', body()), 400, /^Invalid request parameters: /);
  });
});

describe('a replay without effect', () => {
  const SWITCHES = [
    ['destination', 'UPDATE destinations SET enabled = $2 WHERE workspace_id = $1'],
    ["destination's workspace", 'UPDATE workspaces SET is_broadcast_enabled = $2 WHERE id = $1'],
  ] as const;

  it.each(SWITCHES)('is rejected while the %s is disabled', async (_what, statement) => {
    await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 1);
    await app.sql(statement, [app.workspaceId, false]);
    const position = 'SELECT log_transaction FROM delivery_cursors WHERE destination_id = $1';
    const before = await app.sql(position, [destination.id]);
    expectError(await post('replay', fromNow()), 409, /switch it on first/);
    expect(await app.sql(position, [destination.id])).toEqual(before);
    // Dead letters wait until it is enabled.
    expect((await post('replay', { dead_letters: 'all' })).status).toBe(202);
    await app.sql(statement, [app.workspaceId, true]);
  });

  it('is rejected for a destination that filters by input', async () => {
    const { id } = await createDestination(app, { url: receiver.origin }, { filterRules: without('secret') });
    expectError(await post('replay', fromNow(), id), 400, /filters by input/);
    expect((await post('replay', { dead_letters: 'all' }, id)).status).toBe(202);
  });
});

describe('a filter by input that is set after the inputs were removed', () => {
  it('excludes and counts generations without a stored input', async () => {
    app.clock.advance(1);
    await recordGenerations(app, 2, {}, contentOfText('a secret'));
    await untilDelivered(app, destination.id, 2);
    await eventually(
      () => app.sql('SELECT 1 FROM generation_contents'),
      (rows) => rows.length === 0,
    );
    receiver.always({ status: 503 });
    await post('replay', fromNow());
    await eventually(
      () => readCursor(app, destination.id),
      ({ failures }) => failures > 0,
    );
    await app.http
      .patch(`${DESTINATIONS}/${destination.id}`)
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ filter_rules: without('secret') })
      .expect(200);
    await eventually(
      () => readCursor(app, destination.id),
      ({ dropped }) => dropped['content_gone'] === 2,
    );
    receiver.always(null);
    const [fine] = await recordGenerations(app, 1, {}, contentOfText('nothing to hide'));
    await untilDelivered(app, destination.id, 3);
    expect(receiver.stored.slice(2)).toEqual([fine]);
  });
});
