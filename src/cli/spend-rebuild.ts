// `npm run spend:rebuild`: rebuilds the spend counters from the generation log.
import { parseArgs } from 'node:util';
import { readDatabase } from '../config/app-config.js';
import { EnvironmentReader } from '../config/environment-reader.js';
import { Database } from '../persistence/database/database.js';
import { SWEEP_LOST_LEASES } from '../persistence/spend/spend-statements.js';
import { rebuildSpend } from '../upkeep/spend-rebuild.js';

const HELP = `Corrects the spend counters of keys, workspaces and accounts that are not the sums of the generation log.
Partitions that the retention has dropped count with the spend that was kept of them.

Usage: npm run spend:rebuild [-- --force] [--release-lost]

Run it after the log was restored or repaired by hand; otherwise the counters equal the log at every commit. The
service may serve at the same time, and deliveries continue. The log is read once, a few seconds for each million calls.
Then wrong counters are locked, a hundred at a time, for a moment.

When the log holds less than a counter has counted (partitions dropped by hand, removed rows), the command changes nothing and
exits with 1. --force sets the counters to the rest of the log: lifetime limits and credits restart from there.

--release-lost first releases the money that processes without a connection to the database have reserved. Use it when they
are dead and none was started in their place; calls of a process that lives would spend it a second time.
`;

// Milliseconds between progress lines.
const SIGN_OF_LIFE = 2_000;

/** Throws an Error with one line for the terminal. */
export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      force: { type: 'boolean', default: false },
      'release-lost': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const database = new Database(readDatabase(new EnvironmentReader(process.env)));
  const begunAt = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    process.stdout.write(`Summing the log up … ${seconds} s\n`);
  }, SIGN_OF_LIFE);
  try {
    if (values['release-lost']) await database.query({ text: SWEEP_LOST_LEASES });
    const { key, guardrail, workspace, account } = await rebuildSpend(database, { force: values.force });
    process.stdout.write(
      `The spend counters are the sums of the log. Corrected: ${key} of keys, ${guardrail} of guardrails, ${workspace} of workspaces, ${account} of accounts.\n`,
    );
  } finally {
    clearInterval(timer);
    await database.onApplicationShutdown();
  }
}
