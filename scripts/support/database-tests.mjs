// Runs Jest with a PostgreSQL of its own, and reports the result.
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { migrate } from '../migrate.mjs';
import { readFileIfPresent } from './files.mjs';
import { runJest } from './jest.mjs';
import { repositoryRoot } from './repository.mjs';
import { openScratchServer } from './scratch-server.mjs';
import { createTemporaryDirectory } from './temporary-directory.mjs';

const MOST_AGAIN = 3;

/** The files that took longest, a line each. */
function describeSlowest(files, count) {
  return files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(repositoryRoot, name)}`);
}

/** Undefined when Jest wrote no result. */
function readResult(resultFile) {
  const text = readFileIfPresent(resultFile);
  return text === undefined ? undefined : JSON.parse(text);
}

const failedTitlesOf = ({ testResults }) =>
  testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );

/** The closing line, whether any test ran, and the slowest files. `last`: the result of the failed files once more. */
function summarise(result, last = result) {
  // A file that does not load has no tests that could fail; it counts as one.
  const failedIn = ({ numFailedTests, numRuntimeErrorTestSuites }) =>
    numFailedTests + numRuntimeErrorTestSuites;
  const failed = failedIn(last);
  const passed = result.numPassedTests + failedIn(result) - failed;
  const skipped = result.numPendingTests + result.numTodoTests;
  const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  const stillFailed = new Set(failedTitlesOf(last));
  return {
    line,
    hasRun: passed + failed > 0,
    slowest: (count) => describeSlowest(result.testResults, count),
    passedAlone: failedTitlesOf(result).filter((title) => !stillFailed.has(title)),
  };
}

const failedFilesOf = ({ testResults }) =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);

/**
 * Starts a server unless TEST_DATABASE_URL names one; `environment` adds variables for the tests. `isEverything`: the
 * exhaustive tests as well, and every property with its full number of runs. `runsFailedAgain`: a few failed files once
 * more, alone.
 */
export async function runDatabaseTests(
  jestArguments,
  { isEverything = true, runsFailedAgain = false, environment = {}, progress, signal },
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
    const result = readResult(resultFile);
    if (result === undefined) return { exitCode };
    const failedFiles = failedFilesOf(result);
    if (!runsFailedAgain || failedFiles.length === 0 || failedFiles.length > MOST_AGAIN)
      return { exitCode, summary: summarise(result) };
    // A test that other work of the machine has made fail passes alone, and is named as such.
    console.log(`Once more, alone: ${failedFiles.map((name) => relative(repositoryRoot, name)).join(', ')}`);
    rmSync(resultFile);
    const alone = [...reporting, '--runInBand', '--runTestsByPath', ...failedFiles];
    const secondExitCode = await runJest(alone, variables, signal);
    return { exitCode: secondExitCode, summary: summarise(result, readResult(resultFile)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await server?.close();
  }
}
