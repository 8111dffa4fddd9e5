// One tenant attacks the others and the operator of the built service in every known way. Loopback only.
//
//   npm run lab -- tenants --only regex,clock-ahead --build ../older-checkout
//   npm run lab -- tenants --against ../older-checkout --report lab/reports/tenants.md
//
// `--only` takes parts of names. `--build` attacks another checkout's dist. `--against` attacks one as well, in turn: its
// figures are the "before" column.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runWithFaults } from '../replicas/fault-run.mjs';
import { runTenants } from './main.ts';

const OPTIONS = {
  only: { type: 'string', default: '' },
  build: { type: 'string' },
  against: { type: 'string' },
  seed: { type: 'string' },
  report: { type: 'string' },
};
// About three times the usual duration on two cores, with both builds.
const LIMIT_MINUTES = 60;

export function run(args, surroundings) {
  const { only, build, against, ...options } = parseArgs({ args, options: OPTIONS }).values;
  return runWithFaults({ ...options, ...surroundings, limitMinutes: LIMIT_MINUTES }, (given) =>
    runTenants({
      ...given,
      only,
      ...(build === undefined ? {} : { build: resolve(build) }),
      ...(against === undefined ? {} : { against: resolve(against) }),
    }),
  );
}
