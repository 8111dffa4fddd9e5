// `npm run soak`: half an hour of mixed load with a fault every minute; then checks the ledger and resource growth.
// Loopback only; ends by itself.
//
//   npm run soak -- --minutes 30 --seed 42 --report docs/reports/soak.md
import { parseArgs } from 'node:util';
import { runWithFaults } from './support/fault-run.mjs';
import { reportFailure } from './support/interruption.mjs';
import { importTypeScript } from './support/typescript.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string' },
    report: { type: 'string' },
  },
});

const soak = async (surroundings) => {
  const { runSoak } = await importTypeScript('test/faults/soak.ts');
  const { closing, ...rest } = await runSoak({ ...surroundings, minutes: Number(values.minutes) });
  return { ...rest, line: closing };
};

// The rest is for the start and the last deliveries.
const limitMinutes = Number(values.minutes) + 10;
process.exit(await runWithFaults({ ...values, limitMinutes }, soak).catch(reportFailure));
