// Installs the other gateway of the lab exactly by its lock file.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '../../../scripts/support/fingerprint.mjs';
import { inRepository } from '../../../scripts/support/repository.mjs';
import { folderOf, installOnce } from '../../support/install.mjs';

const NAME = 'portkey';
const SOURCE = inRepository('lab', 'conformance', 'portkey');
const MANIFESTS = ['package.json', 'package-lock.json'];
const TIMEOUT_MS = 90_000;

/** The program to start, or null without the registry: this service is then tested alone. */
export async function installPortkey({ progress, signal }) {
  const installation = {
    name: NAME,
    title: 'Installing Portkey',
    stamp: fingerprint(
      SOURCE,
      MANIFESTS.map((manifest) => join(SOURCE, manifest)),
    ),
    prepare: (directory) => {
      for (const manifest of MANIFESTS) copyFileSync(join(SOURCE, manifest), join(directory, manifest));
    },
    npmArguments: ['ci'],
    timeout: TIMEOUT_MS,
  };
  try {
    await installOnce(installation, { progress, signal });
  } catch (error) {
    signal.throwIfAborted();
    progress.line(`Portkey cannot be installed (${error.message}): only signalbox is checked.`);
    return null;
  }
  const packageDirectory = join(folderOf(NAME), 'node_modules', '@portkey-ai', 'gateway');
  const { version, bin } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'));
  const [program] = typeof bin === 'string' ? [bin] : Object.values(bin);
  return { program: join(packageDirectory, program), version };
}
