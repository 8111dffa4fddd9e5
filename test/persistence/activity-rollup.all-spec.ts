// The rollup of activity: at any progress, and with any number of processes, the sums equal those of the whole log.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import pg from 'pg';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import type { ActivityScope } from '../../src/domain/generations/activity.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { parseUsd } from '../../src/domain/spend/money.js';
import { ActivityRepository } from '../../src/persistence/activity/activity.repository.js';
import { ActivityRollupRepository } from '../../src/persistence/activity/activity-rollup.repository.js';
import { cursorValues } from '../../src/persistence/rollups/rollup.repository.js';
import { ACTIVITY_ROLLUP } from '../../src/persistence/activity/activity-statements.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { createChatFacts } from '../support/generations/chat-generation.js';
import { createGeneration } from '../support/generations/generation.js';
import { passOver } from '../support/database/rollup-pass.js';
import { withIdleRollup } from '../support/database/rollups.js';
import { untilLockWait } from '../support/database/waiting-statements.js';

const FROM = new Date('2026-10-19T00:00:00.000Z');
const TO = new Date('2026-11-18T00:00:00.000Z');
const SMALL_STEPS = { workspaces: 2, rows: 3 };

let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  app = await createTestApp({ override: withIdleRollup });
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

const rollupOf = (of: TestApp): ActivityRollup => of.application.get(ActivityRollup);
const steps = (): ActivityRollupRepository => app.application.get(ActivityRollupRepository);

/** Keys of three workspaces, two in each. */
async function createKeys(): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  for (let count = 0; count < 3; count++) {
    const { accountId, workspaceId, key } = await app.createAccount();
    keys.push(key, (await app.createKey({ accountId, workspaceId })).record);
  }
  return keys;
}

const scopeOf = (keys: readonly ApiKey[], overrides: Partial<ActivityScope> = {}): ActivityScope => ({
  accountId: app.accountId,
  workspaceIds: [...new Set(keys.map(({ workspaceId }) => workspaceId))],
  apiKeyIds: null,
  from: FROM,
  to: TO,
  ...overrides,
});

