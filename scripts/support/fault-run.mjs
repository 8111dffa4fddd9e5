// Shared parts of the fault commands: setup, a server, a directory, a seed, a report, a closing line.
import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setup } from '../setup.mjs';
import { openFailoverPair } from './failover-pair.mjs';
import { openFaultCluster } from './fault-cluster.mjs';
import { writeFileAtomically } from './files.mjs';
import { catchInterruptions } from './interruption.mjs';
import { createProgress } from './progress.mjs';
import { runCommand } from './run-command.mjs';
import { createTemporaryDirectory, databaseName } from './temporary-directory.mjs';

/**
 * Ends after `limitMinutes`, even if `work` hangs. `work` resolves with the closing line, the report, and the
 * outcome; this function resolves with the exit code.
 */
export async function runWithFaults({ seed: givenSeed, report: reportFile, limitMinutes }, work) {
  const interrupted = catchInterruptions().signal;
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(limitMinutes * 60_000)]);
  // Every call and every pause adds a listener.
  setMaxListeners(0, signal);
  const progress = createProgress();
  const line = (text) => progress.line(text);
  await setup({ progress, signal });
  const seed = givenSeed === undefined ? randomInt(2 ** 31) : Number(givenSeed);
  line(`Seed ${seed}`);
  const directory = createTemporaryDirectory();
  let cluster;
  try {
    const openCluster = (location, settings) =>
      openFaultCluster({ directory: location, settings, log: () => undefined, signal });
    cluster = await openCluster(join(directory, databaseName));
    const context = {
      cluster,
      signal,
      directory,
      openCluster,
      openFailoverPair: (location) => openFailoverPair({ directory: location, log: () => undefined, signal }),
      say: (text) => line(`    … ${text}`),
      run: (program, parameters, options = {}) =>
        runCommand(program, parameters, {
          signal,
          ...(options.directory === undefined ? {} : { options: { cwd: options.directory } }),
          environment: { ...process.env, ...options.environment },
        }),
    };
    const { line: closing, report, isGood } = await work({ context, seed, line });
    if (reportFile !== undefined) {
      mkdirSync(dirname(resolve(reportFile)), { recursive: true });
      writeFileAtomically(resolve(reportFile), report);
    }
    line(closing);
    return isGood ? 0 : 1;
  } finally {
    await cluster?.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
