// `npm run spend:rebuild`: makes the spend counters anew from the generation log.
import { parseArgs } from 'node:util';
import { Database } from '../persistence/database.js';
import { rebuildSpend } from '../persistence/spend-rebuild.js';
import { readEnvironment } from '../main.js';

const HELP = `Sums the generation log up into the spend counters of all keys, workspaces and accounts.

Usage: npm run spend:rebuild

The counters are sums of the log at every commit: this is for a log that was restored or mended by hand. Calls that
are settled while it runs wait for it.
`;

/** Throws an Error with one line for the person at the terminal. */
export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const database = new Database(readEnvironment(process.env));
  try {
    await rebuildSpend(database);
  } finally {
    await database.onApplicationShutdown();
  }
  process.stdout.write('The spend counters are the sums of the log.\n');
}
