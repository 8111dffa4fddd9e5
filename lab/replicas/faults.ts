// The faults: each begins, lasts for its time and is healed, while the load continues.
import type { Lab } from './lab.js';
import type { Corruption } from '../../test/support/upstreams/tcp-proxy.js';

export interface Fault {
  readonly name: string;
  readonly run: (lab: Lab, milliseconds: number) => Promise<void>;
  /** Milliseconds from its end to the next answer, at most. */
  readonly recoversWithin?: number;
}

/** The same fault, for so long. */
export const lasting = ({ run, name, ...others }: Fault, milliseconds: number): Fault => ({
  ...others,
  name: `${name}, ${milliseconds / 1000} s`,
  run: (lab) => run(lab, milliseconds),
});

const CORRUPTIONS: readonly (readonly [name: string, corruption: Corruption])[] = [
  ['answers come late', { kind: 'delay', milliseconds: 250 }],
  ['connections are reset', { kind: 'reset' }],
  ['connections are half closed', { kind: 'half-close' }],
  ['answers are cut off', { kind: 'truncate' }],
  ['headers come byte by byte', { kind: 'trickle', bytes: 150 }],
  ['answers never come', { kind: 'silence' }],
];

async function corruptFor(
  lab: Lab,
  side: 'upstreamProxy' | 'receiverProxy',
  corruption: Corruption,
  milliseconds: number,
): Promise<void> {
  lab[side].corrupt(corruption);
  try {
    await lab.wait(milliseconds);
  } finally {
    lab[side].corrupt(null);
  }
}

export const UPSTREAM_FAULTS: readonly Fault[] = CORRUPTIONS.map(([name, corruption]) => ({
  name: `upstream: ${name}`,
  run: (lab, milliseconds) => corruptFor(lab, 'upstreamProxy', corruption, milliseconds),
}));

export const DESTINATION_FAULTS: readonly Fault[] = CORRUPTIONS.map(([name, corruption]) => ({
  name: `destination: ${name}`,
  run: (lab, milliseconds) => corruptFor(lab, 'receiverProxy', corruption, milliseconds),
}));

/** SIGKILL in the middle of the load; the one that is killed is the last. */
export const replicaKilled: Fault = {
  name: 'a replica killed and replaced',
  async run(lab, milliseconds) {
    await lab.wait(lab.random() * milliseconds);
    await killAndReplace(lab);
  },
};

export async function killAndReplace(lab: Lab): Promise<void> {
  const index = lab.replicas.length - 1;
  const killed = lab.replicas[index];
  await killed?.kill();
  lab.replicas[index] = await lab.startReplica(undefined, killed?.name);
}

export const databaseKilled: Fault = {
  name: 'PostgreSQL killed (SIGKILL) and restarted',
  async run(lab, milliseconds) {
    lab.cluster.kill();
    await lab.wait(milliseconds);
    await lab.cluster.restart();
  },
};

export const databaseStopped: Fault = {
  name: 'PostgreSQL stopped at once and restarted',
  async run(lab, milliseconds) {
    lab.cluster.stopAtOnce();
    await lab.wait(milliseconds);
    await lab.cluster.restart();
  },
};

export const databasePaused: Fault = {
  name: 'PostgreSQL paused (SIGSTOP)',
  async run(lab, milliseconds) {
    lab.cluster.pause();
    try {
      await lab.wait(milliseconds);
    } finally {
      lab.cluster.resume();
    }
  },
};

/** Statements block: a transaction holds a lock on the tables that every call writes. */
export const tablesLocked: Fault = {
  name: 'every write waits for a lock',
  async run(lab, milliseconds) {
    await lab.sql(
      `BEGIN; LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(${milliseconds / 1000}); COMMIT`,
    );
  },
};

/** Every connection that the server has is taken, those of the service first among them. */
export const connectionsExhausted: Fault = {
  name: 'connection limit reached',
  async run(lab, milliseconds) {
    const release = await lab.cluster.exhaustConnections(lab.databaseUrl);
    try {
      await lab.wait(milliseconds);
    } finally {
      await release();
    }
  },
};

export const DATABASE_FAULTS: readonly Fault[] = [
  databaseKilled,
  databaseStopped,
  databasePaused,
  tablesLocked,
  connectionsExhausted,
];
