// `npm run test:faults`: sets everything up, starts a PostgreSQL, and puts the built service through every fault.
// Loopback only; ends by itself.
//
// `--build` lets the tenants attack another checkout's dist.
//
//   npm run test:faults -- --only kill --rounds 10 --pause 5 --seed 42 --report docs/reports/faults.md
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runWithFaults } from './support/fault-run.mjs';
import { reportFailure } from './support/interruption.mjs';
import { importTypeScript } from './support/typescript.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '50' },
    pause: { type: 'string', default: '30' },
    seed: { type: 'string' },
    report: { type: 'string' },
    build: { type: 'string' },
  },
});

const breakEverything = async ({ context, seed, line }) => {
  const { runFaults } = await importTypeScript('test/faults/main.ts');
  const { passed, failed, skipped, report } = await runFaults({
    context: {
      ...context,
      killRounds: Number(values.rounds),
      pauseSeconds: Number(values.pause),
      ...(values.build === undefined ? {} : { build: resolve(values.build) }),
    },
    seed,
    only: values.only,
    line,
  });
  const skipping = skipped > 0 ? `, ${skipped} skipped` : '';
  return {
    report,
    line: `${passed} passed, ${failed} failed${skipping}`,
    isGood: failed === 0 && passed > 0,
  };
};

// About three times the usual duration on two cores.
const limitMinutes = 30;
process.exit(await runWithFaults({ ...values, limitMinutes }, breakEverything).catch(reportFailure));
