// The scripts of the repository as an operator runs them: processes of their own, with nothing in the environment but what
// the test sets.
import { execFile } from 'node:child_process';
import { TEST_ENCRYPTION_KEY } from './app.js';

export interface ScriptResult {
  readonly code: number;
  /** Both outputs, line by line. */
  readonly lines: readonly string[];
}

export const scriptPath = (name: string): string =>
  new URL(`../../../scripts/${name}`, import.meta.url).pathname;

export const scriptEnvironment = (variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
  ...variables,
});

export function runScript(
  parameters: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<ScriptResult> {
  return new Promise((resolve) => {
    const options = { env: scriptEnvironment(variables) };
    execFile(process.execPath, parameters, options, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      resolve({ code: error === null ? 0 : Number(error.code), lines });
    });
  });
}

export const runMigrations = (databaseUrl: string, variables: Readonly<Record<string, string>> = {}) =>
  runScript([scriptPath('migrate.mjs')], { DATABASE_URL: databaseUrl, ...variables });
