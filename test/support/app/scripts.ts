// The scripts of the repository as an operator runs them: processes of their own, with nothing in the environment but what
// the test sets.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
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
  MODEL_DISCOVERY: 'off',
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

export const runMigrations = (databaseUrl: string): Promise<ScriptResult> =>
  runScript([scriptPath('migrate.mjs')], { DATABASE_URL: databaseUrl });

export interface Starts {
  /** The lines of a start up to the migrations, without theirs. */
  start(databaseUrl: string, variables?: Readonly<Record<string, string>>): Promise<string[]>;
  close(): Promise<void>;
}

/** The beginning of a start, in one process for many addresses. Names are not waited for. */
export function openStarts(): Starts {
  const program = `
    import { createInterface } from 'node:readline';
    const { prepareDatabase, waitForDatabase } = await import(${JSON.stringify(new URL('../../../scripts/migrate.mjs', import.meta.url).href)});
    for await (const line of createInterface({ input: process.stdin })) {
      const environment = JSON.parse(line);
      const lines = [];
      const log = (text) => /appl(?:ying|ied) the migration/.test(text) || lines.push(text);
      try {
        await waitForDatabase({ databaseUrl: environment.DATABASE_URL, log, nameTimeout: 0 });
        log('applied ' + (await prepareDatabase({ environment, log })).length);
      } catch (error) {
        log(error.message);
      }
      console.log(JSON.stringify(lines));
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: scriptEnvironment({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout });
  return {
    /** The lines of a start up to the migrations, without theirs. */
    start: async (
      databaseUrl: string,
      variables: Readonly<Record<string, string>> = {},
    ): Promise<string[]> => {
      child.stdin.write(`${JSON.stringify({ DATABASE_URL: databaseUrl, ...variables })}\n`);
      const [line] = (await once(answers, 'line')) as [string];
      return JSON.parse(line) as string[];
    },
    close: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
