// Installs the packages of a program at its first use, beside the repository's own.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../scripts/support/files.mjs';
import { runNpm } from '../../scripts/support/npm.mjs';
import { inRepository } from '../../scripts/support/repository.mjs';
import { ScriptError } from '../../scripts/support/run-command.mjs';

const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];

/** Where packages of this name are installed; `npm ci` of the repository removes it. */
export const folderOf = (name) => inRepository('node_modules', '.cache', `signalbox-${name}`);

/**
 * Installs when the stamp differs from that of the last time. `prepare` writes the manifest into the empty folder.
 * Rejects with npm's reason in one line.
 */
export async function installOnce(
  { name, title, stamp, prepare, npmArguments, timeout },
  { progress, signal },
) {
  const directory = folderOf(name);
  const stampFile = join(directory, '.installed');
  if (readFileIfPresent(stampFile) === stamp) return;
  try {
    await progress.step(title, () => {
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { recursive: true });
      prepare(directory);
      return runNpm([...npmArguments, ...OPTIONS], {
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        directory,
      });
    });
  } catch (error) {
    signal.throwIfAborted();
    const [reason] = /^npm (?:error|ERR!) .*$/m.exec(error.message) ?? [error.message];
    throw new ScriptError(reason);
  }
  writeFileAtomically(stampFile, stamp);
}
