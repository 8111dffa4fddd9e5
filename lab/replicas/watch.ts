// Resources of a running process: memory, open files, connections to the database. Read from /proc; not available
// elsewhere.
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'undici';
import type { Lab } from './lab.js';
import type { Replica } from './replica.js';

export interface Sample {
  /** Seconds since the watch began. */
  readonly at: number;
  /** Bytes. */
  readonly resident: number;
  readonly files: number;
  /** The connections of all processes of the service. */
  readonly connections: number;
}

const BETWEEN_SAMPLES_MS = 5_000;

/** Resident bytes of a process. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

export async function openFiles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;
}

/** A gauge or counter of a replica, by default the first, with its labels if it has any. */
export async function readMetric(lab: Lab, name: string, replica = lab.replicas[0]): Promise<number> {
  const { body } = await request(new URL('/metrics', replica?.baseUrl), { dispatcher: lab.agent });
  const line = (await body.text()).split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}

/** Samples one replica, which must live as long as the watch, until `stop`. */
export function watch(
  lab: Lab,
  { pid }: Replica,
): { readonly samples: readonly Sample[]; stop(): Promise<void> } {
  const samples: Sample[] = [];
  const begunAt = performance.now();
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const [row] = await lab
      .sql<{ count: string }>(
        `SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'signalbox%'
           AND application_name <> 'signalbox scripts'`,
      )
      .catch(() => []);
    samples.push({
      at: Math.round((performance.now() - begunAt) / 1000),
      resident: await residentBytes(pid),
      files: await openFiles(pid),
      connections: Number(row?.count ?? Number.NaN),
    });
  };
  const running = (async () => {
    while (!stopping.signal.aborted && !lab.signal.aborted) {
      await look();
      await lab.wait(BETWEEN_SAMPLES_MS).catch(() => undefined);
    }
  })();
  return {
    samples,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
