// Time-outs of statements: PostgreSQL ends those that the service gives up.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { readAppConfig } from '../../src/config/app-config.js';
import { Database } from '../../src/persistence/database/database.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

it('ends a statement in the database before the service gives it up', async () => {
  const show = { text: 'SHOW statement_timeout' };
  expect(await app.application.get(Database).query(show)).toEqual([{ statement_timeout: '14s' }]);
});

it('keeps a time-out that the operator has set', async () => {
  await app.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''9s''', current_database()); END $$`,
  );
  const replica = await app.startReplica();
  try {
    const show = { text: 'SHOW statement_timeout' };
    expect(await replica.application.get(Database).query(show)).toEqual([{ statement_timeout: '9s' }]);
  } finally {
    await replica.close();
  }
});

it('reports a statement that the database has ended as unavailable, and one of a report as too long', async () => {
  const database = app.application.get(Database);
  const canceled = "DO $$ BEGIN RAISE EXCEPTION 'canceled' USING ERRCODE = '57014'; END $$";
  await expect(database.query({ text: canceled })).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.readWithin(5_000, (run) => run({ text: canceled }))).rejects.toMatchObject({
    code: 'operation_timeout',
  });
});

it('reports a report that waits for a lock of the log as unavailable', async () => {
  // The time-out of the session, not that of the report, ends the wait.
  await app.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''500ms''', current_database()); END $$`,
  );
  const environment = { DATABASE_URL: app.databaseUrl, ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY };
  const database = new Database(readAppConfig(environment, []));
  const locking = new pg.Client({ connectionString: app.databaseUrl });
  await locking.connect();
  try {
    await locking.query('BEGIN; LOCK TABLE generations IN ACCESS EXCLUSIVE MODE');
    const read = database.readWithin(5_000, (run) => run({ text: 'SELECT 1' }));
    await expect(read).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    await locking.end();
    await database.onApplicationShutdown();
  }
});
