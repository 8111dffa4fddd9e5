// `npm test`: sets everything up, starts a database unless TEST_DATABASE_URL names a server, runs Jest.
// `npm run test:all` passes --exhaustive, which adds the exhaustive tests and a table of the slowest files, and runs
// up to three failed files once more.
import { setup } from './setup.mjs';
import { runDatabaseTests } from './support/database-tests.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';

const SLOWEST = 20;
const isEverything = process.argv.includes('--exhaustive');
const jestArguments = process.argv.slice(2).filter((argument) => argument !== '--exhaustive');

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  const runsFailedAgain = isEverything && jestArguments.length === 0;
  return runDatabaseTests(jestArguments, { isEverything, runsFailedAgain, progress, signal });
}

const { exitCode, summary } = await run().catch((error) => ({ exitCode: reportFailure(error) }));
if (summary && isEverything) console.log(['The slowest files:', ...summary.slowest(SLOWEST)].join('\n'));
if (summary?.passedAlone.length > 0)
  console.log(['Failed among others, passed alone:', ...summary.passedAlone].join('\n  '));
if (summary) console.log(summary.line);
const isEmptyRun = summary && !summary.hasRun && !jestArguments.includes('--passWithNoTests');
process.exit(exitCode === 0 && isEmptyRun ? 1 : exitCode);
