// The generation log around midnight: calls of two days in one batch, of which one day cannot be settled.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import { RejectedValue } from '../../src/persistence/database/database-errors.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';
import { WAITS_FOR_LOCK, untilLockWait } from '../support/database/waiting-statements.js';

const LATE = new Date('2026-11-18T23:59:59.999Z');
const EARLY = new Date('2026-11-19T00:00:00.000Z');

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
let keyOfDay: ApiKey;
let keyOfNextDay: ApiKey;
beforeEach(async () => {
  keyOfDay = (await app.createKey()).record;
  keyOfNextDay = (await app.createKey()).record;
});

function append(createdAt: Date, members: Partial<Generation> = {}): Promise<void> {
  const key = createdAt === LATE ? keyOfDay : keyOfNextDay;
  return app.application
    .get(GenerationLog)
    .append(createGeneration(key, { createdAt, cost: 1n, ...members }));
}

/** The calls of a key in the log and in the counters. */
async function countsOf(key: ApiKey): Promise<{ logged: number; charged: number }> {
  const [row] = await app.sql<{ logged: number; charged: number }>(
    `SELECT (total * 1000000000000)::integer AS charged,
       (SELECT count(*) FROM generations WHERE api_key_id = $1)::integer AS logged
     FROM key_spend WHERE api_key_id = $1`,
    [key.id],
  );
  return row!;
}

it('fails the call of a rejected value, and no other call of either day', async () => {
  const outcomes = await Promise.allSettled([
    append(LATE),
    append(EARLY),
    append(LATE),
    append(EARLY, { promptTokens: 2 ** 31 }),
    append(EARLY),
  ]);
  const failures = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : null));
  expect(failures).toEqual([null, null, null, expect.any(RejectedValue), null]);
  expect(await countsOf(keyOfDay)).toEqual({ logged: 2, charged: 2 });
  expect(await countsOf(keyOfNextDay)).toEqual({ logged: 2, charged: 2 });
});

it('fails the calls of a day that cannot be settled, and none of the other day', async () => {
  const locker = new pg.Client({ connectionString: app.databaseUrl });
  await locker.connect();
  try {
    await locker.query('BEGIN');
    await locker.query('SELECT FROM key_spend WHERE api_key_id = $1 FOR UPDATE', [keyOfNextDay.id]);
    const outcomes = Promise.allSettled([append(LATE), append(EARLY), append(LATE)]);
    await untilLockWait(app);
    await app.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${WAITS_FOR_LOCK}`);
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'unavailable' } },
      { status: 'fulfilled' },
    ]);
  } finally {
    await locker.end();
  }
  expect(await countsOf(keyOfDay)).toEqual({ logged: 2, charged: 2 });
  expect(await countsOf(keyOfNextDay)).toEqual({ logged: 0, charged: 0 });
});
