// `npm run lab -- <program> [arguments]`: measures, compares or attacks the built service (lab/README.md). Without a
// program it lists them.
import { setMaxListeners } from 'node:events';
import { setup } from '../scripts/setup.mjs';
import { catchInterruptions, reportFailure } from '../scripts/support/interruption.mjs';
import { createProgress } from '../scripts/support/progress.mjs';
import { registerTypeScript } from './support/typescript.mjs';

/** Each is a folder, whose run.mjs exports `run(arguments, { progress, signal })`: it resolves with the exit code. */
const PROGRAMS = {
  bench: 'throughput, latency, streams and memory beside a pipe, a bare Nest gateway and Portkey',
  growth: 'each operation on an empty database beside one of ten million generations',
  deliveries: 'lag, losses and repeats of deliveries while processes die',
  conformance: 'every wire of clients and providers through the service and through Portkey',
  faults: 'the ledger after killed processes, full disks, failovers and broken networks',
  soak: 'half an hour of mixed load with a fault every minute',
  tenants: 'one tenant attacks the others in every known way',
  fuzz: 'hostile requests and answers, 20,000 by default',
  receivers: 'deliveries and the history at real engines: ClickHouse, S3, OTLP (downloads 600 MB once)',
  deploy: 'every query of the dashboard at a real Prometheus',
  screenshots: 'the pictures of the console in docs/images',
};

const USAGE = `Usage: npm run lab -- <program> [arguments]

${Object.entries(PROGRAMS)
  .map(([name, purpose]) => `  ${name.padEnd(12)}  ${purpose}`)
  .join('\n')}

lab/README.md lists the arguments.
`;

async function main([name = '--help', ...given]) {
  if (!Object.hasOwn(PROGRAMS, name)) {
    process.stdout.write(USAGE);
    return name === '--help' ? 0 : 1;
  }
  const { signal } = catchInterruptions();
  // Every operation in flight adds a listener.
  setMaxListeners(0, signal);
  const progress = createProgress();
  await setup({ progress, signal });
  registerTypeScript();
  const { run } = await import(`./${name}/run.mjs`);
  return run(given, { progress, signal });
}

process.exit(await main(process.argv.slice(2)).catch(reportFailure));
