// `npm test`: sets everything up, starts a database unless TEST_DATABASE_URL names a server, runs Jest.
import { setup } from './setup.mjs';
import { runDatabaseTests } from './support/database-tests.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';

const jestArguments = process.argv.slice(2);

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  return runDatabaseTests(jestArguments, { progress, signal });
}

const { exitCode, summary } = await run().catch((error) => ({ exitCode: reportFailure(error) }));
if (summary) console.log(summary.line);
const isEmptyRun = summary && !summary.hasRun && !jestArguments.includes('--passWithNoTests');
process.exit(exitCode === 0 && isEmptyRun ? 1 : exitCode);
