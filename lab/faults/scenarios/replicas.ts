// Two replicas of which one is killed and replaced: its claims are taken over at once, and its leases when they expire.
import { callOnce, startLoad } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import { createLimitedKey, spentOf } from '../money.js';
import { inLab, check } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

// USD: some hundred calls of the load below.
const LIMIT = 0.00004;
const TIMEOUT_MS = 45_000;
const DELIVERY_TIMEOUT_MS = 5_000;

export const oneOfTwoKilled: Scenario = {
  name: 'One of two replicas killed, its leases and claims taken over',
  run: (context) =>
    inLab(context, { name: 'replicas' }, async (lab) => {
      const problems: string[] = [];
      const key = await createLimitedKey(lab, LIMIT);
      const [survivor, victim] = lab.replicas;
      if (!survivor || !victim) throw new Error('two replicas are needed');
      // Both have a lease when about half is spent.
      const load = startLoad(lab, { key, clients: 4, pause: 20 });
      while ((await spentOf(lab)) < LIMIT / 2) await lab.wait(20);
      const killed = victim.kill();
      await load.stop();
      await killed;
      const killedAt = performance.now();
      lab.replicas.splice(1, 1, await lab.startReplica(undefined, victim.name));
      const replacedAt = performance.now();
      const rest = createReport();
      // Until the survivor says that nothing is left; what the dead one had reserved its successor returns.
      while (!rest.rejections.has(402) && performance.now() - replacedAt < TIMEOUT_MS)
        await callOnce(lab, survivor, { key }, rest);
      const spent = await spentOf(lab);
      const callCost = rest.seen.at(-1)?.cost ?? load.report.seen.at(-1)?.cost ?? 0;
      if (spent > LIMIT) problems.push(`${spent} USD were spent of a limit of ${LIMIT} USD`);
      if (spent + callCost * 3 < LIMIT)
        problems.push(`only ${spent} USD of ${LIMIT} USD could be spent after the kill`);
      const secondsSince = (moment: number) => Math.round((performance.now() - moment) / 1000);
      const [sinceKill, sinceStart] = [secondsSince(killedAt), secondsSince(replacedAt)];

      const delivering = performance.now();
      const logged = await lab.sql<{ id: string }>('SELECT id FROM generations');
      while (
        lab.receiver.stored.length < logged.length &&
        performance.now() - delivering < DELIVERY_TIMEOUT_MS
      )
        await lab.wait(20);
      if (lab.receiver.stored.length < logged.length)
        problems.push(`not all was delivered after ${DELIVERY_TIMEOUT_MS} ms`);
      return check(lab, [load.report, rest], {
        problems,
        remarks: [
          `limit ${LIMIT} USD, spent ${spent} USD; the last of it ${sinceKill} s after the kill, ${sinceStart} s after the successor was ready`,
        ],
      });
    }),
};
