// Processes that are killed at any moment under load.
import { replicaKilled } from '../../replicas/faults.js';
import { startLoad } from '../../replicas/load.js';
import { inLab, check } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

// Milliseconds of load before each of them, at most.
const LONGEST_WAIT = 600;
const SAY_EVERY = 10;

export const kills: Scenario = {
  name: 'SIGKILL at random moments under load',
  run: (context) =>
    inLab(context, { name: 'kills' }, async (lab) => {
      const load = startLoad(lab, { clients: 12, sizes: [1, 1, 3, 20] });
      for (let round = 1; round <= context.killRounds; round++) {
        // Both have their turn.
        lab.replicas.reverse();
        await replicaKilled.run(lab, LONGEST_WAIT);
        if (round % SAY_EVERY === 0)
          context.say(`${round} of ${context.killRounds} rounds, ${load.report.seen.length} answers seen`);
      }
      await lab.untilReady();
      await load.stop();
      return check(lab, [load.report], { remarks: [`${context.killRounds} rounds`] });
    }),
};
