// Half an hour of mixed load with a fault every minute; then checks the ledger and resource growth. Loopback only.
//
//   npm run lab -- soak --minutes 30 --seed 42 --report lab/reports/soak.md
import { parseArgs } from 'node:util';
import { runWithFaults } from '../replicas/fault-run.mjs';
import { runSoak } from './main.ts';

const OPTIONS = {
  minutes: { type: 'string', default: '30' },
  seed: { type: 'string' },
  report: { type: 'string' },
};

export function run(args, surroundings) {
  const { minutes, ...options } = parseArgs({ args, options: OPTIONS }).values;
  // The rest is for the start and the last deliveries.
  const limitMinutes = Number(minutes) + 10;
  return runWithFaults({ ...options, ...surroundings, limitMinutes }, (given) =>
    runSoak({ ...given, minutes: Number(minutes) }),
  );
}
