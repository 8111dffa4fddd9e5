// Detects changes of files by content: times change with every checkout and every rebuild.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

function listFiles(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return [];
  if (!status.isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const entryPath = join(path, entry.name);
    return entry.isDirectory() ? listFiles(entryPath) : [entryPath];
  });
}

/**
 * Covers these files and everything in these directories, by their paths from `root`; missing files count as missing.
 * `ignoredName` is the file in `root` that stores the result.
 */
export function fingerprint(root, paths, ignoredName) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(listFiles).toSorted()) {
    const name = relative(root, path);
    if (name !== ignoredName) hash.update(`${name}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}
