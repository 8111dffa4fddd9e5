// Rebuilding the counters beside deliveries, and from an incomplete log.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { run } from '../../src/cli/spend-rebuild.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import type { PicoUsd } from '../../src/domain/spend/money.js';
import { Database } from '../../src/persistence/database/database.js';
import type { CommandSession } from '../../src/persistence/database/database.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { LOG_HORIZON } from '../../src/persistence/database/log-offset.js';
import { rebuildSpend } from '../../src/upkeep/spend-rebuild.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import type { TestApp } from '../support/app/app.js';
import { setDatabaseTime } from '../support/database/database.js';
import { createGeneration } from '../support/generations/generation.js';

let app: TestApp;
let database: Database;
beforeAll(async () => {
  app = await createTestApp();
  database = app.application.get(Database);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => app.close());

async function append(key: ApiKey, cost: PicoUsd, createdAt: string): Promise<string> {
  const generation = createGeneration(key, { cost, createdAt: new Date(createdAt) });
  await app.application.get(GenerationLog).append(generation);
  return generation.id;
}

const countersOf = async ({ id, workspaceId, accountId }: ApiKey): Promise<unknown> =>
  Promise.all([
    app.sql('SELECT * FROM key_spend WHERE api_key_id = $1', [id]),
    app.sql('SELECT * FROM workspace_spend WHERE workspace_id = $1', [workspaceId]),
    app.sql('SELECT * FROM account_spend WHERE account_id = $1', [accountId]),
  ]);

describe('a call that is recorded while the log is read', () => {
  it('is delivered at once: the reading transaction holds back no reader of the log', async () => {
    const { key } = await app.createAccount();
    await append(key, 1n, '2026-11-18T12:00:00Z');
    await app.sql('UPDATE key_spend SET daily = 99 WHERE api_key_id = $1', [key.id]);
    let seen: unknown;
    /** The reading session: it has its snapshot, and has not ended. */
    const beforeItEnds = (session: CommandSession): CommandSession => ({
      ...session,
      run: async (text, values) => {
        if (text === 'COMMIT') {
          const id = await append(key, 1n, '2026-11-18T12:00:01Z');
          // The horizon is the server's: transactions of other databases hold it back for a moment as well.
          seen = await eventually(
            () =>
              app.sql<{ isReadable: boolean }>(
                `SELECT log_transaction < ${LOG_HORIZON} AS "isReadable" FROM generations WHERE id = $1`,
                [id],
              ),
            ([row]) => row?.isReadable === true,
          );
        }
        return session.run(text, values);
      },
    });
    const withSession = database.withSession.bind(database);
    jest
      .spyOn(database, 'withSession')
      .mockImplementation((work) => withSession((session) => work(beforeItEnds(session))));
    expect(await rebuildSpend(database)).toEqual({ key: 1, guardrail: 0, workspace: 0, account: 0 });
    expect(seen).toEqual([{ isReadable: true }]);
    jest.restoreAllMocks();
    const [row] = await app.sql('SELECT total::float8, daily::float8 FROM key_spend WHERE api_key_id = $1', [
      key.id,
    ]);
    expect(row).toEqual({ total: 2e-12, daily: 2e-12 });
  });
});

describe('a log that holds less than the counters', () => {
  it('changes no counter, and reports the counters and the remedies', async () => {
    const { key } = await app.createAccount();
    for (const moment of ['2026-10-01T12:00:00Z', '2026-11-18T12:00:00Z']) await append(key, 1_000n, moment);
    // Like a dropped partition.
    await app.sql(`DELETE FROM generations WHERE api_key_id = $1 AND created_at < '2026-11-01'`, [key.id]);
    // A second counter that could be corrected.
    const { key: other } = await app.createAccount();
    await app.sql('UPDATE key_spend SET daily = 99 WHERE api_key_id = $1', [other.id]);
    const before = [await countersOf(key), await countersOf(other)];
    jest.replaceProperty(process, 'env', {
      DATABASE_URL: app.databaseUrl,
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
    });
    const rejection = await run([]).catch((error: unknown) => error);
    expect(rejection).toMatchObject({ message: expect.stringContaining('--force') });
    const { message } = rejection as Error;
    for (const [kind, id] of [
      ['key', key.id],
      ['workspace', key.workspaceId],
      ['account', key.accountId],
    ])
      expect(message).toContain(`${kind} ${id}: 0.000000002000 USD counted, 0.000000001000 USD in the log`);
    expect(message).not.toContain(other.id);
    expect([await countersOf(key), await countersOf(other)]).toEqual(before);

    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    await run(['--force']);
    const rows = await app.sql('SELECT total::float8 FROM key_spend WHERE api_key_id = $1', [key.id]);
    expect(rows).toEqual([{ total: 1e-9 }]);
  });
});

describe('a row of the log with a future day', () => {
  it('counts in the total, and disables no window', async () => {
    const { key } = await app.createAccount();
    await append(key, 5n, '2026-11-18T12:00:00Z');
    await append(key, 7n, '2030-01-01T12:00:00Z');
    await setDatabaseTime(app.databaseUrl, '2026-11-18T12:00:00Z');
    await rebuildSpend(database, { force: true });
    const [row] = await app.sql(
      `SELECT last_day::text AS day, total::float8, daily::float8, monthly::float8 FROM key_spend WHERE api_key_id = $1`,
      [key.id],
    );
    expect(row).toEqual({ day: '2026-11-18', total: 12e-12, daily: 5e-12, monthly: 5e-12 });
  });
});

describe('many wrong counters', () => {
  it('are corrected in batches, each once', async () => {
    const { accountId, workspaceId, key } = await app.createAccount();
    for (let made = 0; made < 230; made++) await app.createKey({ accountId, workspaceId });
    await append(key, 3n, '2026-11-18T12:00:00Z');
    await app.sql('UPDATE key_spend SET daily = 99 WHERE workspace_id = $1', [workspaceId]);
    const [counted] = await app.sql<{ keys: number }>(
      'SELECT count(*)::integer AS keys FROM key_spend WHERE workspace_id = $1',
      [workspaceId],
    );
    expect(await rebuildSpend(database, { force: true })).toMatchObject({ key: counted!.keys });
    expect(await rebuildSpend(database)).toEqual({ key: 0, guardrail: 0, workspace: 0, account: 0 });
  });
});
