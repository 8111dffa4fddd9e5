// Small files that must be whole or absent, and readable by their owner alone where they hold secrets.
import { randomBytes } from 'node:crypto';
import { chownSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

function writeWhole(path, content, mode, commit) {
  const unfinished = `${path}.${process.pid}-${randomBytes(3).toString('hex')}.tmp`;
  try {
    writeFileSync(unfinished, content, { mode, flag: 'wx' });
    if (process.getuid?.() === 0) {
      // When root works in a user's directory, the owner must still be able to read the file.
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

/** Leaves an existing file unchanged. */
export function writeSecretFileOnce(path, content) {
  try {
    writeWhole(path, content, 0o600, linkSync);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** The text of a file; undefined if it does not exist. */
export function readFileIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
