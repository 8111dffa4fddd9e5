// Dead letters: generations that become one, others that do not, and replays.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  readDeadLetters,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText, createGeneration } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
let destination: Destination;
/** The platform's answer to requests with certain generations. */
let rejection: { ids: readonly string[]; status: number; body: string };
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  rejection = { ids: [], status: 422, body: 'no' };
  receiver = await startReceiver({
    check: (request) =>
      generationsIn(request).some((id) => rejection.ids.includes(id))
        ? { reply: { status: rejection.status, body: rejection.body }, stored: [] }
        : traceCollector.check(request),
  });
  destination = await createDestination(app, { url: receiver.origin });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

const letters = () => readDeadLetters(app, destination.id);

/** Makes dead letters of delivered generations, and requests a replay of all of them. */
async function askAgainFor(count: number, text: string, answer: Partial<typeof rejection>): Promise<void> {
  const ids = await recordGenerations(app, count, {}, contentOfText(text));
  await untilDelivered(app, destination.id, count);
  rejection = { ...rejection, ids, ...answer };
  await app.sql(
    `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
     SELECT workspace_id, $1, id, created_at, 'refused', 'before' FROM generations WHERE id = ANY($2)`,
    [destination.id, ids],
  );
  await app.sql('UPDATE dead_letters SET replay_requested_at = now() WHERE destination_id = $1', [
    destination.id,
  ]);
}

describe('a destination that was paused for its credentials', () => {
  it.each([3, 12])(
    'after %i failures continues where it stopped, past a trace that is rejected for good',
    async (failures) => {
      await app.sql(
        'UPDATE delivery_cursors SET paused_at = now(), failures = $2 WHERE destination_id = $1',
        [destination.id, failures],
      );
      const poison = createGeneration(app.key, { createdAt: app.clock.now() });
      rejection = { ...rejection, ids: [poison.id] };
      await app.application.get(GenerationLog).append(poison, [], null);
      await recordGenerations(app, 30);
      const row = await untilDelivered(app, destination.id, 30);
      expect(row).toMatchObject({ dropped: { refused: 1 }, failures: 0, paused_at: null });
      expect(await letters()).toMatchObject([{ generation_id: poison.id, message: 'HTTP 422: no' }]);
    },
  );
});

describe('a destination that rejects everything under light traffic', () => {
  const untilReleased = () =>
    eventually(
      () => readCursor(app, destination.id),
      (row) => row.lease_owner === null,
    );
  const countRejections = (count: number) =>
    app.sql('UPDATE delivery_cursors SET consecutive_rejections = $2 WHERE destination_id = $1', [
      destination.id,
      count,
    ]);

  it.each([400, 413])('counts %i across its consumers, and pauses without a further loss', async (status) => {
    receiver.always({ status, body: 'wrong project' });
    await untilReleased();
    await countRejections(18);
    await recordGenerations(app, 1);
    await eventually(letters, ({ length }) => length === 1);
    expect(await untilReleased()).toMatchObject({
      consecutive_rejections: 19,
      paused_at: null,
      last_error_class: 'refused',
      last_error_status: status,
      last_error_message: `HTTP ${status}: wrong project`,
    });
    await recordGenerations(app, 1);
    const paused = await eventually(
      () => readCursor(app, destination.id),
      (row) => row.paused_at !== null,
    );
    expect(paused.last_error_message).toBe(`everything is refused: HTTP ${status}: wrong project`);
    expect(await letters()).toHaveLength(1);
  });

  it('counts from the beginning after an accepted generation', async () => {
    await untilReleased();
    await countRejections(19);
    await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 1);
    receiver.always({ status: 400 });
    await recordGenerations(app, 1);
    await eventually(letters, ({ length }) => length === 1);
    expect(await readCursor(app, destination.id)).toMatchObject({
      consecutive_rejections: 1,
      paused_at: null,
    });
  });
});

