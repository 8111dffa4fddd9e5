// A lock file that holds a process number. It outlives a killed owner; the next process takes it over.
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { identifyProcess, isRunning, sendSignal } from './processes.mjs';

// An owner may be killed between creating the file and writing into it; an empty file older than this has no owner.
const UNREADABLE_LOCK_IS_STALE_AFTER_MS = 2000;

function readLock(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
    const owner = JSON.parse(text);
    return { text, owner };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return { text, owner: undefined, isFresh: age < UNREADABLE_LOCK_IS_STALE_AFTER_MS };
}

function removeStaleLock(path, staleText) {
  const aside = `${path}.stale-${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  try {
    // Another process may have taken the lock over between this process's reading and renaming: restore its file.
    if (readFileSync(aside, 'utf8') !== staleText) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function createLock(path) {
  const identity = identifyProcess(process.pid);
  const write = (content, flag) => writeFileSync(path, JSON.stringify(content), { flag });
  write(identity, 'wx');
  return {
    /** A child that must not continue beside the next owner when this one is killed. */
    recordChild(pid) {
      const child = identifyProcess(pid);
      if (child) write({ ...identity, child }, 'w');
    },
    release() {
      const current = readLock(path);
      if (current?.owner?.pid === identity.pid && current.owner.startedAt === identity.startedAt) {
        rmSync(path, { force: true });
      }
    },
  };
}

/** Returns `{ lock }`, or `{ owner }` with the number of the running owner. Never waits. */
export function tryLock(path) {
  for (;;) {
    try {
      return { lock: createLock(path) };
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const found = readLock(path);
    if (found === undefined) continue;
    if (found.isFresh || isRunning(found.owner)) return { owner: found.owner?.pid };
    const orphan = found.owner?.child;
    if (isRunning(orphan)) {
      // Its group, because it leads one.
      sendSignal(-orphan.pid, 'SIGKILL');
      return { owner: orphan.pid };
    }
    removeStaleLock(path, found.text);
  }
}
