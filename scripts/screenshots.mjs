// `npm run screenshots`: pictures of the console for the documents, taken from the running product.
import { setup } from './setup.mjs';
import { runDatabaseTests } from './support/database-tests.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  return runDatabaseTests(['--testMatch=<rootDir>/test/screenshots/*.screenshots-spec.ts'], {
    progress,
    signal,
  });
}

const { exitCode, summary } = await run().catch((error) => ({ exitCode: reportFailure(error) }));
if (summary) console.log(summary.line);
process.exit(exitCode);
