// `npm ci` without a registry: npm itself says which packages it would install, and they are taken from those that are
// installed already.
import { cpSync, linkSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { runShell } from './shell.js';

/** Installs into `directory` what `command` would, from the packages of `repository`. */
export async function layPackages(command: string, directory: string, repository: string): Promise<void> {
  const printed = await runShell(`${command} --dry-run --json`, directory);
  // Above it npm names each package.
  const { add } = JSON.parse(printed.slice(printed.indexOf('\n{'))) as {
    readonly add: readonly { readonly path: string }[];
  };
  const folders = new Set<string>();
  for (const { path } of add) {
    layFolder(join(repository, relative(directory, path)), path);
    folders.add(path.slice(0, path.lastIndexOf('node_modules/') + 'node_modules'.length));
  }
  for (const folder of folders) {
    const programs = join(folder, '.bin');
    layFolder(join(repository, relative(directory, programs)), programs);
  }
}

/** A package without those within it, which npm names as well. */
function layFolder(from: string, to: string): void {
  const status = lstatSync(from, { throwIfNoEntry: false });
  // A folder of packages without programs.
  if (!status) return;
  mkdirSync(dirname(to), { recursive: true });
  if (status.isSymbolicLink()) return cpSync(from, to, { verbatimSymlinks: true });
  if (status.isFile()) return layFile(from, to);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from))
    if (name !== 'node_modules') layFolder(join(from, name), join(to, name));
}

/** The build deletes files of packages and changes none, so that a second name is enough for them. */
function layFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system.
    cpSync(from, to);
  }
}
