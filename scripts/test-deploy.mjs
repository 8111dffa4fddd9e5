// `npm run test:deploy`: every query of the dashboard, evaluated by a real Prometheus that has scraped the service under
// load. Needs the program `prometheus`; loopback only, ends by itself.
import { setup } from './setup.mjs';
import { runDatabaseTests } from './support/database-tests.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';
import { runCommand, ScriptError } from './support/run-command.mjs';

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  await runCommand('prometheus', ['--version'], { signal }).catch(() => {
    throw new ScriptError('The program prometheus was not found. Debian: apt install prometheus');
  });
  return runDatabaseTests(['--testMatch=<rootDir>/test/deploy/*.deploy-spec.ts', ...process.argv.slice(2)], {
    progress,
    signal,
  });
}

const { exitCode, summary } = await run().catch((error) => ({ exitCode: reportFailure(error) }));
if (summary) console.log(summary.line);
process.exit(exitCode);
