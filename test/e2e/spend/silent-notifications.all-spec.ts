// The connection for notifications dies silently, without a reset or a response. Revoked keys and lowered limits still
// take effect within two seconds.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { formatUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { SynchronizedClock } from '../../../src/domain/clock.js';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import type { TestKey } from '../../support/app/app.js';
import { embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { createTestDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';
import { startDatabaseProxy } from '../../support/database/database-proxy.js';
import type { DatabaseProxy } from '../../support/database/database-proxy.js';
import { eventually } from '../../support/eventually.js';
import { sendJson, toBase64 } from '../../support/upstreams/stub-upstream.js';

const INPUT = [1, 2, 3, 4, 5];
const COST = parseUsdPerMillion('0.02') * BigInt(INPUT.length);
const VECTOR = toBase64(Array<number>(1536).fill(1));
const TWO_SECONDS = 2_000;
/** A process leases one part in so many of a limit at once. */
const SHARE = 50;

let database: TestDatabase;
let proxy: DatabaseProxy;
let setup: Setup;
let notifications: Notifications;
/** Bypasses the proxy, and the service's notice of its own changes. */
let direct: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  setup = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '0' }, { databaseUrl: proxy.url });
  setup.upstream.answerWith((_request, response) =>
    sendJson(response, 200, {
      data: [{ index: 0, embedding: VECTOR }],
      usage: { prompt_tokens: INPUT.length, total_tokens: INPUT.length },
    }),
  );
  notifications = setup.app.application.get(Notifications);
});
beforeEach(async () => {
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  await untilTrusted(true);
});
afterEach(async () => {
  jest.restoreAllMocks();
  proxy.corrupt(null);
  // Without this, the next test would wait for the service to replace the connection.
  proxy.cut();
  await untilTrusted(false);
  proxy.repair();
  await direct.end();
});
afterAll(async () => {
  await setup.close();
  await proxy.close();
  await database.drop();
});

const untilTrusted = (isTrusted: boolean) =>
  eventually(
    () => Promise.resolve(notifications.isTrusted),
    (answer) => answer === isTrusted,
  );

/** The connection for notifications transfers nothing more, and does not end. */
const silence = (): void => proxy.corrupt({ kind: 'silence' }, 'signalbox notifications');

function passTwoSeconds(): void {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + TWO_SECONDS);
}

const call = async ({ secret }: TestKey): Promise<number> =>
  (await embed(setup.app, { model: SMALL, input: INPUT }, secret)).status;

/** The number of served calls among so many. */
async function served(key: TestKey, calls: number): Promise<number> {
  let count = 0;
  for (let made = 0; made < calls; made++) if ((await call(key)) === 200) count++;
  return count;
}

const setLimit = ({ record }: TestKey, calls: bigint) =>
  direct.query('UPDATE api_keys SET limit_amount = $2 WHERE id = $1', [record.id, formatUsd(COST * calls)]);

describe('a silent connection for notifications', () => {
  it('rejects a disabled key after two seconds', async () => {
    const key = await setup.app.createKey();
    expect(await call(key)).toBe(200);
    silence();
    await direct.query('UPDATE api_keys SET disabled = true WHERE id = $1', [key.record.id]);
    passTwoSeconds();
    expect(await call(key)).toBe(401);
  });

  it('lets a lowered limit be overspent by the lease at most, and by nothing after two seconds', async () => {
    const key = await setup.app.createKey({ limit: COST * 1_000n });
    expect(await call(key)).toBe(200);
    silence();
    await setLimit(key, 5n);
    const lease = 1_000 / SHARE;
    expect(await served(key, lease * 2)).toBeLessThanOrEqual(lease);
    passTwoSeconds();
    expect(await call(key)).toBe(402);
  });

  it('keeps leases of a lowered limit from being spent after two seconds', async () => {
    const key = await setup.app.createKey({ limit: COST * 1_000n });
    expect(await call(key)).toBe(200);
    silence();
    await setLimit(key, 3n);
    passTwoSeconds();
    expect(await served(key, 10)).toBe(2);
  });

  it('rejects calls after two seconds for a lowered budget and removed credits', async () => {
    const { workspaceId, accountId } = setup.app;
    await direct.query(
      `INSERT INTO workspace_budgets (workspace_id, "interval", limit_amount) VALUES ($1, 'lifetime', 1)`,
      [workspaceId],
    );
    await setup.app.sql('UPDATE accounts SET credits = 1 WHERE id = $1', [accountId]);
    const key = await setup.app.createKey();
    expect(await call(key)).toBe(200);
    silence();
    await direct.query('UPDATE workspace_budgets SET limit_amount = 0.000000000001');
    passTwoSeconds();
    expect(await call(key)).toBe(403);
    await direct.query('DELETE FROM workspace_budgets');
    expect(await call(key)).toBe(200);
    await direct.query('UPDATE accounts SET credits = 0');
    expect(await call(key)).toBe(402);
    await direct.query('UPDATE accounts SET credits = NULL');
  });

  it('loses no notification when it continues after a pause', async () => {
    const key = await setup.app.createKey();
    expect(await call(key)).toBe(200);
    proxy.corrupt({ kind: 'delay', milliseconds: 2_500 }, 'signalbox notifications');
    await untilTrusted(false);
    await direct.query('UPDATE api_keys SET disabled = true WHERE id = $1', [key.record.id]);
    expect(await call(key)).toBe(401);
    proxy.corrupt(null);
    await untilTrusted(true);
    expect(await call(key)).toBe(401);
  });

  it('is replaced', async () => {
    silence();
    await untilTrusted(false);
    proxy.corrupt(null);
    await untilTrusted(true);
  });
});

describe('the time of the service', () => {
  it('is that of the database, which every heartbeat returns', async () => {
    const clock = setup.app.application.get(SynchronizedClock);
    await direct.query(
      `CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql STABLE
       AS $$ SELECT now() + interval '10 years' $$`,
    );
    const year = new Date().getUTCFullYear();
    await eventually(
      () => Promise.resolve(clock.now().getUTCFullYear()),
      (shown) => shown >= year + 10,
    );
  });
});
