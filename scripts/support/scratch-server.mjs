// A server for temporary databases: that of TEST_DATABASE_URL, or one started for this run.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '../embedded-database.mjs';
import { waitForDatabase } from '../migrate.mjs';
import { connect, withDatabase } from './database-connection.mjs';
import { createTemporaryDirectory, databaseName } from './temporary-directory.mjs';

// These databases need not survive a power cut. In memory, the log of changes takes little of it.
const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
};

async function openServer({ inMemory, progress, signal }) {
  const log = (text) => progress.line(text);
  const given = process.env.TEST_DATABASE_URL?.trim();
  if (given) {
    await waitForDatabase({ databaseUrl: given, variable: 'TEST_DATABASE_URL', log, signal });
    return { adminUrl: given, close: async () => undefined };
  }
  const directory = createTemporaryDirectory({ inMemory });
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  try {
    const database = await progress.step('Starting a database for this run', () =>
      startEmbeddedDatabase({
        directory: join(directory, databaseName),
        settings: FAST_SETTINGS,
        log,
        signal,
      }),
    );
    const close = async () => {
      await database.destroy();
      removeDirectory();
    };
    return { adminUrl: withDatabase(database.url, 'postgres'), close };
  } catch (error) {
    removeDirectory();
    throw error;
  }
}

async function dropDatabases(client, runId) {
  const { rows } = await client.query(
    String.raw`SELECT datname AS name FROM pg_database WHERE datname ~ ('^signalbox_[a-z]+_' || $1 || '(_|$)')`,
    [runId],
  );
  for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}

const takeRunLock = (client, runId) =>
  client
    .query("SELECT pg_try_advisory_lock(hashtextextended('signalbox run ' || $1, 0)) AS taken", [runId])
    .then(({ rows }) => rows[0].taken);

/** Databases of killed runs, whose session and lock are gone. */
async function dropLeftovers(client, ownRunId) {
  const { rows } = await client.query(
    "SELECT DISTINCT substring(datname from '^signalbox_[a-z]+_([0-9a-f]{8})') AS run FROM pg_database",
  );
  for (const { run } of rows) {
    if (run === null || run === ownRunId || !(await takeRunLock(client, run))) continue;
    await dropDatabases(client, run);
    await client.query("SELECT pg_advisory_unlock(hashtextextended('signalbox run ' || $1, 0))", [run]);
  }
}

/**
 * `nameDatabase('test')` returns a name, or a prefix of names, that belongs to this run: `close` drops every database
 * with it. `inMemory`: the databases are small.
 */
export async function openScratchServer(options) {
  const server = await openServer(options);
  const runId = randomBytes(4).toString('hex');
  let client;
  try {
    client = await connect(server.adminUrl);
    await takeRunLock(client, runId);
    await dropLeftovers(client, runId);
  } catch (error) {
    await client?.end();
    await server.close();
    throw error;
  }
  const nameDatabase = (purpose) => `signalbox_${purpose}_${runId}`;
  return {
    adminUrl: server.adminUrl,
    nameDatabase,
    async createDatabase(purpose) {
      const name = nameDatabase(purpose);
      await client.query(`CREATE DATABASE ${name}`);
      return { name, url: withDatabase(server.adminUrl, name) };
    },
    async close() {
      try {
        await dropDatabases(client, runId);
        await client.end();
      } finally {
        await server.close();
      }
    },
  };
}
