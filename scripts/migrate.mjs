// Applies prisma/migrations to the database in DATABASE_URL. Safe for any number of replicas that start at once.
import { setup } from './setup.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { openLog } from './support/log.mjs';
import { createProgress } from './support/progress.mjs';
import { checkAddress, describeServer, withClient } from './support/database-connection.mjs';
import { explainRejection, isNameFailure } from './support/database-connection.mjs';
import { isWorthWaitingFor, requireFitness } from './support/database-connection.mjs';
import { findAddresses, requireSessions } from './support/database-sessions.mjs';
import {
  compareWithDatabase,
  findForeignTables,
  markMigration,
  toMigrationList,
} from './support/migration-files.mjs';
import { isCalledDirectly } from './support/repository.mjs';
import { ScriptError } from './support/run-command.mjs';
import { sleep } from './support/processes.mjs';
import { readSecretFiles } from './support/secret-files.mjs';
import { describeEngineError, noFilters, openSchemaEngine } from './support/schema-engine.mjs';

const SAY_AGAIN_MS = 3000;
const RETRY_MS = 250;
const LOCK_TIMEOUT = '5s';
const INSUFFICIENT_PRIVILEGE = '42501';
// A name may appear after its container; a wrong one never does.
const NAME_TIMEOUT_MS = 60_000;

/**
 * Returns as soon as the database accepts the connection. Logs the reason for the wait every few seconds, and throws
 * errors that waiting cannot fix. `variable` is the source of the address, and so the one to correct.
 */
export async function waitForDatabase(options) {
  const {
    databaseUrl,
    variable = 'DATABASE_URL',
    log = console.log,
    signal,
    nameTimeout = NAME_TIMEOUT_MS,
  } = options;
  await checkAddress(databaseUrl, variable);
  const server = await describeServer(databaseUrl);
  let saidAt;
  let namelessSince;
  for (;;) {
    try {
      await withClient(databaseUrl, (client) => requireFitness(databaseUrl, client));
      if (saidAt !== undefined) log(`the database at ${server} answers`);
      return;
    } catch (error) {
      if (error instanceof ScriptError) throw error;
      namelessSince = isNameFailure(error) ? (namelessSince ?? Date.now()) : undefined;
      const isHopeless = namelessSince !== undefined && Date.now() - namelessSince >= nameTimeout;
      if (isHopeless || !isWorthWaitingFor(error)) throw await explainRejection(databaseUrl, variable, error);
      if (saidAt === undefined || Date.now() - saidAt >= SAY_AGAIN_MS) {
        saidAt = Date.now();
        log(`waiting for the database at ${server}: ${error.message}`);
      }
    }
    await sleep(RETRY_MS, signal);
  }
}

/**
 * Waits for the database of the environment, and applies pending migrations there. Migrations, locks and notifications
 * need sessions, which a pooler may not provide. Returns the names of the migrations.
 */
export async function prepareDatabase({ environment, log = console.log, signal }) {
  const { databaseUrl, directUrl } = findAddresses(environment);
  await waitForDatabase({ databaseUrl, log, signal });
  if (directUrl !== databaseUrl)
    await waitForDatabase({ databaseUrl: directUrl, variable: 'DATABASE_DIRECT_URL', log, signal });
  await requireSessions(environment, log);
  return migrate({ databaseUrl: directUrl, log, signal });
}

/** Throws for a history that must not be continued, and warns of one that is ahead of this folder. */
function checkMigrations({ changed, unfinished, unknown }, log) {
  if (changed.length > 0) {
    const names = changed.map(({ name }) => name).join(', ');
    throw new ScriptError(
      `Changed after it was applied to this database: ${names}. ` +
        'Restore the file, and put the change into a new migration.',
    );
  }
  if (unfinished.length > 0) {
    const [{ name, startedAt }] = unfinished;
    throw new ScriptError(
      `The migration ${name} was begun on ${startedAt.toISOString()} and neither finished nor undone. ` +
        'Remove its partial changes, then permit another run: ' +
        `DELETE FROM _prisma_migrations WHERE migration_name = '${name}' AND finished_at IS NULL`,
    );
  }
  if (unknown.length > 0) {
    log(
      `this database is ahead of this version, which does not know ${unknown.join(', ')}; going on`,
      'warn',
    );
  }
}

function explainRight(error) {
  if (error.code !== INSUFFICIENT_PRIVILEGE) throw error;
  throw new ScriptError(
    `${error.message}: the role must own the tables of signalbox. Connect as their owner, or as its member ` +
      '(GRANT owner TO role)',
  );
}

