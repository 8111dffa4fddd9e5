// Installs the other gateway of the lab exactly by its lock file, where `npm ci` removes it.
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '../../../scripts/support/fingerprint.mjs';
import { readFileIfPresent, writeFileAtomically } from '../../../scripts/support/files.mjs';
import { runNpm } from '../../../scripts/support/npm.mjs';
import { inRepository } from '../../../scripts/support/repository.mjs';

const MANIFESTS = ['package.json', 'package-lock.json'];
const TIMEOUT_MS = 90_000;

const source = (name) => inRepository('lab', 'conformance', 'portkey', name);
const directory = inRepository('node_modules', '.cache', 'signalbox-conformance', 'portkey');

async function install({ signal }) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const name of MANIFESTS) copyFileSync(source(name), join(directory, name));
  await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'], {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    directory,
  });
}

/** The program to start, or null without the registry: this service is then tested alone. */
export async function installPortkey({ progress, signal }) {
  const stampFile = join(directory, '.installed');
  const stamp = fingerprint(inRepository('lab', 'conformance'), MANIFESTS.map(source));
  if (readFileIfPresent(stampFile) !== stamp) {
    try {
      await progress.step('Installing Portkey', () => install({ signal }));
      writeFileAtomically(stampFile, stamp);
    } catch (error) {
      signal.throwIfAborted();
      const [reason] = /^npm (error|ERR!) .*$/m.exec(error.message) ?? [error.message];
      progress.line(`Portkey cannot be installed (${reason}): only signalbox is checked.`);
      return null;
    }
  }
  const packageDirectory = join(directory, 'node_modules', '@portkey-ai', 'gateway');
  const { version, bin } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'));
  const [program] = typeof bin === 'string' ? [bin] : Object.values(bin);
  return { program: join(packageDirectory, program), version };
}
