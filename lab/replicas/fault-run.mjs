// Shared parts of faults, soak and tenants: a PostgreSQL that can fail, a directory, a seed, a page, a closing line.
import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../scripts/support/run-command.mjs';
import { createTemporaryDirectory, databaseName } from '../../scripts/support/temporary-directory.mjs';
import { writePage } from '../support/report.ts';
import { openFailoverPair } from './failover-pair.mjs';
import { openFaultCluster } from './fault-cluster.mjs';

/**
 * Ends after `limitMinutes`, even if `work` hangs. `work` resolves with the closing line, the page of `report` and the
 * outcome; this function resolves with the exit code.
 */
export async function runWithFaults(options, work) {
  const { progress, limitMinutes, report } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limitMinutes * 60_000)]);
  // Every call and every pause adds a listener.
  setMaxListeners(0, signal);
  const line = (text) => progress.line(text);
  const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
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
      run: (program, parameters, { directory: cwd, environment } = {}) =>
        runCommand(program, parameters, {
          signal,
          ...(cwd === undefined ? {} : { options: { cwd } }),
          environment: { ...process.env, ...environment },
        }),
    };
    const { closing, page, isGood } = await work({ context, seed, line });
    if (report !== undefined) await writePage(report, page);
    line(closing);
    return isGood ? 0 : 1;
  } finally {
    await cluster?.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
