// `npm test`: sets everything up, brings a database along unless TEST_DATABASE_URL names a server, runs Jest.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from './migrate.mjs';
import { setup } from './setup.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { runJest } from './support/jest.mjs';
import { createProgress } from './support/progress.mjs';
import { openScratchServer } from './support/scratch-server.mjs';
import { createTemporaryDirectory } from './support/temporary-directory.mjs';

const jestArguments = process.argv.slice(2);

/** The closing line, and whether anything ran at all. Undefined when Jest did not get as far as counting. */
function summarise(resultFile) {
  const text = readFileIfPresent(resultFile);
  if (text === undefined) return undefined;
  const result = JSON.parse(text);
  const passed = result.numPassedTests;
  // A file that does not even load has no tests that could fail; it counts as one.
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const skipped = result.numPendingTests + result.numTodoTests;
  const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return { line, hasRun: passed + failed > 0 };
}

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  const directory = createTemporaryDirectory();
  const resultFile = join(directory, 'result.json');
  let server;
  try {
    server = await openScratchServer({ progress, signal });
    const template = await server.createDatabase('template');
    await migrate({ databaseUrl: template.url, log: () => undefined, signal });
    const environment = {
      SIGNALBOX_TEST_SERVER_URL: server.adminUrl,
      SIGNALBOX_TEST_TEMPLATE: template.name,
      SIGNALBOX_TEST_PREFIX: `${server.nameDatabase('test')}_`,
    };
    const reporting = ['--json', `--outputFile=${resultFile}`];
    const exitCode = await runJest([...reporting, ...jestArguments], environment, signal);
    return { exitCode, summary: summarise(resultFile) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await server?.close();
  }
}

const { exitCode, summary } = await run().catch((error) => ({ exitCode: reportFailure(error) }));
if (summary) console.log(summary.line);
const isEmptyRun = summary && !summary.hasRun && !jestArguments.includes('--passWithNoTests');
process.exit(exitCode === 0 && isEmptyRun ? 1 : exitCode);