/** Throws before the first migration where the schema belongs to another application. */
async function requireRoom(client, state) {
  if (state.pending.length < state.migrations.length) return;
  const names = await findForeignTables(client, state);
  if (names.length === 0) return;
  const { schema, role } = client.state;
  throw new ScriptError(
    `The schema ${schema} has tables of another application (${names.slice(0, 3).join(', ')}), and nothing was changed. ` +
      `Run CREATE SCHEMA signalbox AUTHORIZATION ${role} and add schema=signalbox to the parameters of the address.`,
  );
}

const OUR_LOCK = "hashtextextended('signalbox.migrate', 0)";
// The engine's own lock. It gives up after ten seconds, while the session of a killed migrator may hold the lock for
// longer.
const PRISMA_LOCK = '72707369';

// Not lock-and-wait: a waiting session holds a snapshot, which would block CREATE INDEX CONCURRENTLY.
async function takeLock(client, lock, log, signal) {
  let saidAt = 0;
  for (;;) {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${lock}) AS taken`);
    if (rows[0].taken) return;
    if (Date.now() - saidAt >= SAY_AGAIN_MS) {
      saidAt = Date.now();
      log('waiting for another process that is migrating this database');
    }
    await sleep(RETRY_MS, signal);
  }
}

/**
 * A migration and its row in _prisma_migrations are one transaction: a process killed in between leaves nothing half
 * done. Only statements such as CREATE INDEX CONCURRENTLY run outside one.
 */
async function applyOne(schemaEngine, migrations, { name, script }, lockTimeout) {
  const { engine, connection } = schemaEngine;
  const isTransactional = !/\bCONCURRENTLY\b/i.test(script.replaceAll(/--.*$/gm, ''));
  const upToThis = migrations.slice(0, migrations.findIndex((migration) => migration.name === name) + 1);
  try {
    // A migration that waits for a lock makes every call wait behind it. Without a transaction no call waits behind
    // it.
    await connection.query(
      `SET lock_timeout = '${isTransactional ? lockTimeout : '0'}'; SET statement_timeout = 0`,
    );
    if (isTransactional) await connection.query('BEGIN');
    await engine.applyMigrations({ migrationsList: toMigrationList(upToThis), filters: noFilters });
    await markMigration(connection, name);
    if (isTransactional) await connection.query('COMMIT');
  } catch (error) {
    if (isTransactional) await connection.query('ROLLBACK').catch(() => undefined);
    const reason = schemaEngine.takeScriptError() ?? describeEngineError(error);
    throw new ScriptError(`The migration ${name} failed: ${reason}`);
  }
}

/**
 * Applies pending migrations and returns their names; without any it is one query. `lockTimeout`, in PostgreSQL's
 * notation, bounds the wait of a migration for a lock.
 */
export async function migrate({ databaseUrl, log = console.log, signal, lockTimeout = LOCK_TIMEOUT }) {
  return withClient(databaseUrl, async (client) => {
    const atFirst = await compareWithDatabase(client).catch(explainRight);
    // Not checked while migrations are pending: another replica may be half-way through one.
    if (atFirst.pending.length === 0) {
      checkMigrations(atFirst, log);
      return [];
    }
    await takeLock(client, OUR_LOCK, log, signal);
    await takeLock(client, PRISMA_LOCK, log, signal);
    await client.query(`SELECT pg_advisory_unlock(${PRISMA_LOCK})`);
    const state = await compareWithDatabase(client);
    checkMigrations(state, log);
    if (state.pending.length === 0) return [];
    await requireRoom(client, state);
    const schemaEngine = await openSchemaEngine(databaseUrl);
    try {
      for (const migration of state.pending) {
        signal?.throwIfAborted();
        // A line after each migration, and one during a long migration.
        const running = setTimeout(log, SAY_AGAIN_MS, `applying the migration ${migration.name}`);
        await applyOne(schemaEngine, state.migrations, migration, lockTimeout).finally(() =>
          clearTimeout(running),
        );
        log(`applied the migration ${migration.name}`);
      }
    } finally {
      await schemaEngine.close();
    }
    return state.pending.map(({ name }) => name);
  });
}

const USAGE = `Applies the migrations in prisma/migrations that the database does not have yet.

Usage: DATABASE_URL=postgresql://user:password@host:5432/name npm run db:migrate`;

async function run() {
  const { signal } = catchInterruptions();
  // The log is part of the build, and the standard output is the log's.
  await setup({ progress: createProgress(process.stderr), signal });
  const log = await openLog(process.env);
  readSecretFiles(process.env);
  if (!process.env.DATABASE_URL?.trim())
    throw new ScriptError('DATABASE_URL must be set to the database that is to be migrated');
  const applied = await prepareDatabase({ environment: process.env, log, signal });
  log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.length} migration(s)`);
}

if (isCalledDirectly(import.meta.url)) {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h'))
    console.log(USAGE);
  // An explicit exit, because a timer of the engine would hold the process for ten seconds.
  else process.exit(await run().then(() => 0, reportFailure));
}
