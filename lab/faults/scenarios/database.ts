// PostgreSQL killed, stopped, paused, full, locked, and without a place for one connection more.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  connectionsExhausted,
  databaseKilled,
  databasePaused,
  databaseStopped,
  lasting,
  tablesLocked,
} from '../../replicas/faults.js';
import type { Fault } from '../../replicas/faults.js';
import type { Lab } from '../../replicas/lab.js';
import { inLab, Skipped, survive } from '../../replicas/scenario.js';
import type { Scenario, ScenarioContext } from '../../replicas/scenario.js';

const LOAD = { clients: 12, sizes: [1, 1, 4], pause: 5 };

function surviving(
  name: string,
  databaseName: string,
  faults: (context: ScenarioContext) => Fault[],
): Scenario {
  return {
    name,
    run: (context) =>
      inLab(context, { name: databaseName }, (lab) =>
        survive(lab, faults(context), LOAD, (text) => context.say(text)),
      ),
  };
}

export const databaseAway = surviving('PostgreSQL killed, and stopped at once', 'away', () =>
  [databaseKilled, databaseStopped, databaseKilled].map((fault) => lasting(fault, 1_500)),
);

export const databaseStands = surviving('PostgreSQL paused', 'paused', ({ pauseSeconds }) => [
  lasting(databasePaused, pauseSeconds * 1_000),
]);

export const noConnections = surviving('Connection limit reached', 'connections', () => [
  lasting(connectionsExhausted, 5_000),
]);

// The second is longer than a statement is waited for: what was given up may be committed when the lock is gone.
export const slowStatements = surviving('Statements that wait for a lock', 'locks', () => [
  lasting(tablesLocked, 3_000),
  lasting(tablesLocked, 17_000),
]);

const DISK_BYTES = 320 * 1024 * 1024;
const FILLER_BYTES = 1024 * 1024;
const FULL_FOR_MS = 6_000;

/** Writes until nothing more fits. */
async function fill(file: string): Promise<void> {
  const bytes = Buffer.alloc(FILLER_BYTES, 1);
  for (let size = bytes.length; size >= 1024; size >>= 1) {
    try {
      for (;;) await writeFile(file, bytes.subarray(0, size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

async function isAnswering(lab: Lab): Promise<boolean> {
  return lab.sql('SELECT 1').then(
    () => true,
    () => false,
  );
}

const diskFull = (volume: string): Fault => ({
  name: 'disk full',
  async run(lab, milliseconds) {
    const filler = join(volume, 'filler');
    await fill(filler);
    await lab.wait(milliseconds);
    await rm(filler);
    await lab.wait(1_000);
    if (!(await isAnswering(lab))) await lab.cluster.restart();
  },
});

export const diskRunsFull: Scenario = {
  name: 'Disk full on the volume of the database',
  async run(context) {
    const volume = join(context.directory, 'volume');
    await mkdir(volume);
    try {
      await context.run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', volume]);
    } catch (error) {
      throw new Skipped(`a small volume cannot be mounted here: ${(error as Error).message.split('\n')[0]}`);
    }
    try {
      const cluster = await context.openCluster(join(volume, 'postgres'), {
        min_wal_size: '32MB',
        max_wal_size: '48MB',
      });
      try {
        return await inLab({ ...context, cluster }, { name: 'disk' }, (lab) =>
          survive(lab, [lasting(diskFull(volume), FULL_FOR_MS)], LOAD, (text) => context.say(text)),
        );
      } finally {
        await cluster.close();
      }
    } finally {
      await context.run('umount', ['--lazy', volume]);
    }
  },
};
