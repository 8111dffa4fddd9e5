// The generation log on a real PostgreSQL: every appended generation exists once, and its cost is in the right
// windows.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import pg from 'pg';
import type { ChatFacts } from '../../src/domain/chat/chat-outcome.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { formatUsd, parseUsd } from '../../src/domain/spend/money.js';
import type { GenerationAttempt } from '../../src/domain/generations/generation.js';
import { utcDay, utcMonth, utcWeek } from '../../src/domain/spend/spend.js';
import type { WindowedSpend } from '../../src/domain/spend/spend.js';
import { managerByKey } from '../../src/domain/people/manager.js';
import { ApiKeysRepository } from '../../src/persistence/keys/api-keys.repository.js';
import { RejectedValue } from '../../src/persistence/database/database-errors.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { GenerationsRepository } from '../../src/persistence/generations/generations.repository.js';
import { GenerationReader } from '../../src/persistence/generations/generation-reader.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createTestDatabase } from '../support/database/database.js';
import { createChatGeneration } from '../support/generations/chat-generation.js';
import { createGeneration } from '../support/generations/generation.js';

let app: TestApp;
let log: GenerationLog;
beforeAll(async () => {
  app = await createTestApp();
  log = app.application.get(GenerationLog);
});
afterAll(() => app.close());

const newKey = async (): Promise<ApiKey> => (await app.createKey()).record;
const noon = (day: string): Date => new Date(`${day}T12:00:00.000Z`);

async function spendAt(key: ApiKey, moment: Date): Promise<{ usage: WindowedSpend; byok: WindowedSpend }> {
  app.clock.set(moment.toISOString());
  const found = await app.application.get(ApiKeysRepository).find(key.accountId, key.hash);
  return found!.spend;
}

interface Amount {
  readonly moment: Date;
  readonly cost: bigint;
  /** The charge to an own provider key. */
  readonly byok: bigint;
}

/** The windows of `now` by the contract, computed without the statement. */
function sumsAt(amounts: readonly Amount[], member: 'cost' | 'byok', now: Date): WindowedSpend {
  const sumOf = (isIn: (moment: Date) => boolean) =>
    amounts.reduce((sum, amount) => (isIn(amount.moment) ? sum + amount[member] : sum), 0n);
  return {
    total: sumOf(() => true),
    daily: sumOf((moment) => utcDay(moment) === utcDay(now)),
    weekly: sumOf((moment) => utcWeek(moment) === utcWeek(now)),
    monthly: sumOf((moment) => utcMonth(moment) === utcMonth(now)),
  };
}

it('appends a call whose user and session are as long as a caller may choose, and cannot be compressed', async () => {
  const key = await newKey();
  // Each of three bytes in UTF-8.
  const characters = (length: number): string =>
    Array.from({ length }, () => String.fromCharCode(randomInt(0x4e00, 0x9fa5))).join('');
  const generation = createGeneration(key, { userId: characters(1_000), sessionId: characters(256) });
  await log.append(generation);
  const found = await app.sql<{ id: string }>('SELECT id FROM generations WHERE user_id = $1', [
    generation.userId,
  ]);
  expect(found).toEqual([{ id: generation.id }]);
});

