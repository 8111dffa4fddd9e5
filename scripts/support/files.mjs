// Small files that must be whole or absent, and readable by nobody else where they hold secrets.
import { randomBytes } from 'node:crypto';
import { chownSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

function writeWhole(path, content, mode, commit) {
  const unfinished = `${path}.${process.pid}-${randomBytes(3).toString('hex')}.tmp`;
  try {
    writeFileSync(unfinished, content, { mode, flag: 'wx' });
    if (process.getuid?.() === 0) {
      // Root at work in somebody's directory: the owner must still be able to read it tomorrow.
      const { uid, gid } = statSync(dirname(path));
      chownSync(unfinished, uid, gid);
    }
    commit(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Replaces the file in one step, so that a killed writer leaves the old one or the new one. */
export function writeFileAtomically(path, content, mode = 0o644) {
  writeWhole(path, content, mode, renameSync);
}

export function writeSecretFile(path, content) {
  writeFileAtomically(path, content, 0o600);
}

/** Leaves a file that exists already as it is. */
export function writeSecretFileOnce(path, content) {
  try {
    writeWhole(path, content, 0o600, linkSync);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** The text of a file, or undefined when there is none. */
export function readFileIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
