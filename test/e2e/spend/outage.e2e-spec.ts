// The database fails during a call: with any outcome of its settlement, the key's money is neither lost nor spent
// twice.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import { SPEND_POLICY_CHANNEL } from '../../../src/spend/spend-policy-cache.js';
import type { TestKey } from '../../support/app/app.js';
import { embed, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { createTestDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';
import { startDatabaseProxy } from '../../support/database/database-proxy.js';
import type { DatabaseProxy } from '../../support/database/database-proxy.js';
import { eventually } from '../../support/eventually.js';
import { sendJson, toBase64 } from '../../support/upstreams/stub-upstream.js';
import { WAITS_FOR_LOCK, untilLockWait } from '../../support/database/waiting-statements.js';

// An input whose tokens the caller counts: its bound equals its cost.
const INPUT = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const BODY = { model: 'openai/text-embedding-3-large', input: INPUT, encoding_format: 'base64' };
const COST = parseUsdPerMillion('0.13') * BigInt(INPUT.length);
const VECTOR = toBase64(Array<number>(3072).fill(1));

let database: TestDatabase;
let proxy: DatabaseProxy;
let setup: Setup;
let limiter: SpendLimiter;
/** Whether the service receives notifications. When they resume, it releases unused parts of leases. */
let isNotified = true;
/** Bypasses the proxy: reads and locks while the service cannot. */
let direct: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  setup = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '0' }, { databaseUrl: proxy.url });
  limiter = setup.app.application.get(SpendLimiter);
  // From here on it sends heartbeats on the test's command.
  limiter.onModuleDestroy();
  setup.app.application.get(Notifications).subscribe({
    channel: SPEND_POLICY_CHANNEL,
    onNotification: () => undefined,
    onDisconnected: () => (isNotified = false),
    onConnected: () => (isNotified = true),
  });
});
beforeEach(async () => {
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  setup.upstream.answerWith((_request, response) => answer(response));
});
afterEach(async () => {
  proxy.repair();
  await direct.end();
  await untilReady();
});
afterAll(async () => {
  await setup.close();
  await proxy.close();
  await database.drop();
});

function answer(response: ServerResponse): void {
  sendJson(response, 200, {
    data: [{ index: 0, embedding: VECTOR }],
    usage: { prompt_tokens: INPUT.length, total_tokens: INPUT.length },
  });
}

const ask = (key: TestKey) => embed(setup.app, BODY, key.secret).then(({ status }) => status);

/** So many calls, each waiting at the provider for the test's command. */
async function askAndHold(key: TestKey, calls: number) {
  const responses: ServerResponse[] = [];
  const arrived = new Promise<void>((resolve) =>
    setup.upstream.answerWith((_request, response) => {
      if (responses.push(response) === calls) resolve();
    }),
  );
  const statuses = Array.from({ length: calls }, () => ask(key));
  await arrived;
  setup.upstream.answerWith((_request, response) => answer(response));
  return { statuses: Promise.all(statuses), first: Promise.race(statuses), responses };
}

async function statusesOf(key: TestKey, calls: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const status of await Promise.all(Array.from({ length: calls }, () => ask(key)))) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** Resolves when the service has lost its connections. */
async function cut(): Promise<void> {
  proxy.cut();
  await eventually(
    () => Promise.resolve(isNotified),
    (isStillNotified) => !isStillNotified,
  );
}

/** Resolves when the service works again and receives notifications, which resume later by themselves. */
async function untilReady(): Promise<void> {
  await eventually(
    async () => isNotified && (await setup.app.http.get('/ready')).status,
    (readiness) => readiness === 200,
  );
}

/** Those that no call holds come first. */
async function leasesOf({ record }: TestKey) {
  const { rows } = await direct.query<{ amount: string; expires: Date; isHeld: boolean }>(
    `SELECT amount, expires_at AS expires, held_until > now() AS "isHeld" FROM spend_leases WHERE holder_id = $1
     ORDER BY held_until, expires_at`,
    [record.id],
  );
  return rows.map(({ amount, expires, isHeld }) => ({
    calls: Number(parseUsd(amount) / COST),
    expires: +expires,
    isHeld,
  }));
}

/** In calls: the spent and the reserved amount. */
async function counterOf({ record }: TestKey): Promise<{ spent: number; reserved: number }> {
  const { rows } = await direct.query<{ total: string; reserved: string }>(
    'SELECT total, reserved FROM key_spend WHERE api_key_id = $1',
    [record.id],
  );
  const [row] = rows;
  const inCalls = (amount = ''): number => Number(parseUsd(amount)) / Number(COST);
  return { spent: inCalls(row?.total), reserved: inCalls(row?.reserved) };
}

/** Resolves when a statement of the service waits for a row that this test has locked. */
function untilServiceWaits(): Promise<void> {
  return untilLockWait({ sql: async (text) => (await direct.query(text)).rows });
}

