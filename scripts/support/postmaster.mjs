// The PostgreSQL server process: reads postmaster.pid, starts and stops the server, and starts its watchdog.
import { spawn } from 'node:child_process';
import { closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, isAbsolute, join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from './files.mjs';
import { identifyProcess, isRunning, readCommandLine, sendSignal, sleep } from './processes.mjs';
import { ScriptError } from './run-command.mjs';

const POLL_MS = 50;
const FAST_SHUTDOWN_TIMEOUT_MS = 30_000;
const LOG_KEPT_BYTES = 10 * 1024 * 1024;

// Waits until the pipe from its starter closes, which also happens when the starter is killed, and then requests a
// fast shutdown. It compares the server's own file first: by then the number may belong to another process. It runs
// until the file is gone (30 s at most): while it runs, the server is not to be adopted.
const WATCHDOG_SCRIPT = `
read -r pid || exit 0
while read -r line; do :; done
read -r current <"$1" 2>/dev/null || exit 0
[ "$current" = "$pid" ] && kill -INT "$pid" || exit 0
count=0
while [ $count -lt 300 ] && read -r current <"$1" 2>/dev/null && [ "$current" = "$pid" ]; do
  sleep 0.1
  count=$((count + 1))
done
`;

/**
 * PostgreSQL reads variables such as PGDATA, and its messages follow the locale: neither may come from the caller.
 */
export function serverEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(entries), LC_ALL: 'C' };
}

function servesAnotherDirectory(commandLine, dataDirectory) {
  const position = commandLine.indexOf('-D');
  const directory = position < 0 ? / -D (\/\S+)/.exec(commandLine[0])?.[1] : commandLine[position + 1];
  return directory !== undefined && isAbsolute(directory) && directory !== dataDirectory;
}

/**
 * The server that postmaster.pid names, if it runs; undefined for a dead number, or one reused by another program.
 */
export function findPostmaster(dataDirectory) {
  const lines = readFileIfPresent(join(dataDirectory, 'postmaster.pid'))?.split('\n') ?? [];
  const identity = identifyProcess(Number(lines[0]));
  if (!identity) return undefined;
  const commandLine = readCommandLine(identity.pid);
  // Only the server itself has this name; its children write "postgres: checkpointer" and the like.
  const isServer = /(^|\/)postgres(\s|$)/.test(commandLine[0] ?? '');
  if (!isServer || servesAnotherDirectory(commandLine, dataDirectory)) return undefined;
  // Line 4 is the port; line 8 is the state that pg_ctl waits for as well.
  return { identity, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

export function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function openLog(logFile) {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > LOG_KEPT_BYTES) {
    renameSync(logFile, `${logFile}.1`);
  }
  return { descriptor: openSync(logFile, 'a', 0o600), begin: statSync(logFile).size };
}

/** The last lines of the server's log since `begin`. */
function readLogTail(logFile, begin) {
  const text = Buffer.from(readFileIfPresent(logFile) ?? '')
    .subarray(begin)
    .toString();
  return text.trimEnd().split('\n').slice(-15).join('\n');
}

async function waitUntilReady(child, location, begin, signal) {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const tail = readLogTail(location.logFile, begin);
      const error = new ScriptError(
        `The embedded database did not start. The end of ${location.logFile}:\n${tail}`,
      );
      error.isPortTaken = /could not bind|Address already in use/.test(tail);
      // The children of a killed server need a moment to notice and to release the shared memory.
      error.isStillOccupied = /pre-existing shared memory block/.test(tail);
      throw error;
    }
    const server = findPostmaster(location.dataDirectory);
    if (server?.identity.pid === child.pid && server.isReady) return server;
    await sleep(POLL_MS, signal);
  }
}

/** Starts the server on one port and waits, however long recovery takes, until it accepts connections. */
export async function startPostmaster(location, port, settings, signal) {
  const { descriptor, begin } = openLog(location.logFile);
  const values = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    shared_buffers: '128MB',
    max_connections: 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...settings,
  };
  const child = spawn(
    join(location.native, 'bin', 'postgres'),
    [
      '-D',
      location.dataDirectory,
      ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    {
      cwd: '/',
      // A session of its own: Ctrl-C in the terminal is for the service, which still needs the database to drain.
      detached: true,
      stdio: ['ignore', descriptor, descriptor],
      env: serverEnvironment(),
      uid: location.account?.uid,
      gid: location.account?.gid,
    },
  );
  closeSync(descriptor);
  child.unref();
  const failure = new Promise((_, reject) => child.once('error', reject));
  failure.catch(() => undefined);
  try {
    return await Promise.race([waitUntilReady(child, location, begin, signal), failure]);
  } catch (error) {
    const identity = identifyProcess(child.pid);
    if (identity) await stopPostmaster(identity);
    throw error;
  }
}

/** Fast shutdown: ends sessions and writes everything. Returns when the process is gone. */
export async function stopPostmaster(identity) {
  const begunAt = Date.now();
  if (isRunning(identity)) sendSignal(identity.pid, 'SIGINT');
  while (isRunning(identity)) {
    await sleep(POLL_MS);
    if (Date.now() - begunAt > FAST_SHUTDOWN_TIMEOUT_MS) {
      // Immediate shutdown: recovery at the next start is better than a server left behind.
      sendSignal(identity.pid, 'SIGQUIT');
    }
  }
}

/**
 * The watchdog starts before the server. By its file the next starter sees whether a running server is in use, about
 * to be shut down, or left over.
 */
export function startWatchdog(location) {
  const pidFile = join(location.dataDirectory, 'postmaster.pid');
  const child = spawn('/bin/sh', ['-c', WATCHDOG_SCRIPT, basename(location.watchdogFile), pidFile], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  child.stdin.unref();
  writeFileAtomically(location.watchdogFile, JSON.stringify(identifyProcess(child.pid) ?? {}));
  return {
    guard: (pid) => child.stdin.write(`${pid}\n`),
    release() {
      child.stdin.end();
      rmSync(location.watchdogFile, { force: true });
    },
  };
}

/** Whether the watchdog of an earlier start still runs. */
export function hasWatchdog(watchdogFile) {
  return isRunning(JSON.parse(readFileIfPresent(watchdogFile) ?? '{}'));
}
