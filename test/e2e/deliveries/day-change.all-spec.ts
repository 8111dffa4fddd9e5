// A day of the service in an hour's steps: partitions come and go while calls are recorded and delivered.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ActivityRollup } from '../../../src/upkeep/activity-rollup.js';
import { Database } from '../../../src/persistence/database/database.js';
import { LogRetention } from '../../../src/upkeep/log-retention.js';
import { Partitions } from '../../../src/upkeep/partitions.js';
import { rebuildSpend } from '../../../src/upkeep/spend-rebuild.js';
import { DeletedRows } from '../../../src/upkeep/deleted-rows.js';
import type { TestApp } from '../../support/app/app.js';
import { administrate, setDatabaseTime } from '../../support/database/database.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { untilSummedUp } from '../../support/database/rollups.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const HOUR = 3_600_000;
const START = new Date('2026-11-18T12:30:00.000Z');
const HOURS = 24 * 3;
const CALLS = 3;
const DAYS_KEPT = 2;
// Each of the hours waits for its deliveries.
const LONG = 600_000;

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp({ environment: { GENERATION_RETENTION_DAYS: String(DAYS_KEPT) } });
  receiver = await startReceiver(traceCollector);
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

/** Everything that the service runs by the hour. */
async function runHourly(): Promise<void> {
  await app.application.get(Partitions).ensure();
  await app.application.get(Partitions).emptyDefault();
  await app.application.get(LogRetention).dropExpired();
  await app.application.get(ActivityRollup).catchUp(0);
  await app.application.get(DeletedRows).purge();
}

async function setTime(moment: Date): Promise<void> {
  const text = moment.toISOString();
  app.clock.set(text);
  await setDatabaseTime(app.databaseUrl, text);
  await administrate(
    app.databaseUrl,
    `CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT '${text}'::timestamptz $$`,
  );
}

it(
  'loses no call and no delivery in three days of hourly work, and keeps two of them',
  async () => {
    await setTime(START);
    const { id } = await createDestination(app, { url: receiver.origin });
    const recorded: { id: string; at: number }[] = [];
    const oldest: string[] = [];
    for (let hour = 0; hour < HOURS; hour++) {
      const now = new Date(START.getTime() + hour * HOUR);
      await setTime(now);
      const [ids] = await Promise.all([recordGenerations(app, CALLS, { cost: 1_000n }), runHourly()]);
      recorded.push(...ids.map((one) => ({ id: one, at: now.getTime() })));
      await untilDelivered(app, id, recorded.length);
      const [first] = await app.sql<{ partition: string }>(
        "SELECT partition FROM time_partitions('generations') ORDER BY starts LIMIT 1",
      );
      if (oldest.at(-1) !== first?.partition) oldest.push(first?.partition ?? '');
    }
    await untilSummedUp(app, runHourly);
    await app.application.get(LogRetention).dropExpired();

    const delivered = receiver.stored.map(String).toSorted();
    expect(delivered).toEqual(recorded.map((one) => one.id).toSorted());
    // It is 11:30 on the 21st: the 19th has ended less than two days ago.
    expect(oldest).toEqual(['generations_2026_11_18', 'generations_2026_11_19']);
    const left = await app.sql<{ id: string }>('SELECT id FROM generations');
    const kept = recorded.filter(({ at }) => at >= Date.parse('2026-11-19T00:00:00Z'));
    expect(left.map((row) => row.id).toSorted()).toEqual(kept.map((one) => one.id).toSorted());
    expect(await app.sql('SELECT FROM ONLY generations_default')).toEqual([]);
    const [sums] = await app.sql<{ requests: string; usage: string }>(
      'SELECT sum(requests) AS requests, sum(usage) AS usage FROM activity_days',
    );
    expect(sums).toEqual({ requests: String(recorded.length), usage: '0.000000216000' });
    expect(await rebuildSpend(app.application.get(Database))).toEqual({
      key: 0,
      guardrail: 0,
      workspace: 0,
      account: 0,
    });
  },
  LONG,
);