describe('an error of the platform’s own', () => {
  it('for every trace makes no dead letters: all are delivered once the platform recovers', async () => {
    receiver.always({ status: 500, body: 'too many parts' });
    const ids = await recordGenerations(app, 40);
    const row = await eventually(
      () => readCursor(app, destination.id),
      ({ failures }) => failures >= 20,
    );
    expect(row).toMatchObject({ dropped: {}, delivered: '0', last_error_status: 500 });
    receiver.always(null);
    await untilDelivered(app, destination.id, 40);
    expect(new Set(receiver.stored)).toEqual(new Set(ids));
    expect(await letters()).toEqual([]);
  });

  it('for one generation makes it a dead letter, and all others are delivered', async () => {
    receiver.always({ status: 503 });
    const ids = await recordGenerations(app, 12);
    rejection = { ids: [ids[3]!], status: 500, body: 'cannot read it' };
    receiver.always(null);
    const row = await untilDelivered(app, destination.id, 11);
    expect(row.dropped).toEqual({ refused: 1 });
    expect(new Set(receiver.stored)).toEqual(new Set(ids.filter((id) => id !== ids[3])));
    expect(await letters()).toMatchObject([
      { generation_id: ids[3], message: expect.stringMatching(/^given up after \d+ attempts: HTTP 500/) },
    ]);
  });
});

describe('a rejection whose quote ends within a character', () => {
  it('is stored without the broken character, and all others are delivered', async () => {
    receiver.always({ status: 503 });
    const ids = await recordGenerations(app, 5);
    rejection = { ids: [ids[1]!], status: 422, body: `${'x'.repeat(199)}😀` };
    receiver.always(null);
    await untilDelivered(app, destination.id, 4);
    expect(await letters()).toMatchObject([{ message: `HTTP 422: ${'x'.repeat(199)}` }]);
  });
});

describe('dead letters whose replay is requested', () => {
  it.each([400, 500])(
    'stay when they are answered with %s, without delaying new generations',
    async (status) => {
      await askAgainFor(30, 'some text', { status });
      await recordGenerations(app, 5);
      await untilDelivered(app, destination.id, 35);
      const kept = await eventually(letters, (rows) => rows.every((row) => !row.isRequested));
      expect(kept).toHaveLength(30);
      expect(kept[0]?.message).toBe(`HTTP ${status}: no`);
      expect(await readCursor(app, destination.id)).toMatchObject({ paused_at: null, dropped: {} });
    },
  );

  it('are all delivered, though they exceed one batch', async () => {
    await askAgainFor(80, 'x'.repeat(40_000), { ids: [] });
    await eventually(letters, ({ length }) => length === 0);
    expect(receiver.stored).toHaveLength(160);
  });
});

describe('a delivery that an internal error interrupts', () => {
  it('counts as a failure, and continues once the error is fixed', async () => {
    await app.sql(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'defect'; END $$`,
    );
    await app.sql(`CREATE TRIGGER defect BEFORE INSERT ON dead_letters EXECUTE FUNCTION fail()`);
    try {
      receiver.always({ status: 503 });
      const ids = await recordGenerations(app, 3);
      rejection = { ids: [ids[0]!], status: 422, body: 'no' };
      receiver.always(null);
      await eventually(
        () => readCursor(app, destination.id),
        (row) => row.failures > 2 && row.last_error_message === 'interrupted by an internal error',
      );
    } finally {
      await app.sql('DROP TRIGGER defect ON dead_letters');
      await app.sql('DROP FUNCTION fail');
    }
    await untilDelivered(app, destination.id, 2);
    expect(await letters()).toHaveLength(1);
  });
});

describe('a pause that has ended', () => {
  it('is not due again once all generations have a result', async () => {
    receiver.always({ status: 503 });
    const ids = await recordGenerations(app, 1);
    await eventually(
      () => readCursor(app, destination.id),
      ({ failures }) => failures > 0,
    );
    rejection = { ids, status: 422, body: 'no' };
    receiver.always(null);
    await eventually(letters, ({ length }) => length === 1);
    await eventually(
      () =>
        app.sql('SELECT lease_owner, next_attempt_at FROM delivery_cursors WHERE destination_id = $1', [
          destination.id,
        ]),
      ([row]) => row?.['lease_owner'] === null && row['next_attempt_at'] === null,
    );
  });

  it.each([
    ['enabled = false', [{ next_attempt_at: null }]],
    // It has no cursor any more.
    ['deleted_at = now(), slot = NULL', []],
  ])('is not due with %s', async (change, cursors) => {
    await app.sql(
      "UPDATE delivery_cursors SET next_attempt_at = now() + interval '1 day' WHERE destination_id = $1",
      [destination.id],
    );
    await app.sql(`UPDATE destinations SET ${change} WHERE id = $1`, [destination.id]);
    const rows = await app.sql('SELECT next_attempt_at FROM delivery_cursors WHERE destination_id = $1', [
      destination.id,
    ]);
    expect(rows).toEqual(cursors);
  });
});
