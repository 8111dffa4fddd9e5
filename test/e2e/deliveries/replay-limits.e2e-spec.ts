// Rate limits of replays and tests: stored in the database, so that every replica and restart respects them.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { DESTINATIONS, deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const RUNNING =
  'Resource conflict. Please try again later.: a replay to this destination is still running; wait until it has ended';
const TOO_OFTEN = 'Rate limit exceeded: a destination can be replayed to 6 times an hour';

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

const post = (action: string, body: object = {}, id = destination.id) =>
  app.http
    .post(`${DESTINATIONS}/${id}/${action}`)
    .set('authorization', `Bearer ${app.managementKey}`)
    .send(body);
const recent = (name: string) =>
  app.sql<{ count: number }>(
    `SELECT cardinality(${name}) AS count FROM delivery_cursors WHERE destination_id = $1`,
    [destination.id],
  );
const startedBefore = (name: string, age: string, count: number) =>
  app.sql(
    `UPDATE delivery_cursors SET ${name} = array_fill(now() - $2::interval, ARRAY[$3::integer])
     WHERE destination_id = $1`,
    [destination.id, age, count],
  );
const fromNow = () => ({ from: app.clock.now().toISOString() });

/** Makes dead letters of delivered generations. */
async function bury(count: number): Promise<readonly string[]> {
  const ids = await recordGenerations(app, count);
  await untilDelivered(app, destination.id, count);
  await app.sql(
    `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
     SELECT workspace_id, $1, id, created_at, 'refused', '' FROM generations WHERE id = ANY($2)`,
    [destination.id, ids],
  );
  return ids;
}

describe('a replay', () => {
  it('is rejected with 409 while one from a time runs, and accepted afterwards', async () => {
    await recordGenerations(app, 3);
    await untilDelivered(app, destination.id, 3);
    receiver.always({ status: 503 });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => post('replay', fromNow())));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      202, 409, 409, 409, 409,
    ]);
    expectError(await post('replay', { dead_letters: 'all' }), 409, RUNNING);
    receiver.always(null);
    await untilDelivered(app, destination.id, 6);
    expect((await post('replay', fromNow())).status).toBe(202);
    await untilDelivered(app, destination.id, 9);
    expect(await recent('replays_started_at')).toEqual([{ count: 2 }]);
  });

  it('is rejected with 409 while dead letters are being delivered', async () => {
    await bury(2);
    receiver.always({ status: 503 });
    expect((await post('replay', { dead_letters: 'all' })).body).toEqual({ data: { dead_letters: 2 } });
    expectError(await post('replay', { dead_letters: 'all' }), 409, RUNNING);
    expectError(await post('replay', fromNow()), 409, RUNNING);
    receiver.always(null);
    await eventually(
      () =>
        app.sql('SELECT 1 FROM dead_letters WHERE destination_id = $1 AND NOT is_delivered', [
          destination.id,
        ]),
      (rows) => rows.length === 0,
    );
    expect((await post('replay', { dead_letters: 'all' })).body).toEqual({ data: { dead_letters: 0 } });
  });

  it.each([
    ['from a time', () => fromNow()],
    ['of dead letters', () => ({ dead_letters: 'all' })],
  ])('of %s is rejected with 429 after six in an hour, and accepted an hour later', async (_what, body) => {
    await bury(1);
    await startedBefore('replays_started_at', '50 minutes', 6);
    const rejected = await post('replay', body());
    expectError(rejected, 429, TOO_OFTEN);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(500);
    expect(Number(rejected.headers['retry-after'])).toBeLessThanOrEqual(600);
    await startedBefore('replays_started_at', '61 minutes', 6);
    expect((await post('replay', body())).status).toBe(202);
    // Expired times are removed: the row does not grow.
    expect(await recent('replays_started_at')).toEqual([{ count: 1 }]);
  });

  it('does not count when it sends nothing, and counts for its own destination only', async () => {
    // No generation is newer.
    app.clock.advance(60_000);
    for (let count = 0; count < 8; count++) {
      expect((await post('replay', { dead_letters: 'all' })).status).toBe(202);
      expect((await post('replay', fromNow())).status).toBe(202);
    }
    await startedBefore('replays_started_at', '1 minute', 6);
    const elsewhere = await createDestination(app, { url: receiver.origin });
    expectError(await post('replay', fromNow()), 429, TOO_OFTEN);
    expect((await post('replay', fromNow(), elsewhere.id)).status).toBe(202);
  });
});

describe('a connection test', () => {
  it('is rejected with 429 after ten in a minute, and accepted a minute later', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, () => post('test')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const rejected = await post('test');
    expectError(rejected, 429, 'Rate limit exceeded: a destination can be tested 10 times a minute');
    const retryAfter = Number(rejected.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(50);
    // Clients obey a shorter wait than a minute only.
    expect(retryAfter).toBeLessThanOrEqual(59);
    expect(rejected.body.error.metadata.headers).toEqual({
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': rejected.headers['x-ratelimit-reset'],
    });
    expect(receiver.requests).toHaveLength(10);
    await startedBefore('tests_started_at', '60 seconds', 10);
    expect((await post('test')).body.data.ok).toBe(true);
    expect(await recent('tests_started_at')).toEqual([{ count: 1 }]);
  });
});