describe('settling', () => {
  it.each([
    ['the same day', ['2026-11-18', '2026-11-18'], [2n, 2n, 2n, 2n]],
    ['the next day', ['2026-11-18', '2026-11-19'], [2n, 1n, 2n, 2n]],
    ['the next week', ['2026-11-22', '2026-11-23'], [2n, 1n, 1n, 2n]],
    ['the next month in the same week', ['2026-11-30', '2026-12-01'], [2n, 1n, 2n, 1n]],
    ['the next year in the same week', ['2026-12-31', '2027-01-01'], [2n, 1n, 2n, 1n]],
    ['a day in the same week of another year', ['2026-11-18', '2027-11-18'], [2n, 1n, 1n, 1n]],
    ['a late day of the same week', ['2026-11-19', '2026-11-18'], [2n, 1n, 2n, 2n]],
    ['a late day of the week before', ['2026-11-23', '2026-11-22'], [2n, 1n, 1n, 2n]],
    ['a late day of the month before in the same week', ['2026-12-01', '2026-11-30'], [2n, 1n, 2n, 1n]],
    ['a late day of the month before', ['2026-12-10', '2026-11-30'], [2n, 1n, 1n, 1n]],
    ['a late day of the year before', ['2027-11-18', '2026-11-18'], [2n, 1n, 1n, 1n]],
  ])('counts for %s days the amount in the windows that both share', async (_name, days, expected) => {
    const key = await newKey();
    for (const day of days) await log.append(createGeneration(key, { createdAt: noon(day), cost: 1n }));
    const { usage } = await spendAt(key, noon(days.toSorted().at(-1)!));
    expect([usage.total, usage.daily, usage.weekly, usage.monthly]).toEqual(expected);
  });

  it('is exact for any amounts in any order of days, one by one or in batches', async () => {
    const amount = fc.record({
      moment: fc
        .date({ min: noon('2026-11-20'), max: noon('2027-02-10'), noInvalidDate: true })
        .map((moment) => moment),
      cost: fc.bigInt({ min: 0n, max: 10n ** 17n }),
      byok: fc.bigInt({ min: 0n, max: 10n ** 17n }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(amount, { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        async (amounts, isBatch) => {
          const key = await newKey();
          const append = ({ moment, cost, byok }: Amount) =>
            log.append(createGeneration(key, { createdAt: moment, cost, upstreamCost: byok, isByok: true }));
          if (isBatch) await Promise.all(amounts.map(append));
          else for (const each of amounts) await append(each);
          const last = new Date(Math.max(...amounts.map(({ moment }) => moment.getTime())));
          for (const now of [last, new Date(last.getTime() + 3 * 86_400_000)]) {
            expect(await spendAt(key, now)).toEqual({
              usage: sumsAt(amounts, 'cost', now),
              byok: sumsAt(amounts, 'byok', now),
            });
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('counts charges to own provider keys apart from those of the account', async () => {
    const { key } = await app.createAccount();
    const createdAt = noon('2026-11-18');
    await log.append(createGeneration(key, { createdAt, cost: 5n, upstreamCost: 100n, isByok: true }));
    await log.append(createGeneration(key, { createdAt, cost: 7n, upstreamCost: 7n }));
    const { usage, byok } = await spendAt(key, createdAt);
    expect([usage.total, usage.daily, usage.weekly, usage.monthly]).toEqual([12n, 12n, 12n, 12n]);
    expect([byok.total, byok.daily, byok.weekly, byok.monthly]).toEqual([100n, 100n, 100n, 100n]);
    const sums = 'total, daily, weekly, monthly, byok_total, byok_daily, byok_weekly, byok_monthly';
    const shared = await app.sql<Record<string, string>>(
      `SELECT ${sums} FROM workspace_spend WHERE workspace_id = $1
       UNION ALL SELECT ${sums} FROM account_spend WHERE account_id = $2`,
      [key.workspaceId, key.accountId],
    );
    for (const counter of shared) {
      expect(Object.values(counter).map((amount) => parseUsd(amount))).toEqual([
        ...Array(4).fill(12n),
        ...Array(4).fill(100n),
      ]);
    }
    expect(shared).toHaveLength(2);
  });

  it('does not end the windows of the old day with a zero amount on a new one', async () => {
    const key = await newKey();
    await log.append(createGeneration(key, { createdAt: noon('2026-11-18'), cost: 5n }));
    await log.append(createGeneration(key, { createdAt: noon('2026-11-19'), cost: 0n }));
    await log.append(createGeneration(key, { createdAt: noon('2026-11-18'), cost: 2n }));
    const { usage } = await spendAt(key, noon('2026-11-18'));
    expect([usage.total, usage.daily]).toEqual([7n, 7n]);
  });
});

const NOTHING_HAPPENED: ChatFacts = {
  wire: 'chat',
  providerWire: null,
  completionTokens: 0,
  reasoningTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
  usageSource: 'none',
  reportedTokens: null,
  finishReason: null,
  nativeFinishReason: null,
  isStreamed: false,
  isCancelled: false,
  timeToFirstTokenMs: null,
  serviceTier: null,
  overrun: null,
  promptCost: null,
  completionCost: null,
  cachedCost: null,
  cacheWriteCost: null,
  cacheWrite1hCost: null,
  reasoningCost: null,
  cacheDiscount: null,
  parameters: null,
  mediaCount: 0,
  audioCount: 0,
};

describe('appending', () => {
  const countOf = async (key: ApiKey): Promise<number> =>
    (await app.sql('SELECT id FROM generations WHERE api_key_id = $1', [key.id])).length;

  it('rejects an existing generation, and adds neither rows nor cost', async () => {
    const key = await newKey();
    const generations = Array.from({ length: 20 }, (_value, index) =>
      createGeneration(key, {
        cost: BigInt(index),
        createdAt: noon(index % 2 ? '2026-11-18' : '2026-11-19'),
      }),
    );
    await Promise.all(generations.map((each) => log.append(each)));
    const again = await Promise.allSettled(generations.map((each) => log.append(each)));
    for (const outcome of again) expect(outcome).toMatchObject({ reason: expect.any(RejectedValue) });
    expect(await countOf(key)).toBe(20);
    expect((await spendAt(key, noon('2026-11-19'))).usage.total).toBe(190n);
  });

  it.each([
    ['a count beyond its column', { promptTokens: 2 ** 31 }],
    ['an amount beyond its column', { cost: 10n ** 30n }],
    ['no account', { accountId: 'none' }],
  ])('of %s fails that generation and no other of the batch', async (_name, overrides) => {
    const key = await newKey();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_value, index) =>
        log.append(createGeneration(key, { cost: 1n, ...(index === 17 ? overrides : {}) })),
      ),
    );
    const failed = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
    expect(failed).toEqual([17]);
    expect(outcomes[17]).toMatchObject({ reason: expect.any(RejectedValue) });
    expect(await countOf(key)).toBe(29);
    expect((await spendAt(key, noon('2026-11-18'))).usage.total).toBe(29n);
  });

  it('replaces the characters that the database cannot store', async () => {
    const key = await newKey();
    const [nul, half] = ['a\0', '\udfff'];
    const attempt = { provider: nul, endpoint: half, status: null, errorType: nul, durationMs: 1 };
    const unusual = createGeneration(key, {
      cost: 1n,
      userId: nul,
      sessionId: half,
      trace: { [nul]: half, [half]: [nul, '\\u0000'] },
      attempts: [attempt],
    });
    await log.append(unusual);
    const [entry] = await app.application.get(GenerationReader).readNamed(key.workspaceId, [unusual]);
    expect(entry?.generation).toEqual({
      ...unusual,
      userId: 'a\ufffd',
      sessionId: '\ufffd',
      trace: { 'a\ufffd': '\ufffd', '\ufffd': ['a\ufffd', '\\u0000'] },
      attempts: [{ ...attempt, provider: 'a\ufffd', endpoint: '\ufffd', errorType: 'a\ufffd' }],
    });
    expect((await spendAt(key, noon('2026-11-18'))).usage.total).toBe(1n);
  });

  it('stores every text unchanged, with any encoding of records', async () => {
    const key = await newKey();
    const texts = ['"', '\\', '\\"', '(),{}', ' a ', 'NULL', '', "'", '\n\t', 'ß 日本 🙂', '$1'];
    const generations = texts.map((text) =>
      createGeneration(key, {
        userId: text,
        sessionId: `${text}${text}`,
        trace: { [text]: text },
        attempts: [{ provider: text, endpoint: text, status: null, errorType: text, durationMs: 1 }],
      }),
    );
    await Promise.all(generations.map((each) => log.append(each)));
    const entries = await app.application.get(GenerationReader).readNamed(key.workspaceId, generations);
    const byId = new Map(entries.map(({ generation }) => [generation.id, generation]));
    expect(generations.map(({ id }) => byId.get(id))).toEqual(generations);
  });

  it('returns the appended facts of chat calls, with and without values', async () => {
    const key = await newKey();
    const attempt = {
      provider: 'openai',
      endpoint: 'openai/gpt-4.1-mini',
      status: 200,
      errorType: null,
      durationMs: 1,
    };
    const generations = [
      createChatGeneration(key),
      createChatGeneration(key, { chat: NOTHING_HAPPENED }),
      createChatGeneration(key, { chat: { timeToFirstTokenMs: 0, cacheDiscount: -5n, overrun: 10n ** 15n } }),
      createChatGeneration(key, {
        attempts: [{ ...attempt, firstContentMs: 4, droppedMembers: ['seed', 'user'], isByok: true }],
      }),
      createChatGeneration(key, { attempts: [{ ...attempt, model: 'openai/gpt-4.1', upstreamId: null }] }),
      createGeneration(key),
    ];
    await Promise.all(generations.map((each) => log.append(each)));
    const entries = await app.application.get(GenerationReader).readNamed(key.workspaceId, generations);
    const byId = new Map(entries.map(({ generation }) => [generation.id, generation]));
    expect(generations.map(({ id }) => byId.get(id))).toEqual(generations);
    const repository = app.application.get(GenerationsRepository);
    for (const each of generations) expect(await repository.find(managerByKey(key), each)).toEqual(each);
  });

  it('returns the appended attempts, whether or not the rest of the row equals them', async () => {
    const key = await newKey();
    const usual = {
      provider: 'openai',
      endpoint: 'openai/text-embedding-3-small',
      status: 200,
      errorType: null,
      durationMs: 1,
    };
    const others = [
      { provider: 'azure' },
      { endpoint: 'openai/text-embedding-3-large' },
      { status: 503 },
      { status: null },
      { errorType: 'overloaded' },
      { durationMs: 2 },
    ].map((difference) => [{ ...usual, ...difference }]);
    const lists: readonly GenerationAttempt[][] = [[], [usual], [usual, usual], ...others];
    const generations = lists.map((attempts) => createGeneration(key, { attempts }));
    await Promise.all(generations.map((each) => log.append(each)));
    const reader = app.application.get(GenerationReader);
    const repository = app.application.get(GenerationsRepository);
    const entries = await reader.readNamed(key.workspaceId, generations);
    const byId = new Map(entries.map(({ generation }) => [generation.id, generation.attempts]));
    expect(generations.map(({ id }) => byId.get(id))).toEqual(lists);
    for (const each of generations) {
      expect(await repository.find(managerByKey(key), each)).toMatchObject({ attempts: each.attempts });
    }
  });

  it('stores half a surrogate pair as the replacement character of UTF-8', async () => {
    const key = await newKey();
    await log.append(createGeneration(key, { userId: 'a\ud800' }));
    const [row] = await app.sql('SELECT user_id FROM generations WHERE api_key_id = $1', [key.id]);
    expect(row).toEqual({ user_id: 'a\ufffd' });
  });

  it('continues beside a long open transaction that has read everything', async () => {
    const reader = new pg.Client({ connectionString: app.databaseUrl });
    await reader.connect();
    try {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await reader.query('SELECT count(*) FROM generations');
      await reader.query('SELECT count(*) FROM key_spend');
      const key = await newKey();
      await Promise.all(Array.from({ length: 50 }, () => log.append(createGeneration(key, { cost: 1n }))));
      expect(await countOf(key)).toBe(50);
      await reader.query('COMMIT');
    } finally {
      await reader.end();
    }
  });
});

describe('two replicas that settle the same keys in opposite orders', () => {
  it('lose nothing, and wait for each other without deadlocks', async () => {
    const database = await createTestDatabase();
    const one = await createTestApp({ databaseUrl: database.url });
    const two = await one.startReplica();
    const keys = await Promise.all(Array.from({ length: 10 }, async () => (await one.createKey()).record));
    const settle = async (replica: TestApp, order: readonly ApiKey[]): Promise<void> => {
      const replicaLog = replica.application.get(GenerationLog);
      for (let round = 0; round < 25; round++) {
        await Promise.all(order.map((key) => replicaLog.append(createGeneration(key, { cost: 3n }))));
      }
    };
    try {
      await Promise.all([settle(one, keys), settle(two, keys.toReversed())]);
      const rows = await one.sql<{ total: string }>(
        'SELECT total FROM key_spend WHERE api_key_id = ANY($1)',
        [keys.map(({ id }) => id)],
      );
      expect(rows).toEqual(keys.map(() => ({ total: formatUsd(150n).padEnd(14, '0') })));
    } finally {
      await two.close();
      await one.close();
    }
    const deadlocks = await countDeadlocks(database.url);
    await database.drop();
    expect(deadlocks).toBe(0);
  });
});

/** Connections report their counts when they end. */
async function countDeadlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(rows[0]!.deadlocks);
  } finally {
    await client.end();
  }
}

it('knows whether an append whose outcome is unknown was committed', async () => {
  const key = await newKey();
  const [kept, other] = [createGeneration(key), createGeneration(key)];
  await log.append(kept);
  await expect(log.append(kept)).rejects.toThrow(RejectedValue);
  expect([await log.has(kept), await log.has(other)]).toEqual([true, false]);
});