/** Of the lease that no call holds: simulates so much time that it is swept. */
async function expireEndedLease({ record }: TestKey): Promise<void> {
  await direct.query(
    `UPDATE spend_leases SET expires_at = now() - interval '1 second' WHERE holder_id = $1 AND held_until < now()`,
    [record.id],
  );
}

/** Cancels the waiting statement, and rolls back its writes. */
async function rollBackWhatWaits(): Promise<void> {
  await direct.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${WAITS_FOR_LOCK}`);
}

describe('a settlement that was rolled back', () => {
  it('lets its part of the lease expire, and keeps the parts of calls in flight', async () => {
    const key = await setup.app.createKey({ limit: COST * 10n });
    const { responses, first, statuses } = await askAndHold(key, 2);
    await direct.query('BEGIN');
    await direct.query('SELECT 1 FROM key_spend WHERE api_key_id = $1 FOR UPDATE', [key.record.id]);
    answer(responses[0]!);
    await untilServiceWaits();
    await rollBackWhatWaits();
    expect(await first).toBe(503);
    await direct.query('COMMIT');
    const [held] = await leasesOf(key);
    await limiter.heartbeat();
    const [renewed] = await leasesOf(key);
    expect(renewed).toEqual({ calls: 2, expires: expect.any(Number), isHeld: true });
    expect(renewed!.expires).toBeGreaterThan(held!.expires);
    answer(responses[1]!);
    expect(new Set(await statuses)).toEqual(new Set([200, 503]));
    // Also when the key is never idle.
    expect(await ask(key)).toBe(200);
    await limiter.heartbeat();
    expect((await leasesOf(key))[0]).toMatchObject({ calls: 1, isHeld: false });

    await expireEndedLease(key);
    expect(await statusesOf(key, 30)).toEqual({ 200: 8, 402: 22 });
    expect(await counterOf(key)).toEqual({ spent: 10, reserved: 0 });
  });
});

describe('a settlement that was committed without a response', () => {
  it('counts once, and has released its part of the lease', async () => {
    const key = await setup.app.createKey({ limit: COST * 10n });
    const { responses, first } = await askAndHold(key, 1);
    await direct.query('BEGIN');
    await direct.query('SELECT 1 FROM key_spend WHERE api_key_id = $1 FOR UPDATE', [key.record.id]);
    answer(responses[0]!);
    await untilServiceWaits();
    await cut();
    expect(await first).toBe(503);
    await direct.query('COMMIT');
    await eventually(
      () => counterOf(key),
      ({ spent }) => spent === 1,
    );
    proxy.repair();
    await untilReady();
    expect(await leasesOf(key)).toMatchObject([{ calls: 0 }]);
    expect(await statusesOf(key, 30)).toEqual({ 200: 9, 402: 21 });
    expect(await counterOf(key)).toEqual({ spent: 10, reserved: 0 });
  });

  it('takes nothing from a lease that was acquired before its commit', async () => {
    const key = await setup.app.createKey({ limit: COST * 10n });
    const late = await askAndHold(key, 1);
    await direct.query('BEGIN');
    await direct.query('SELECT 1 FROM spend_leases WHERE holder_id = $1 FOR UPDATE', [key.record.id]);
    answer(late.responses[0]!);
    await untilServiceWaits();
    await cut();
    expect(await late.first).toBe(503);
    proxy.repair();
    await untilReady();
    const { responses, statuses } = await askAndHold(key, 9);
    expect((await leasesOf(key)).map(({ calls }) => calls)).toEqual([1, 9]);
    await direct.query('COMMIT');
    await eventually(
      () => counterOf(key),
      ({ spent }) => spent === 1,
    );
    expect((await leasesOf(key)).map(({ calls }) => calls)).toEqual([0, 9]);
    responses.forEach(answer);
    expect(await statuses).toEqual(Array(9).fill(200));
    expect(await counterOf(key)).toEqual({ spent: 10, reserved: 0 });
    expect(await ask(key)).toBe(402);
  });
});

describe('a part of a lease that could not be released', () => {
  it('lapses, and the key continues with another lease', async () => {
    // Far from its limit a key leases a fiftieth of the remainder.
    const key = await setup.app.createKey({ limit: COST * 100_000n });
    expect(await ask(key)).toBe(200);
    const [lease] = await leasesOf(key);
    expect(lease?.calls).toBe(1999);
    await limiter.heartbeat();
    await cut();
    await limiter.heartbeat();
    proxy.repair();
    await untilReady();
    expect(await ask(key)).toBe(200);
    await limiter.heartbeat();
    const leases = await leasesOf(key);
    expect(leases.map(({ calls }) => calls)).toEqual([1999, expect.any(Number)]);
    expect(leases.map(({ isHeld }) => isHeld)).toEqual([false, true]);
    await expireEndedLease(key);
    await limiter.heartbeat();
    // The key was not used since the last heartbeat: the other lease was released as well.
    expect((await leasesOf(key)).map(({ calls }) => calls)).toEqual([0]);
    expect(await counterOf(key)).toEqual({ spent: 2, reserved: 0 });
  });
});
