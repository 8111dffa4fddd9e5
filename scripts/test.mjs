// `npm test`: sets everything up, brings a database along unless TEST_DATABASE_URL names a server, runs Jest.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from './migrate.mjs';
import { setup } from './setup.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';
import { inRepository, repositoryRoot } from './support/repository.mjs';
import { openScratchServer } from './support/scratch-server.mjs';
import { createTemporaryDirectory } from './support/temporary-directory.mjs';

const PATIENCE_AFTER_SIGTERM_MS = 5000;
const jestArguments = process.argv.slice(2);

/** Resolves with Jest's exit code. Jest keeps the terminal, so that its own colours and questions work. */
function runJest(resultFile, environment, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        inRepository('node_modules/jest/bin/jest.js'),
        '--json',
        `--outputFile=${resultFile}`,
        ...jestArguments,
      ],
      { cwd: repositoryRoot, stdio: 'inherit', env: { ...process.env, ...environment } },
    );
    let timer;
    signal.addEventListener('abort', () => {
      child.kill('SIGTERM');
      timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_AFTER_SIGTERM_MS);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (signal.aborted) reject(signal.reason);
      else resolve(code ?? 1);
    });
  });
}

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
    const exitCode = await runJest(resultFile, environment, signal);
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
