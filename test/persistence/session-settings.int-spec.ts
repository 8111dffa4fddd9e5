// The settings of a session, and what is left of them behind a pooler in transaction mode.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { clientClassOf } from '../../src/persistence/connections/database-client.js';
import type { DatabaseClient } from '../../src/persistence/connections/database-client.js';
import { findMissingSettings } from '../../src/persistence/connections/server-state.js';
import { administrate, createBareDatabase } from '../support/database/database.js';

let database: Awaited<ReturnType<typeof createBareDatabase>>;
beforeAll(async () => {
  database = await createBareDatabase();
});
afterAll(() => database.drop());

async function inSession<Result>(
  work: (client: DatabaseClient) => Promise<Result>,
  statementTimeout?: number,
): Promise<Result> {
  const Client = clientClassOf(database.roleUrl, statementTimeout);
  const client = new Client();
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function show(client: DatabaseClient, names: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await client.query<{ value: string | null }>(
    'SELECT current_setting(name, true) AS value FROM unnest($1::text[]) WITH ORDINALITY AS names (name, place) ORDER BY place',
    [names],
  );
  return rows.map(({ value }) => value);
}

it('asks the role for nothing where all settings are those of the server', async () => {
  expect(await inSession((client) => findMissingSettings(client, 'public'))).toEqual([]);
});

it('names what the role has to be given, and leaves the session as it was', async () => {
  for (const setting of [
    "bytea_output = 'escape'",
    "default_transaction_isolation = 'serializable'",
    "DateStyle = 'German'",
  ])
    await administrate(database.url, `ALTER ROLE "${database.role}" SET ${setting}`);
  await administrate(database.url, 'CREATE SCHEMA gw');
  await inSession(async (client) => {
    expect(await findMissingSettings(client, 'gw')).toEqual([
      "bytea_output = 'hex'",
      "default_transaction_isolation = 'read committed'",
      'search_path = gw',
    ]);
    const names = ['bytea_output', 'default_transaction_isolation', 'DateStyle', 'search_path'];
    expect(await show(client, names)).toEqual(['hex', 'read committed', 'ISO, MDY', 'public']);
  });
});

it('bounds the statements of calls by the time-out of the role, and those of commands by none', async () => {
  const names = ['statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout'];
  expect(await inSession((client) => show(client, names), 14_000)).toEqual(['14s', '0', '0']);
  await administrate(database.url, `ALTER ROLE "${database.role}" SET statement_timeout = '9s'`);
  await administrate(
    database.url,
    `ALTER ROLE "${database.role}" SET idle_in_transaction_session_timeout = '1min'`,
  );
  await administrate(database.url, `ALTER ROLE "${database.role}" SET lock_timeout = 1`);
  expect(await inSession((client) => show(client, names), 14_000)).toEqual(['9s', '1min', '0']);
  expect(await inSession((client) => show(client, names))).toEqual(['0', '0', '0']);
});
