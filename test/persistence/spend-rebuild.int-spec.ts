// Rebuilding the counters: they become the sums of the log, and concurrent settlements count once.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { run } from '../../src/cli/spend-rebuild.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { formatUsd, parseUsd } from '../../src/domain/spend/money.js';
import type { PicoUsd } from '../../src/domain/spend/money.js';
import { Database } from '../../src/persistence/database/database.js';
import { Notifications } from '../../src/persistence/database/notifications.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { rebuildSpend } from '../../src/upkeep/spend-rebuild.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';
import { startStubUpstream } from '../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../support/upstreams/stub-upstream.js';
import { holdCounter, untilSoManyWait } from '../support/database/waiting-statements.js';

let upstream: StubUpstream;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream();
  app = await createTestApp({
    environment: { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: `${upstream.origin}/v1` },
  });
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await app.close();
  await upstream.close();
});

const TABLES = ['key_spend', 'workspace_spend', 'account_spend'] as const;

async function countRows(table: string): Promise<number> {
  const [row] = await app.sql<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`);
  return row!.count;
}

async function counters(): Promise<unknown> {
  const rows = await Promise.all(TABLES.map((table) => app.sql(`SELECT * FROM ${table} ORDER BY 1, 2`)));
  return rows;
}

const rebuild = (force = true) => rebuildSpend(app.application.get(Database), { force });

/** Every counter of these keys, one by one: no statement holds two of them. */
async function corrupt(keys: readonly ApiKey[]): Promise<void> {
  const changes = `SET total = 99, daily = 1, weekly = 2, monthly = 3, byok_total = 7, last_day = '2020-01-01'`;
  for (const { id, workspaceId, accountId } of keys) {
    await app.sql(`UPDATE key_spend ${changes} WHERE api_key_id = $1`, [id]);
    await app.sql(`UPDATE workspace_spend ${changes} WHERE workspace_id = $1`, [workspaceId]);
    await app.sql(`UPDATE account_spend ${changes} WHERE account_id = $1`, [accountId]);
  }
}

async function append(key: ApiKey, cost: PicoUsd, createdAt: string, on = app): Promise<void> {
  const generation = createGeneration(key, { cost, createdAt: new Date(createdAt) });
  await on.application.get(GenerationLog).append(generation);
}

const hold = (key: ApiKey) => holdCounter(app, key);
const untilWaiting = (count: number) => untilSoManyWait(app, count);

/** Keys of one account in one workspace, in the order in which their counters are locked. */
async function createKeys(count: number): Promise<ApiKey[]> {
  const { accountId, workspaceId } = await app.createAccount();
  const keys = await Promise.all(
    Array.from({ length: count }, async () => (await app.createKey({ accountId, workspaceId })).record),
  );
  return keys.toSorted(({ id: one }, { id: other }) => (one < other ? -1 : 1));
}

describe('rebuilding the counters from the log', () => {
  it('restores the sums of settlements over days, weeks and months', async () => {
    const other = await app.createAccount();
    const moments = [
      '2026-09-30T23:59:59.999Z',
      '2026-10-01T00:00:00.000Z',
      '2026-11-15T12:00:00.000Z',
      '2026-11-16T00:00:00.000Z',
      '2026-11-18T12:00:00.000Z',
    ];
    for (const moment of moments) {
      app.clock.set(moment);
      const answers = await Promise.all(
        [app.apiKey, app.apiKey, other.apiKey].map((secret) =>
          app.http
            .post('/api/v1/embeddings')
            .set('authorization', `Bearer ${secret}`)
            .send({ model: 'openai/text-embedding-3-small', input: ['one', 'two'] }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    const settled = await counters();
    for (const table of TABLES) {
      await app.sql(
        `UPDATE ${table} SET total = 99, daily = 1, weekly = 2, monthly = 3, last_day = '2020-01-01'`,
      );
    }
    const [key, workspace, account] = await Promise.all(TABLES.map(countRows));
    expect(await rebuild()).toEqual({ key, guardrail: 0, workspace, account });
    expect(await counters()).toEqual(settled);
    const [{ total } = { total: '' }] = await app.sql<{ total: string }>(
      'SELECT total FROM key_spend WHERE api_key_id = $1',
      [app.key.id],
    );
    // 5 moments, 2 calls, 10 tokens each at 0.02 USD a million.
    expect(Number(total)).toBe(100 * 2e-8);
  });

  it('corrects nothing after settlements of the service, and keeps reservations', async () => {
    const { accountId, workspaceId } = await app.createAccount();
    const limited = await app.createKey({ accountId, workspaceId, limit: parseUsd('1') });
    await app.http
      .post('/api/v1/embeddings')
      .set('authorization', `Bearer ${limited.secret}`)
      .send({ model: 'openai/text-embedding-3-small', input: 'one' });
    await append(limited.record, 3n, '2026-10-31T12:00:00Z');
    await append(limited.record, 5n, '2026-10-30T12:00:00Z');
    const settled = await counters();
    expect(await rebuild()).toEqual({ key: 0, guardrail: 0, workspace: 0, account: 0 });
    expect(await counters()).toEqual(settled);
  });

  it('counts the amounts of leases', async () => {
    const [key] = await createKeys(1);
    await app.sql(
      `INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
       VALUES ($1, $2, 'key', gen_random_uuid(), 0.5, now() + interval '1 hour')`,
      [key!.workspaceId, key!.id],
    );
    expect(await rebuild()).toEqual({ key: 1, guardrail: 0, workspace: 0, account: 0 });
    const rows = await app.sql('SELECT reserved::float8 FROM key_spend WHERE api_key_id = $1', [key!.id]);
    expect(rows).toEqual([{ reserved: 0.5 }]);
    await app.sql('DELETE FROM spend_leases WHERE holder_id = $1', [key!.id]);
    await rebuild();
  });

  it('is a command that prints the number of wrong counters', async () => {
    const [key] = await createKeys(1);
    await app.sql('UPDATE key_spend SET daily = 99 WHERE api_key_id = $1', [key!.id]);
    jest.replaceProperty(process, 'env', {
      DATABASE_URL: app.databaseUrl,
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
    });
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await run([]);
      expect(written.mock.lastCall?.[0]).toBe(
        'The spend counters are the sums of the log. Corrected: 1 of keys, 0 of guardrails, 0 of workspaces, 0 of accounts.\n',
      );
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('releases the money of processes without a connection, when its operator says so', async () => {
    const [key] = await createKeys(1);
    const { lock } = app.application.get(Notifications);
    await app.sql(
      `INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at, held_until, session)
       SELECT $1, $2, 'key', gen_random_uuid(), 0.5, now() + interval '1 hour', now() + interval '1 hour', session
       FROM unnest($3::integer[]) AS session`,
      [key!.workspaceId, key!.id, [lock, 1]],
    );
    await app.sql('UPDATE key_spend SET reserved = 1 WHERE api_key_id = $1', [key!.id]);
    jest.replaceProperty(process, 'env', {
      DATABASE_URL: app.databaseUrl,
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
    });
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await run(['--release-lost']);
    } finally {
      jest.restoreAllMocks();
    }
    const leases = await app.sql('SELECT session FROM spend_leases WHERE holder_id = $1', [key!.id]);
    expect(leases).toEqual([{ session: lock }]);
    const rows = await app.sql('SELECT reserved::float8 FROM key_spend WHERE api_key_id = $1', [key!.id]);
    expect(rows).toEqual([{ reserved: 0.5 }]);
    await app.sql('DELETE FROM spend_leases WHERE holder_id = $1', [key!.id]);
    await rebuild();
  });

  it('waits for no transaction that holds a correct counter', async () => {
    const [right, wrong] = await createKeys(2);
    await app.sql('UPDATE key_spend SET total = 99 WHERE api_key_id = $1', [wrong!.id]);
    const letGo = await hold(right!);
    expect(await rebuild()).toEqual({ key: 1, guardrail: 0, workspace: 0, account: 0 });
    await letGo();
  });
});

describe('calls that are settled during a rebuild', () => {
  const sumsOf = async (key: ApiKey): Promise<unknown> => {
    const sums = 'last_day::text, total, daily, weekly, monthly, byok_total';
    return Promise.all([
      app.sql(`SELECT ${sums} FROM key_spend WHERE api_key_id = $1`, [key.id]),
      app.sql(`SELECT ${sums} FROM workspace_spend WHERE workspace_id = $1`, [key.workspaceId]),
      app.sql(`SELECT ${sums} FROM account_spend WHERE account_id = $1`, [key.accountId]),
    ]);
  };

  it('count once each: before, after, and committed after the log was summed up', async () => {
    // The first is locked first: while the rebuild waits for it, it holds no other.
    const [first, second, third] = await createKeys(3);
    const twins = await createKeys(3);
    for (const key of [first!, second!, third!, ...twins]) await append(key, 100n, '2026-11-17T12:00:00Z');
    await corrupt([first!, second!, third!]);

    const letThirdGo = await hold(third!);
    const begunBefore = append(third!, 1_000n, '2026-11-17T13:00:00Z', replica);
    await untilWaiting(1);
    // One that begins later and ends sooner: a snapshot's end is behind both.
    await app.sql('SELECT pg_current_xact_id()');
    const letFirstGo = await hold(first!);
    const rebuilt = rebuild();
    await untilWaiting(2);
    await letThirdGo();
    await begunBefore;
    await append(second!, 10_000n, '2026-11-18T00:00:00Z');
    const waiting = append(first!, 100_000n, '2026-11-18T01:00:00Z', replica);
    await untilWaiting(2);
    await letFirstGo();
    expect(await rebuilt).toEqual({ key: 3, guardrail: 0, workspace: 1, account: 1 });
    await waiting;

    await append(twins[2]!, 1_000n, '2026-11-17T13:00:00Z');
    await append(twins[1]!, 10_000n, '2026-11-18T00:00:00Z');
    await append(twins[0]!, 100_000n, '2026-11-18T01:00:00Z');
    for (const [index, key] of [first!, second!, third!].entries())
      expect(await sumsOf(key)).toEqual(await sumsOf(twins[index]!));
    expect(await rebuild()).toEqual({ key: 0, guardrail: 0, workspace: 0, account: 0 });
  });

  it('count once each under load on two replicas, in repeated rebuilds', async () => {
    const keys = [...(await createKeys(2)), ...(await createKeys(2))];
    const end = new AbortController();
    const appended = new Map(keys.map(({ id }) => [id, 0n]));
    const load = keys.flatMap((key) =>
      [app, replica].map(async (on) => {
        for (let cost = 1n; !end.signal.aborted; cost++) {
          await append(key, cost, '2026-11-18T12:00:00Z', on);
          appended.set(key.id, (appended.get(key.id) ?? 0n) + cost);
        }
      }),
    );
    try {
      for (let round = 0; round < 8; round++) {
        await corrupt(keys);
        await rebuild();
      }
    } finally {
      end.abort();
      await Promise.all(load);
    }
    const rows = await app.sql<{ id: string; total: string; daily: string }>(
      'SELECT api_key_id AS id, total, daily FROM key_spend WHERE api_key_id = ANY($1)',
      [keys.map(({ id }) => id)],
    );
    expect(new Map(rows.map(({ id, total }) => [id, parseUsd(total)]))).toEqual(appended);
    expect(rows.map(({ daily }) => daily)).toEqual(
      rows.map(({ id }) => expect.stringMatching(`^${formatUsd(appended.get(id) ?? 0n)}0*$`)),
    );
    expect(await rebuild()).toEqual({ key: 0, guardrail: 0, workspace: 0, account: 0 });
  });
});
