// A backup that was taken while the service served, restored into the empty database of another server: serving and
// delivering continue.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ActivityRollup } from '../../../src/upkeep/activity-rollup.js';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { allowAnyDay, createTestDatabase } from '../../support/database/database.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { untilSummedUp } from '../../support/database/rollups.js';
import { backUp, createDatabaseOnNewServer, restore } from '../../support/database/restored-database.js';
import { startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const SECRET = 'Bearer secret-of-the-receiver';
// The stub reports five tokens a call, of 0.02 USD a million.
const COST = 100_000n;
const BEFORE = 6;
const UNDELIVERED = 4;
const AFTER = 5;
// Milliseconds: a server is created, started and migrated.
const TIMEOUT = 180_000;

let receiver: RunningReceiver;
let before: TestApp;
let app: TestApp;
let key: TestKey;
let limited: TestKey;
let destinationId: string;
const ids = { delivered: [] as string[], waiting: [] as string[], lost: [] as string[] };
const closers: (() => Promise<unknown>)[] = [];
const known = { activity: {}, key: {} };
const ACTIVITY = '/activity?date=2026-11-17';

/** Makes one call and returns the generation's id as the log has it. */
async function call(on: TestApp, secret: string, status = 200): Promise<string> {
  const answer = await on.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${secret}`)
    .send({ model: 'openai/text-embedding-3-small', input: 'one two three four five' });
  expect(answer.status).toBe(status);
  return String(answer.headers['x-generation-id']);
}

async function calls(on: TestApp, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let number = 0; number < count; number++) made.push(await call(on, key.secret));
  return made;
}

const asUuid = (id: string): string => id.replace(/^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
/** As the account that existed before the backup. */
const asked = <Body>(on: TestApp, path: string): Promise<Body> =>
  askFor<Body>(200, on, 'get', path, { key: before.managementKey });

beforeAll(async () => {
  const upstream = await startStubUpstream();
  closers.push(() => upstream.close());
  receiver = await startReceiver(traceCollector);
  closers.push(() => receiver.close());
  const target = await createDatabaseOnNewServer();
  closers.push(() => target.drop());
  const source = await createTestDatabase();
  closers.push(() => source.drop());
  const environment = { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: `${upstream.origin}/v1` };
  before = await createDeliveryApp({ databaseUrl: source.url, environment });
  // For a new source server too, its numbers must be larger than those of the other one.
  await before.sql(
    'DO $$ BEGIN FOR number IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$',
  );
  key = await before.createKey();
  limited = await before.createKey({ limit: COST * 3n });
  await call(before, limited.secret);
  await recordGenerations(before, 3, { createdAt: new Date('2026-11-17T12:00:00.000Z'), cost: COST });

  const config = { url: receiver.origin, headers: { authorization: SECRET } };
  ({ id: destinationId } = await createDestination(before, config));
  ids.delivered = await calls(before, BEFORE);
  await untilDelivered(before, destinationId, BEFORE);
  receiver.always({ status: 503 });
  ids.waiting = await calls(before, UNDELIVERED);
  await eventually(
    () => readCursor(before, destinationId),
    ({ failures }) => failures > 0,
  );
  await before.application.get(ActivityRollup).catchUp(0);
  known.activity = await asked(before, ACTIVITY);
  known.key = await asked(before, `/keys/${limited.record.hash}`);
  const [backup, between] = await Promise.all([backUp(source.url), calls(before, 1)]);
  ids.lost = await calls(before, 1);
  await before.close();
  receiver.forget();

  await restore(backup, target.url);
  await allowAnyDay(target.url);
  // Only the backup shows whether it contains this.
  const isIn = backup.some(([table, rows]) => table === 'generations' && rows.includes(asUuid(between[0]!)));
  (isIn ? ids.waiting : ids.lost).push(...between);
  app = await createDeliveryApp({ databaseUrl: target.url, environment, clock: before.clock });
  closers.push(() => app.close());
}, TIMEOUT);
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

describe('a restored backup', () => {
  it('has larger numbers in its log than the new server assigns', async () => {
    const [row] = await app.sql<{ log: string; server: string }>(
      `SELECT max(log_transaction) % (1::bigint << 48) AS log, pg_current_xact_id()::text::bigint AS server
       FROM generations WHERE id = ANY($1)`,
      [ids.delivered.map(asUuid)],
    );
    expect(Number(row?.log)).toBeGreaterThan(Number(row?.server));
  });

  it('delivers pending and new generations once, in order, and no others', async () => {
    const expected = [...ids.waiting, ...(await calls(app, AFTER))];
    const cursor = await untilDelivered(app, destinationId, BEFORE + expected.length);
    expect(receiver.stored).toEqual(expected.map(asUuid));
    expect(cursor).toMatchObject({ failures: 0, dropped: {}, paused_at: null });
    expect(receiver.requests.every(({ headers }) => headers.authorization === SECRET)).toBe(true);
  });

  it('delivers only new generations to a new destination', async () => {
    const other = await startReceiver(traceCollector);
    const { id } = await createDestination(
      app,
      { url: other.origin },
      { accountId: before.accountId, workspaceId: before.workspaceId },
    );
    const later = await calls(app, 2);
    await untilDelivered(app, id, 2);
    expect(other.stored).toEqual(later.map(asUuid));
    await askFor(200, app, 'delete', `/observability/destinations/${id}`, { key: before.managementKey });
    await other.close();
  });

  it('has the keys, their spend and their limits', async () => {
    expect(await asked(app, `/keys/${limited.record.hash}`)).toEqual(known.key);
    await call(app, limited.secret);
    await call(app, limited.secret);
    await call(app, limited.secret, 402);
  });

  it('has the destinations and their secrets', async () => {
    const { data } = await asked<{ data: { config: object } }>(
      app,
      `/observability/destinations/${destinationId}`,
    );
    expect(data).toMatchObject({ config: { url: receiver.origin }, enabled: true });
  });

  it('has the calls from before and after the backup', async () => {
    for (const id of [...ids.delivered, ...ids.waiting, await call(app, key.secret)])
      expect(await asked(app, `/generation?id=${id}`)).toMatchObject({ data: { id } });
    for (const id of ids.lost) {
      const answer = await ask(app, 'get', `/generation?id=${id}`, { key: before.managementKey });
      expect(answer.status).toBe(404);
    }
  });

  it('shows the same activity, and counts every call of the log once', async () => {
    expect(await asked(app, ACTIVITY)).toEqual(known.activity);
    const [sums] = await app.sql<{ counted: string; logged: string }>(
      `SELECT (SELECT sum(total) FROM account_spend) AS counted, (SELECT sum(cost) FROM generations) AS logged`,
    );
    expect(sums?.counted).toBe(sums?.logged);
  });

  it('is summed up completely for the activity', async () => {
    await call(app, key.secret);
    await untilSummedUp(app);
    const [sums] = await app.sql<{ summed: string; logged: string }>(
      `SELECT (SELECT sum(requests) FROM activity_days) AS summed, (SELECT count(*) FROM generations) AS logged`,
    );
    expect(sums?.summed).toBe(sums?.logged);
    expect(await asked(app, ACTIVITY)).toEqual(known.activity);
  });
});
