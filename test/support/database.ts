// A database of its own for every test file, copied from the template that scripts/test.mjs has migrated.
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const server = setting('SIGNALBOX_TEST_SERVER_URL');
  const name = `${setting('SIGNALBOX_TEST_PREFIX')}${randomBytes(6).toString('hex')}`;
  await administrate(server, `CREATE DATABASE "${name}" TEMPLATE "${setting('SIGNALBOX_TEST_TEMPLATE')}"`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administrate(server, `DROP DATABASE "${name}" WITH (FORCE)`) };
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
