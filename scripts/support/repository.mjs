// Paths in this repository, and imports of modules that are built or installed later.
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const repositoryRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function inRepository(...segments) {
  return join(repositoryRoot, ...segments);
}

/** A module of dist/, by its path there. It does not exist yet when the scripts are loaded, hence the late import. */
export function importBuilt(path) {
  return import(pathToFileURL(inRepository('dist', path)).href);
}

/** Whether this URL is the script on the command line. */
export function isCalledDirectly(moduleUrl) {
  const called = process.argv[1];
  return called !== undefined && moduleUrl === pathToFileURL(realpathSync(called)).href;
}
