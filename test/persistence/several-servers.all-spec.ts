// An address with several servers, each a proxy to the same PostgreSQL: one is lost or falls silent, and the process
// moves to the other.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readAppConfig } from '../../src/config/app-config.js';
import { Database } from '../../src/persistence/database/database.js';
import { Notifications } from '../../src/persistence/database/notifications.js';
import type { TestApp } from '../support/app/app.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import { administrate, createTestDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import type { DatabaseProxy } from '../support/database/database-proxy.js';
import { eventually } from '../support/eventually.js';

let testDatabase: TestDatabase;
let first: DatabaseProxy;
let second: DatabaseProxy;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  first = await startDatabaseProxy(testDatabase.url);
  second = await startDatabaseProxy(testDatabase.url);
});
afterAll(async () => {
  await first.close();
  await second.close();
  await testDatabase.drop();
});
afterEach(() => {
  for (const proxy of [first, second]) {
    proxy.corrupt(null);
    proxy.repair();
  }
});

/** The address of the test's database with these servers. */
function urlOf(...proxies: readonly DatabaseProxy[]): string {
  const servers = proxies.map(({ url }) => `127.0.0.1:${new URL(url).port}`).join(',');
  return testDatabase.url.replace(/[^@/]*:\d+(?=\/)/, servers);
}

const open = (url: string): Database =>
  new Database(
    readAppConfig({ DATABASE_URL: url, ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY, DATABASE_POOL_SIZE: '2' }, []),
  );

describe('a pool with several servers', () => {
  let database: Database;
  beforeEach(() => {
    database = open(urlOf(first, second));
  });
  afterEach(() => database.onApplicationShutdown());

  const ask = () => database.query<{ one: number }>({ text: 'SELECT 1 AS one' });
  const untilAnswered = () =>
    eventually(
      () => ask().catch(() => []),
      (rows) => rows.length === 1,
    );

  it('begins with the second when the first is away', async () => {
    first.cut();
    expect(await ask()).toEqual([{ one: 1 }]);
    expect(await database.prisma.account.count()).toBe(0);
  });

  it('moves when its server is lost, and back', async () => {
    expect(await ask()).toEqual([{ one: 1 }]);
    first.cut();
    await untilAnswered();
    expect(await database.prisma.account.count()).toBe(0);
    first.repair();
    second.cut();
    await untilAnswered();
  });

  it('reports that none can be used', async () => {
    first.cut();
    second.cut();
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(database.prisma.account.count()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('uses none that is read-only', async () => {
    const server = new URL(testDatabase.url);
    const name = server.pathname.slice(1);
    server.pathname = '/postgres';
    await administrate(server.href, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    try {
      await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await administrate(server.href, `ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    }
    await untilAnswered();
  });

  it('runs a command in a session of the same servers', async () => {
    first.cut();
    await database.withSession(async (session) => {
      await session.transaction(['CREATE TEMP TABLE kept AS SELECT 1 AS one']);
      expect(await session.run('SELECT * FROM kept')).toEqual([{ one: 1 }]);
    });
  });
});

describe('a connection whose server has become read-only', () => {
  const DEMOTED = 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY';
  const CREATE = { text: 'CREATE TABLE demotions AS SELECT 1 AS one' };
  const DROP = { text: 'DROP TABLE demotions' };

  it('is discarded, and its statement repeated on another one', async () => {
    const database = open(testDatabase.url);
    try {
      await database.query({ text: DEMOTED });
      await database.query(CREATE);
      await database.query(DROP);
      await database.query({ text: DEMOTED });
      await database.transact((transaction) => transaction.$executeRawUnsafe(CREATE.text));
      await database.query(DROP);
    } finally {
      await database.onApplicationShutdown();
    }
  });
});

describe('a process whose server falls silent', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({ databaseUrl: urlOf(first, second) });
  });
  afterAll(() => app.close());

  it('moves its connections within seconds, those that hang included', async () => {
    const database = app.application.get(Database);
    const notifications = app.application.get(Notifications);
    await eventually(
      () => Promise.resolve(notifications.isTrusted),
      (isTrusted) => isTrusted,
    );
    const startedAt = performance.now();
    first.corrupt({ kind: 'silence' });
    await expect(database.query({ text: 'SELECT 1' })).rejects.toMatchObject({ code: 'unavailable' });
    // A statement that was sent to the silent server fails when its connection is closed.
    await eventually(
      () => database.query<{ one: number }>({ text: 'SELECT 1 AS one' }).catch(() => []),
      (rows) => rows.length === 1,
    );
    // The time-out of a statement is 15 s.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    await eventually(
      () => Promise.resolve(notifications.isTrusted),
      (isTrusted) => isTrusted,
    );
  });
});
