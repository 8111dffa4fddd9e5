// Puts replicas of the built service through every fault. Loopback only.
//
//   npm run lab -- faults --only kill --rounds 10 --pause 5 --seed 42 --report lab/reports/faults.md
//
// `--build` lets the tenants attack another checkout's dist.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runWithFaults } from '../replicas/fault-run.mjs';
import { runFaults } from './main.ts';

const OPTIONS = {
  only: { type: 'string', default: '' },
  rounds: { type: 'string', default: '50' },
  pause: { type: 'string', default: '30' },
  seed: { type: 'string' },
  report: { type: 'string' },
  build: { type: 'string' },
};
// About three times the usual duration on two cores.
const LIMIT_MINUTES = 30;

export function run(args, surroundings) {
  const { only, rounds, pause, build, ...options } = parseArgs({ args, options: OPTIONS }).values;
  return runWithFaults(
    { ...options, ...surroundings, limitMinutes: LIMIT_MINUTES },
    ({ context, ...given }) =>
      runFaults({
        ...given,
        context: {
          ...context,
          killRounds: Number(rounds),
          pauseSeconds: Number(pause),
          ...(build === undefined ? {} : { build: resolve(build) }),
        },
        only,
      }),
  );
}