/** The returned sums, and those of the log without any rollup. */
async function compare(scope: ActivityScope, byWorkspace = true): Promise<number> {
  const summed = await app.application.get(ActivityRepository).sumUp(scope, { byWorkspace, limit: 100_000 });
  const logged = await app.sql<Record<string, string | null>>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, model, endpoint, provider,
       CASE WHEN $5 THEN workspace_id END AS "workspaceId", count(*) AS requests, sum(prompt_tokens) AS "promptTokens",
       coalesce(sum(completion_tokens), 0) AS "completionTokens", coalesce(sum(reasoning_tokens), 0) AS "reasoningTokens",
       sum(cost)::text AS usage, sum(CASE WHEN is_byok THEN upstream_cost END)::text AS "byokUsage"
     FROM generations WHERE workspace_id = ANY($1) AND created_at >= $2 AND created_at < $3
       AND ($4::uuid[] IS NULL OR api_key_id = ANY($4))
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5`,
    [scope.workspaceIds, scope.from, scope.to, scope.apiKeyIds, byWorkspace],
  );
  expect(summed).toEqual(
    logged.map((row) =>
      Object.assign(row, {
        requests: Number(row['requests']),
        promptTokens: Number(row['promptTokens']),
        completionTokens: Number(row['completionTokens']),
        reasoningTokens: Number(row['reasoningTokens']),
        usage: parseUsd(row['usage'] ?? '0'),
        byokUsage: parseUsd(row['byokUsage'] ?? '0'),
      }),
    ),
  );
  return summed.reduce((sum, { requests }) => sum + requests, 0);
}

const append = (key: ApiKey, overrides: Parameters<typeof createGeneration>[1] = {}): Promise<void> =>
  app.application
    .get(GenerationLog)
    .append(
      createGeneration(key, { createdAt: new Date('2026-11-17T12:00:00.000Z'), cost: 1n, ...overrides }),
    );

/** Rows of these keys that no sum contains yet. */
async function countOutside(keys: readonly ApiKey[]): Promise<number> {
  const [row] = await app.sql<{ outside: string }>(
    `SELECT (SELECT count(*) FROM generations WHERE workspace_id = ANY($1))
       - coalesce((SELECT sum(requests) FROM activity_days WHERE workspace_id = ANY($1)), 0) AS outside`,
    [scopeOf(keys).workspaceIds],
  );
  return Number(row!.outside);
}

/** Transactions of other databases of the server may hold a pass back for a while. */
async function untilAllIsSummedUp(keys: readonly ApiKey[]): Promise<void> {
  const passAndCount = async (): Promise<number> => {
    await rollupOf(app).catchUp(0);
    return countOutside(keys);
  };
  await eventually(passAndCount, (outside) => outside === 0);
}

describe('the sums', () => {
  const entry = fc.record({
    key: fc.nat({ max: 5 }),
    // From before the thirty days until after them.
    minutes: fc.integer({ min: -1_440, max: 31 * 1_440 }),
    endpoint: fc.constantFrom(null, 'one', 'two'),
    isByok: fc.boolean(),
    cost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 20n })),
    upstreamCost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 20n })),
    promptTokens: fc.nat({ max: 2 ** 31 - 1 }),
    // Null: embeddings.
    chat: fc.option(
      fc
        .record({
          completionTokens: fc.nat({ max: 2 ** 31 - 1 }),
          reasoningTokens: fc.nat({ max: 2 ** 31 - 1 }),
        })
        .map((tokens) => createChatFacts(tokens)),
    ),
  });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ append: fc.array(entry, { minLength: 1, maxLength: 12 }) }) },
    { weight: 1, arbitrary: fc.constant('pass' as const) },
    { weight: 2, arbitrary: fc.constant('step' as const) },
  );

  it('equal the log, to the last unit, at any position between two steps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 10 }),
        fc.nat({ max: 5 }),
        async (run, one) => {
          const keys = await createKeys();
          const since = new Date(0);
          for (const each of run) {
            if (each === 'pass') await passOver(steps(), SMALL_STEPS);
            else if (each === 'step') {
              const cursor = await steps().beginPass(0);
              if (cursor.summedBefore !== cursor.passUntil)
                await steps().takeStep(cursor, since, SMALL_STEPS);
            } else {
              await Promise.all(
                each.append.map(({ key, minutes, endpoint, ...values }) =>
                  append(keys[key]!, {
                    ...values,
                    operation: values.chat === null ? 'embeddings' : 'chat',
                    endpoint,
                    provider: endpoint,
                    createdAt: new Date(FROM.getTime() + minutes * 60_000),
                  }),
                ),
              );
            }
            const key = keys[one]!;
            await compare(scopeOf(keys));
            await compare(scopeOf(keys), false);
            await compare(scopeOf(keys, { apiKeyIds: [key.id] }));
            await compare(
              scopeOf([key], {
                from: new Date('2026-11-01T00:00:00Z'),
                to: new Date('2026-11-02T00:00:00Z'),
              }),
            );
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('contain every row once it is older than every open transaction, and no row of another workspace', async () => {
    const [keys, others] = [await createKeys(), await createKeys()];
    for (const key of [...keys, ...others]) await append(key);
    await untilAllIsSummedUp([...keys, ...others]);
    expect(await compare(scopeOf(keys))).toBe(6);
    expect(await compare(scopeOf(keys, { apiKeyIds: [] }))).toBe(0);
  });
});

describe('a row that is committed late', () => {
  it('is counted as soon as it is committed, once, on any day', async () => {
    const [key] = await createKeys();
    const late = new pg.Client({ connectionString: app.databaseUrl });
    await late.connect();
    try {
      await late.query('BEGIN');
      await late.query(
        `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model,
           status, input_count, prompt_tokens, total_tokens, cost, is_byok, encoding_format, duration_ms, request_id, region)
         VALUES ($1, $2, '2026-10-19T00:00:00Z', 1, $3, $4, 'embeddings', 'm', 200, 1, 1, 1, 3, false, 'float', 1, 'r', 'global')`,
        [randomUUID(), key!.workspaceId, key!.accountId, key!.id],
      );
      await append(key!);
      await rollupOf(app).catchUp(0);
      // No row behind the open transaction is summed up: the cursor is before both.
      expect(await countOutside([key!])).toBe(1);
      expect(await compare(scopeOf([key!]))).toBe(1);
      await late.query('COMMIT');
      expect(await compare(scopeOf([key!]))).toBe(2);
    } finally {
      await late.end();
    }
    await untilAllIsSummedUp([key!]);
    expect(await compare(scopeOf([key!]))).toBe(2);
  });
});

describe('concurrent processes', () => {
  it('sum every row up once during calls', async () => {
    const keys = await createKeys();
    const over = new AbortController();
    const work = async (rollup: ActivityRollup): Promise<void> => {
      while (!over.signal.aborted) await rollup.catchUp(0, SMALL_STEPS);
    };
    const workers = [work(rollupOf(app)), work(rollupOf(replica))];
    for (let round = 0; round < 10; round++) {
      await Promise.all(keys.map((key, index) => append(key, { cost: BigInt(round * index) })));
      expect(await compare(scopeOf(keys))).toBe((round + 1) * 6);
    }
    over.abort();
    await Promise.all(workers);
    await untilAllIsSummedUp(keys);
    expect(await compare(scopeOf(keys))).toBe(60);
  });

  it('continue where another process died between two steps, or within one', async () => {
    const keys = await createKeys();
    for (const key of keys) await append(key);
    const begun = await eventually(
      () => steps().beginPass(0),
      ({ summedBefore, passUntil }) => summedBefore !== passUntil,
    );
    expect(await steps().takeStep(begun, new Date(0), SMALL_STEPS)).not.toBeNull();
    // The step of a process that still believes itself alive.
    expect(await steps().takeStep(begun, new Date(0), SMALL_STEPS)).toBeNull();
    await rollupOf(replica).catchUp(0);
    expect(await compare(scopeOf(keys))).toBe(6);
    await app.sql('ALTER TABLE activity_key_days ADD CONSTRAINT broken CHECK (requests < 0) NOT VALID');
    await append(keys[0]!);
    const failure = () =>
      rollupOf(app)
        .catchUp(0)
        .then(() => null, String);
    await eventually(failure, (text) => text !== null);
    expect(await compare(scopeOf(keys))).toBe(7);
    await app.sql('ALTER TABLE activity_key_days DROP CONSTRAINT broken');
    await untilAllIsSummedUp(keys);
    expect(await compare(scopeOf(keys))).toBe(7);
  });

  it('do not make a concurrent reader count twice', async () => {
    const keys = await createKeys();
    await untilAllIsSummedUp(keys);
    for (const key of keys) await append(key);
    const cursor = await eventually(
      () => steps().beginPass(0),
      ({ summedBefore, passUntil }) => summedBefore !== passUntil,
    );
    const worker = new pg.Client({ connectionString: app.databaseUrl });
    await worker.connect();
    try {
      await worker.query('BEGIN');
      await worker.query('LOCK TABLE activity_days IN ACCESS EXCLUSIVE MODE');
      // It has read the cursor by the time that it waits for the sums.
      const summed = compare(scopeOf(keys));
      await untilLockWait(app);
      await worker.query(ACTIVITY_ROLLUP.takeStep, [
        ...cursorValues(cursor),
        new Date(0),
        1_000_000,
        1_000_000,
      ]);
      await worker.query('COMMIT');
      expect(await summed).toBe(6);
    } finally {
      await worker.end();
    }
    expect(await compare(scopeOf(keys))).toBe(6);
  });

  it('wait for a while after a pass', async () => {
    const keys = await createKeys();
    await untilAllIsSummedUp(keys);
    await append(keys[0]!);
    await rollupOf(replica).catchUp();
    expect(await countOutside(keys)).toBe(1);
  });
});

describe('a copy of the database, on another server', () => {
  it('continues with rows that are appended there', async () => {
    const [key] = await createKeys();
    await append(key!);
    await untilAllIsSummedUp([key!]);
    await app.sql("UPDATE log_offset SET home = 'elsewhere'");
    await app.sql('SELECT settle_log()');
    await append(key!);
    expect(await compare(scopeOf([key!]))).toBe(2);
    await untilAllIsSummedUp([key!]);
    expect(await compare(scopeOf([key!]))).toBe(2);
  });
});
