// The primary of two servers is lost under load, and its synchronous standby is promoted. The service moves by itself,
// and stays there when the earlier primary comes back and accepts writes.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FailoverPair } from '../../replicas/cluster.js';
import { killAndReplace, lasting } from '../../replicas/faults.js';
import type { Fault } from '../../replicas/faults.js';
import { inLabWithStandby, survive } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

const LOAD = { clients: 12, sizes: [1, 1, 4], pause: 5 };
// Milliseconds from the loss of the primary to the promotion: about what an orchestrator takes to decide.
const UNTIL_PROMOTION = 5_000;
const RECOVERY = 10_000;
const STARVED_RECOVERY = 30_000;
// Twelve on each core leave a process of the delivery process's priority a fortieth of it.
const BUSY_PROCESSES = 12 * availableParallelism();
const BUSY_PROGRAM = fileURLToPath(new URL('../busy-process.mjs', import.meta.url));

interface Loss {
  readonly name: string;
  /** Milliseconds until calls are answered again, at most. */
  readonly recoversWithin?: number;
  readonly lose: (pair: FailoverPair) => void;
  /** The earlier primary accepts writes again, next to the promoted one. */
  readonly restore: (pair: FailoverPair) => Promise<void> | void;
}

const promotionAfter = (pair: FailoverPair, { name, lose, recoversWithin = RECOVERY }: Loss): Fault => ({
  name: `the primary ${name}, its standby promoted`,
  recoversWithin,
  async run(lab, milliseconds) {
    lose(pair);
    await lab.wait(milliseconds);
    await pair.promote();
  },
});

const returnOf = (pair: FailoverPair, { restore, recoversWithin = RECOVERY }: Loss): Fault => ({
  name: 'the earlier primary back as a primary, and a replica replaced',
  recoversWithin,
  async run(lab) {
    await restore(pair);
    await killAndReplace(lab);
  },
});

const failover = (databaseName: string, loss: Loss): Scenario => ({
  name: `Failover: the primary ${loss.name}`,
  run: (context) =>
    inLabWithStandby(context, { name: databaseName }, (lab, pair) =>
      survive(
        lab,
        [lasting(promotionAfter(pair, loss), UNTIL_PROMOTION), returnOf(pair, loss)],
        LOAD,
        (text) => context.say(text),
      ),
    ),
});

const KILLED: Loss = {
  name: 'killed',
  lose: (pair) => pair.crash(),
  restore: (pair) => pair.restart(),
};

export const failoverOfKilled = failover('failover', KILLED);

/** From the loss on, the service has what the busy processes leave it, and delivers everything all the same. */
export const failoverOfStarved: Scenario = {
  name: 'Failover on a busy machine: the primary killed',
  async run(context) {
    const busy: ChildProcess[] = [];
    const lose = (pair: FailoverPair): void => {
      for (let count = 0; count < BUSY_PROCESSES; count++) busy.push(fork(BUSY_PROGRAM));
      pair.crash();
    };
    try {
      return await failover('starvation', { ...KILLED, lose, recoversWithin: STARVED_RECOVERY }).run(context);
    } finally {
      for (const child of busy) child.kill('SIGKILL');
    }
  },
};

// Connections stay open and no statement is answered, as behind a network that drops packets.
export const failoverOfSilent = failover('silence', {
  name: 'silent',
  lose: (pair) => pair.pause(),
  restore: (pair) => pair.resume(),
});
