// A database of its own for every test file, copied from the template that scripts/test.mjs has migrated.
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  // Copies files; the default writes each page to the log of changes as well.
  const database = await createDatabase(
    `TEMPLATE "${setting('SIGNALBOX_TEST_TEMPLATE')}" STRATEGY FILE_COPY`,
  );
  await allowAnyDay(database.url);
  return database;
}

/** Without tables, as an operator makes it. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase('');

async function createDatabase(options: string): Promise<TestDatabase> {
  const server = setting('SIGNALBOX_TEST_SERVER_URL');
  const name = `${setting('SIGNALBOX_TEST_PREFIX')}${randomBytes(6).toString('hex')}`;
  await administrate(server, `CREATE DATABASE "${name}" ${options}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administrate(server, `DROP DATABASE "${name}" WITH (FORCE)`) };
}

/** An empty database, and a role that may only connect, each with a name of this run. */
export async function createBareDatabase(
  clause = '',
): Promise<TestDatabase & { readonly role: string; readonly roleUrl: string }> {
  const server = setting('SIGNALBOX_TEST_SERVER_URL');
  const name = `${setting('SIGNALBOX_TEST_PREFIX')}${randomBytes(6).toString('hex')}`;
  await administrate(server, `CREATE DATABASE "${name}" ${clause}`);
  await administrate(server, `CREATE ROLE "${name}" LOGIN PASSWORD 'secret'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const roleUrl = new URL(url);
  roleUrl.username = name;
  roleUrl.password = 'secret';
  return {
    url: url.href,
    role: name,
    roleUrl: roleUrl.href,
    drop: async () => {
      await administrate(server, `DROP DATABASE "${name}" WITH (FORCE)`);
      await administrate(server, `DROP ROLE "${name}"`);
    },
  };
}

/** Tests move their apps' clocks, which the database would take for wrong ones. */
export const allowAnyDay = (databaseUrl: string): Promise<void> => administrate(databaseUrl, spendDay('day'));

/** The database decides the days of calls as it does in production, as if it were that moment. */
export async function setDatabaseTime(databaseUrl: string, moment: string): Promise<void> {
  await administrate(databaseUrl, spendDay(`spend_day_at('${moment}'::timestamptz, day)`));
}

function spendDay(expression: string): string {
  return `CREATE OR REPLACE FUNCTION spend_day(day date) RETURNS date LANGUAGE sql STABLE AS $$ SELECT ${expression} $$`;
}

export async function administrate(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with npm test`);
  return value;
}
