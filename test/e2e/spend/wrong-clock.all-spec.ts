// Processes whose clocks are wrong by days or years: their records count on the day of the database, and limits hold.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import type { LimitReset } from '../../../src/domain/spend/spend.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { TestClock } from '../../support/app/clock.js';
import { setDatabaseTime } from '../../support/database/database.js';
import { sendJson, startStubUpstream, toBase64 } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';
import { getKey } from '../../support/requests/get-key.js';

const NOON = '2026-11-18T12:00:00.000Z';
const INPUT = [1, 2, 3, 4, 5];
const VECTOR = toBase64(Array<number>(1536).fill(1));
const COST = parseUsdPerMillion('0.02') * BigInt(INPUT.length);

let upstream: StubUpstream;
let app: TestApp;
/** On the same database, four years ahead. */
let ahead: TestApp;
/** On the same database, two days behind. */
let behind: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream((_request, response) =>
    sendJson(response, 200, {
      data: [{ index: 0, embedding: VECTOR }],
      usage: { prompt_tokens: INPUT.length, total_tokens: INPUT.length },
    }),
  );
  const environment = {
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    // A process ahead drops no day.
    GENERATION_RETENTION_DAYS: '0',
  };
  app = await createTestApp({ environment });
  const { databaseUrl } = app;
  ahead = await createTestApp({ environment, databaseUrl, clock: new TestClock('2030-01-01T00:00:00.000Z') });
  behind = await createTestApp({
    environment,
    databaseUrl,
    clock: new TestClock('2026-11-16T12:00:00.000Z'),
  });
});
beforeEach(() => setTime(NOON));
afterAll(async () => {
  await ahead.close();
  await behind.close();
  await app.close();
  await upstream.close();
});

async function setTime(moment: string): Promise<void> {
  app.clock.set(moment);
  await setDatabaseTime(app.databaseUrl, moment);
}

const call = async (on: TestApp, { secret }: TestKey): Promise<number> => {
  const { status } = await on.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${secret}`)
    .send({ model: 'openai/text-embedding-3-small', input: INPUT });
  return status;
};

/** A key that may make three calls in each window. */
const createKey = (limitReset: LimitReset = 'daily'): Promise<TestKey> =>
  app.createKey({ limit: COST * 3n, limitReset });

describe.each(['daily', 'weekly', 'monthly'] as const)('a %s limit', (limitReset) => {
  it('holds after a call that a process with a clock years ahead has recorded', async () => {
    const key = await createKey(limitReset);
    expect(await call(ahead, key)).toBe(200);
    const statuses = [await call(app, key), await call(app, key), await call(app, key), await call(app, key)];
    expect(statuses).toEqual([200, 200, 402, 402]);
  });

  it('holds for a process whose clock is days behind', async () => {
    const key = await createKey(limitReset);
    expect(await call(app, key)).toBe(200);
    const statuses = [await call(behind, key), await call(behind, key), await call(behind, key)];
    expect(statuses).toEqual([200, 200, 402]);
    expect(await call(app, key)).toBe(402);
  });
});

describe('a call of a process with a wrong clock', () => {
  it.each([
    ['ahead', () => ahead],
    ['behind', () => behind],
  ])('counts on the day of the database, in log and counters: %s', async (_name, on) => {
    const key = await createKey();
    expect(await call(on(), key)).toBe(200);
    const [row] = await app.sql(
      `SELECT generation.created_at::date::text AS day, spend.last_day::text AS counted,
         generation.tableoid::regclass::text AS partition
       FROM generations AS generation JOIN key_spend AS spend USING (workspace_id, api_key_id)
       WHERE api_key_id = $1`,
      [key.record.id],
    );
    expect(row).toEqual({ day: '2026-11-18', counted: '2026-11-18', partition: 'generations_2026_11_18' });
  });
});

describe('a counter with a day in the future', () => {
  const corrupt = ({ record }: TestKey, spent: string) =>
    app.sql(`UPDATE key_spend SET last_day = '2030-01-01', total = $2, daily = $2 WHERE api_key_id = $1`, [
      record.id,
      spent,
    ]);
  const lastDayOf = async ({ record }: TestKey): Promise<unknown> => {
    const [row] = await app.sql<{ day: string }>(
      'SELECT last_day::text AS day FROM key_spend WHERE api_key_id = $1',
      [record.id],
    );
    return row?.day;
  };

  it('heals with the next call, and the spend counts today', async () => {
    const key = await createKey();
    await corrupt(key, '0.0000001');
    expect([await call(app, key), await call(app, key), await call(app, key)]).toEqual([200, 200, 402]);
    expect(await lastDayOf(key)).toBe('2026-11-18');
  });

  it('heals at an exhausted limit, which resets on the next day', async () => {
    const key = await createKey();
    await corrupt(key, '0.0000003');
    expect(await call(app, key)).toBe(402);
    await setTime('2026-11-19T12:00:00.000Z');
    expect(await call(app, key)).toBe(200);
  });

  it('counts in limit_remaining as for calls', async () => {
    const key = await createKey();
    await corrupt(key, '0.0000002');
    const { body } = await getKey(app, key.record.hash);
    expect(parseUsd(String(body.data.limit_remaining.toFixed(12)))).toBe(COST);
    expect([await call(app, key), await call(app, key)]).toEqual([200, 402]);
  });
});
