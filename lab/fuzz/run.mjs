// The tests of test/fuzz with many invalid requests and invalid answers of providers, on loopback only. `--count` requests
// (and as many answers), `--seed` to repeat a run; other arguments go to Jest.
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runDatabaseTests } from '../../scripts/support/database-tests.mjs';
import { ScriptError } from '../../scripts/support/run-command.mjs';
import { createTemporaryDirectory } from '../../scripts/support/temporary-directory.mjs';

const DEFAULT_COUNT = 20_000;
const LARGEST_SEED = 2 ** 31 - 1;

/** Takes an option and its number out of the arguments. */
function takeNumber(given, name, whenAbsent) {
  const at = given.indexOf(name);
  if (at === -1) return whenAbsent;
  const [, text = ''] = given.splice(at, 2);
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > LARGEST_SEED)
    throw new ScriptError(`${name} needs a whole number from 1 to ${LARGEST_SEED}`);
  return value;
}

/** The counts of the test files, a line each. */
function readReports(directory) {
  return readdirSync(directory)
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))
    .map(({ name, counts }) => {
      const parts = Object.entries(counts).map(([what, count]) => `${what} ${count}`);
      return `  ${name}: ${parts.join(', ')}`;
    });
}

export async function run(args, { progress, signal }) {
  const jestArguments = [...args];
  const count = takeNumber(jestArguments, '--count', DEFAULT_COUNT);
  const seed = takeNumber(jestArguments, '--seed', randomInt(1, LARGEST_SEED));
  progress.line(
    `${count} requests, seed ${seed}; the same again: npm run lab -- fuzz --count ${count} --seed ${seed}`,
  );
  const reportDirectory = createTemporaryDirectory();
  try {
    const environment = {
      SIGNALBOX_FUZZ_COUNT: String(count),
      SIGNALBOX_FUZZ_SEED: String(seed),
      SIGNALBOX_FUZZ_REPORT: reportDirectory,
    };
    const { exitCode, summary } = await runDatabaseTests(
      ['--testMatch=<rootDir>/test/fuzz/*.fuzz-spec.ts', ...jestArguments],
      { environment, progress, signal },
    );
    progress.line(['Tried:', ...readReports(reportDirectory)].join('\n'));
    if (summary) progress.line(summary.line);
    return exitCode;
  } finally {
    rmSync(reportDirectory, { recursive: true, force: true });
  }
}
