// Tells whether files are still what they were: by content where that decides, by size and time where it is enough.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repositoryRoot } from './repository.mjs';

function listFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

function digest(root, paths, describe) {
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(describe(path))
      .update('\0');
  }
  return hash.digest('hex');
}

/** By the content of these files and of everything in these directories; what is missing counts as missing. */
export function fingerprintContents(paths) {
  const files = paths.flatMap((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    if (!status) return [];
    return status.isDirectory() ? listFiles(path) : [path];
  });
  return digest(repositoryRoot, files, (path) => readFileSync(path));
}

/** Cheaper, for output that nobody edits. `ignoredName` is the file that the result is written to. */
export function fingerprintListing(directory, ignoredName) {
  if (!statSync(directory, { throwIfNoEntry: false })) return undefined;
  const files = listFiles(directory).filter((path) => path !== join(directory, ignoredName));
  return digest(directory, files, (path) => {
    const { size, mtimeMs } = statSync(path);
    return `${size} ${mtimeMs}`;
  });
}
