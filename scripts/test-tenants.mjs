// `npm run test:tenants`: one tenant attacks the others and the operator of the built service in every known way, and
// the figures are printed. Loopback only, with a PostgreSQL of its own; ends by itself.
//
//   npm run test:tenants -- --only regex,17 --build ../older-checkout
//   npm run test:tenants -- --against ../older-checkout --report docs/reports/tenants.md
//
// `--only` takes parts of names and numbers of items. `--build` attacks another checkout's dist. `--against` attacks
// one as well, in turn: its figures are the "before" column. The report is written from the figures in the JSON file
// beside it, which keeps items that are not measured again.
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readFileIfPresent, writeFileAtomically } from './support/files.mjs';
import { runWithFaults } from './support/fault-run.mjs';
import { reportFailure } from './support/interruption.mjs';
import { importTypeScript } from './support/typescript.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    build: { type: 'string' },
    against: { type: 'string' },
    seed: { type: 'string' },
    report: { type: 'string' },
  },
});

const attackEverything = async ({ context, seed, line }) => {
  const { runTenants } = await importTypeScript('test/faults/tenants/run.ts');
  const { mergeFigures, writeTenantReport } = await importTypeScript('test/faults/tenants/tenant-report.ts');
  const { held, broken, figures } = await runTenants({
    context,
    seed,
    only: values.only,
    line,
    ...(values.build === undefined ? {} : { build: resolve(values.build) }),
    ...(values.against === undefined ? {} : { against: resolve(values.against) }),
  });
  const closing = { line: `${held} held, ${broken} broken`, isGood: broken === 0 };
  if (values.report === undefined) return { ...closing, report: '' };
  const file = resolve(values.report.replace(/\.md$/, '.json'));
  const kept = mergeFigures(JSON.parse(readFileIfPresent(file) ?? 'null'), figures);
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomically(file, `${JSON.stringify(kept, null, 2)}\n`);
  return { ...closing, report: writeTenantReport(kept) };
};

// About three times the usual duration on two cores, with both builds.
const limitMinutes = 60;
process.exit(await runWithFaults({ ...values, limitMinutes }, attackEverything).catch(reportFailure));
