// The translation of errors of a real PostgreSQL, with Prisma and with plain statements.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readAppConfig } from '../../src/config/app-config.js';
import { AppError } from '../../src/domain/errors.js';
import {
  RejectedValue,
  translateDatabaseError,
  UniqueViolation,
} from '../../src/persistence/database/database-errors.js';
import { Database } from '../../src/persistence/database/database.js';
import { TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import { administrate, createTestDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import type { DatabaseProxy } from '../support/database/database-proxy.js';

const open = (url: string, size = '2'): Database =>
  new Database(
    readAppConfig({ DATABASE_URL: url, ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY, DATABASE_POOL_SIZE: size }, []),
  );

let testDatabase: TestDatabase;
let proxy: DatabaseProxy;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startDatabaseProxy(testDatabase.url);
  database = open(proxy.url);
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await proxy.close();
  await testDatabase.drop();
});

const outcomeOf = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work;
  } catch (error) {
    return error;
  }
};
const query = (text: string, values: unknown[] = []): Promise<unknown> =>
  outcomeOf(database.query({ text, values }));
const count = (using = database): Promise<unknown> => outcomeOf(using.prisma.account.count());

function expectUnavailable(error: unknown, reason = 'the database cannot be reached'): void {
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({
    code: 'unavailable',
    message: `Service temporarily unavailable: ${reason}`,
    headers: { 'Retry-After': '1' },
  });
}

describe('a rejected value', () => {
  it.each([
    ['NUL in text', 'SELECT $1::text', ['a\u0000']],
    ['NUL in JSON', `SELECT ($1::json)->>'a'`, ['{"a":"\\u0000"}']],
    ['half a surrogate pair in JSON', 'SELECT $1::jsonb', ['"\\ud800"']],
    ['text that is no number', 'SELECT $1::integer', ['x']],
    ['a number out of range', 'SELECT $1::integer', ['3000000000']],
    ['a date that does not exist', 'SELECT $1::date', ['2026-02-30']],
    [
      'a reference to nothing',
      `INSERT INTO workspaces (id, account_id, name, slug)
         VALUES (gen_random_uuid(), gen_random_uuid(), 'n', 's')`,
      [],
    ],
    ['a null that is not allowed', "INSERT INTO accounts (id, name) VALUES (gen_random_uuid(), 'n')", []],
  ])('is reported as one: %s', async (_name, text, values) => {
    expect(await query(text, values)).toBeInstanceOf(RejectedValue);
  });

  it('is reported as one by Prisma', async () => {
    const created = database.prisma.workspace.create({
      data: {
        id: '01934b2c-0000-7000-8000-000000000001',
        accountId: '01934b2c-0000-7000-8000-000000000002',
        name: 'a\u0000',
        slug: 's',
      },
    });
    const error = await outcomeOf(created);
    expect(error).toBeInstanceOf(RejectedValue);
  });
});

describe('a server without room', () => {
  it.each([
    ['disk full', '53100'],
    ['out of memory', '53200'],
  ])('is reported as exhausted: %s', async (_name, state) => {
    const error = await query(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`);
    expectUnavailable(error, 'the database has no room left');
  });
});

describe('a unique key that is taken', () => {
  it('is reported by Prisma', async () => {
    const create = () => database.prisma.apiKeySecret.create({ data: secret });
    const secret = {
      secretHash: 'a'.repeat(64),
      workspaceId: '01934b2c-0000-7000-8000-000000000001',
      apiKeyId: '01934b2c-0000-7000-8000-000000000002',
    };
    await query('ALTER TABLE api_key_secrets DISABLE TRIGGER ALL');
    await create();
    expect(await outcomeOf(create())).toBeInstanceOf(UniqueViolation);
  });
});

describe('an unreachable database', () => {
  it('is reported until its cut connections can be opened again', async () => {
    expect(await count()).toBe(0);
    proxy.cut();
    expectUnavailable(await query('SELECT 1'));
    expectUnavailable(await count());
    proxy.repair();
    expect(await count()).toBe(0);
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is reported while it shuts down', async () => {
    const sleeping = query('SELECT pg_sleep(30)');
    const asleep = "state = 'active' AND query LIKE 'SELECT pg_sleep%'";
    for (;;) {
      const rows = await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${asleep}`);
      if ((rows as unknown[]).length > 0) break;
    }
    expectUnavailable(await sleeping);
  });

  it('is reported without the socket of its machine', async () => {
    const lonely = open(`postgresql://postgres@localhost/signalbox?host=${encodeURIComponent('/nowhere')}`);
    expectUnavailable(await outcomeOf(lonely.query({ text: 'SELECT 1' })));
    expectUnavailable(await count(lonely));
    await lonely.onApplicationShutdown();
  });

  it.each(['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED'])(
    'is reported for the network error %s',
    (code) => expectUnavailable(translateDatabaseError(Object.assign(new Error(), { code }))),
  );

  it.each([
    'timeout expired',
    'Client network socket disconnected before secure TLS connection was established',
  ])("is reported for the driver's message: %s", (message) =>
    expectUnavailable(translateDatabaseError(new Error(message))),
  );

  it('is reported when no process listens', async () => {
    const nowhere = await startDatabaseProxy(testDatabase.url);
    await nowhere.close();
    const lonely = open(nowhere.url);
    expectUnavailable(await outcomeOf(lonely.query({ text: 'SELECT 1' })));
    expectUnavailable(await count(lonely));
    await lonely.onApplicationShutdown();
  });

  it('is reported while it accepts no connections', async () => {
    const name = new URL(testDatabase.url).pathname.slice(1);
    const server = new URL(testDatabase.url);
    server.pathname = '/postgres';
    await administrate(server.href, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    const newcomer = open(testDatabase.url);
    try {
      expectUnavailable(await outcomeOf(newcomer.query({ text: 'SELECT 1' })));
      expectUnavailable(await count(newcomer));
    } finally {
      await administrate(server.href, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
    }
    expect(await count(newcomer)).toBe(0);
    await newcomer.onApplicationShutdown();
  });

  it('is reported when it has no connection left', async () => {
    const name = new URL(testDatabase.url).pathname.slice(1);
    await query(`CREATE ROLE "${name}" LOGIN CONNECTION LIMIT 0`);
    const url = new URL(testDatabase.url);
    url.username = name;
    const crowded = open(url.href);
    try {
      expectUnavailable(await outcomeOf(crowded.query({ text: 'SELECT 1' })));
      expectUnavailable(await count(crowded));
    } finally {
      await crowded.onApplicationShutdown();
      await query(`DROP ROLE "${name}"`);
    }
  });
});

describe('an error of this service', () => {
  it.each([
    'SELECT nothing FROM nowhere',
    'SELEC 1',
    'SELECT 1/0 FROM accounts LIMIT',
    'SELECT unknown_function()',
  ])('is neither an unreachable database nor a rejected value: %s', async (text) => {
    const error = await query(text);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AppError);
    expect(error).not.toBeInstanceOf(RejectedValue);
  });
});
