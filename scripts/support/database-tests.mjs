// Runs Jest with a PostgreSQL of its own, and reports the result.
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { migrate } from '../migrate.mjs';
import { readFileIfPresent } from './files.mjs';
import { runJest } from './jest.mjs';
import { repositoryRoot } from './repository.mjs';
import { openScratchServer } from './scratch-server.mjs';
import { createTemporaryDirectory } from './temporary-directory.mjs';

/** The files that took longest, a line each. */
function describeSlowest(files, count) {
  return files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(repositoryRoot, name)}`);
}

/** The closing line, whether any test ran, and the slowest files. Undefined when Jest wrote no result. */
function summarise(resultFile) {
  const text = readFileIfPresent(resultFile);
  if (text === undefined) return undefined;
  const result = JSON.parse(text);
  const passed = result.numPassedTests;
  // A file that does not load has no tests that could fail; it counts as one.
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const skipped = result.numPendingTests + result.numTodoTests;
  const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return {
    line,
    hasRun: passed + failed > 0,
    slowest: (count) => describeSlowest(result.testResults, count),
  };
}

/**
 * Starts a server unless TEST_DATABASE_URL names one; `environment` adds variables for the tests. `isEverything`: the
 * exhaustive tests as well, and every property with its full number of runs.
 */
export async function runDatabaseTests(
  jestArguments,
  { isEverything = true, environment = {}, progress, signal },
) {
  const directory = createTemporaryDirectory();
  const resultFile = join(directory, 'result.json');
  let server;
  try {
    // Each test file makes a database and drops it, which costs a disk more than most files' tests.
    server = await openScratchServer({ inMemory: true, progress, signal });
    const template = await server.createDatabase('template');
    await migrate({ databaseUrl: template.url, log: () => undefined, signal });
    const database = {
      SIGNALBOX_TEST_SERVER_URL: server.adminUrl,
      SIGNALBOX_TEST_TEMPLATE: template.name,
      SIGNALBOX_TEST_PREFIX: `${server.nameDatabase('test')}_`,
    };
    const extent = isEverything ? { SIGNALBOX_TEST_ALL: 'yes' } : {};
    const reporting = ['--json', `--outputFile=${resultFile}`];
    const variables = { ...database, ...extent, ...environment };
    const exitCode = await runJest([...reporting, ...jestArguments], variables, signal);
    return { exitCode, summary: summarise(resultFile) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await server?.close();
  }
}
