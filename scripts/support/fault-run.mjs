// What the commands that break things have in common: setup, a server, a folder, a seed, a report, a closing line.
import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setup } from '../setup.mjs';
import { openFaultCluster } from './fault-cluster.mjs';
import { writeFileAtomically } from './files.mjs';
import { catchInterruptions } from './interruption.mjs';
import { createProgress } from './progress.mjs';
import { runCommand } from './run-command.mjs';
import { createTemporaryDirectory, databaseName } from './temporary-directory.mjs';

/** It ends after `limitMinutes`, whatever hangs. `work` resolves with the closing line, the report, and whether all is well; this with the code to end with. */
export async function runWithFaults({ seed: givenSeed, report: reportFile, limitMinutes }, work) {
  const interrupted = catchInterruptions().signal;
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(limitMinutes * 60_000)]);
  // Every call and every pause listens.
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
