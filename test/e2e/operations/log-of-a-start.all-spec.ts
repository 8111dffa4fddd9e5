// The output of the container's program (scripts/serve.mjs) and of migrations: one form from the first line to the last.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { TEST_ENCRYPTION_KEY } from '../../support/app/app.js';
import { createEmptyDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';

interface Line {
  readonly level: string;
  readonly context?: string;
  readonly msg: string;
  readonly error?: { readonly message: string };
}

interface End {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const inScripts = (name: string): string =>
  fileURLToPath(new URL(`../../../scripts/${name}`, import.meta.url));

/** Runs Node with these arguments; `until`: the text of the standard output after which it gets SIGTERM. */
async function run(
  programArguments: readonly string[],
  environment: Readonly<Record<string, string>>,
  until?: string,
): Promise<End> {
  const child = spawn(process.execPath, programArguments, {
    env: { PATH: process.env['PATH'], ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (until !== undefined && stdout.includes(until)) child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Throws for a line that is no JSON object. */
function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { time, pid, ...rest } = JSON.parse(line) as Line & { time: string; pid: number };
      expect([new Date(time).toISOString(), typeof pid]).toEqual([time, 'number']);
      return rest;
    });
}

const serve = inScripts('serve.mjs');
const migrate = inScripts('migrate.mjs');

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

describe('a start', () => {
  it('refuses a wrong LOG_FORMAT by one line in the form of the log', async () => {
    const { code, stdout, stderr } = await run([serve], { DATABASE_URL: database.url, LOG_FORMAT: 'xml' });
    expect([code, stdout]).toEqual([1, '']);
    expect(linesOf(stderr)).toEqual([
      { level: 'fatal', context: 'Start', msg: 'LOG_FORMAT must be one of json, text' },
    ]);
  });

  it('names the right that its role lacks, and no migration before', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    // Roles belong to the server, which other files share.
    const role = `rightless_${new URL(database.url).pathname.slice(1)}`;
    try {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      const address = Object.assign(new URL(database.url), { username: role, password: 'secret' });
      const { code, stdout, stderr } = await run([migrate], { DATABASE_URL: address.href });
      expect([code, stdout]).toEqual([1, '']);
      expect(linesOf(stderr)).toEqual([
        {
          level: 'fatal',
          context: 'Start',
          msg: expect.stringMatching(
            new RegExp(
              `permission denied for schema public; make the role ${role} the owner of the database, or`,
            ),
          ),
        },
      ]);
    } finally {
      await client.query(`DROP ROLE ${role}`);
      await client.end();
    }
  });

  it('writes migrations, workers and the delivery process as JSON lines', async () => {
    const environment = { DATABASE_URL: database.url, WORKERS: '2', LOG_LEVEL: 'debug' };
    const { code, stdout, stderr } = await run([serve], environment, '"context":"Providers"');
    expect([code, stderr]).toEqual([0, '']);
    const lines = linesOf(stdout);
    expect(lines.filter(({ msg }) => msg.startsWith('applied the migration 20')).length).toBeGreaterThan(5);
    expect(lines.map(({ context }) => context)).toEqual(expect.arrayContaining(['Start', 'Providers']));
  });

  it('says so when there is nothing to migrate, as text where that is wanted', async () => {
    const environment = { DATABASE_URL: database.url, LOG_FORMAT: 'text' };
    const { code, stdout, stderr } = await run([migrate], environment);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\d-]{10} [\d:]{8} INFO {2}Start: nothing to apply\n$/);
  });
});

describe('the log of a script', () => {
  const program = (rest: string): string => `
    const { openLog } = await import(${JSON.stringify(new URL('../../../scripts/support/log.mjs', import.meta.url).href)});
    await openLog(process.env);
    ${rest}
  `;
  const evaluate = (rest: string): Promise<End> =>
    run(['--input-type=module', '--eval', program(rest)], { LOG_LEVEL: 'warn' });

  it('has warnings of Node', async () => {
    const { code, stdout, stderr } = await evaluate(`process.emitWarning('old', 'DeprecationWarning');`);
    expect([code, stderr]).toEqual([0, '']);
    expect(linesOf(stdout)).toMatchObject([
      { level: 'warn', msg: 'Node warns', error: { type: 'DeprecationWarning', message: 'old' } },
    ]);
  });

  it.each([
    ['an error that is not caught', `setImmediate(() => { throw new TypeError('broken'); });`],
    ['a rejection that is not handled', `void Promise.reject(new TypeError('broken'));`],
  ])('has %s as its last line', async (_what, rest) => {
    const { code, stdout, stderr } = await evaluate(`${rest} await new Promise(setImmediate);`);
    expect([code, stdout]).toEqual([1, '']);
    expect(linesOf(stderr)).toMatchObject([
      { level: 'fatal', msg: 'the process failed', error: { type: 'TypeError', message: 'broken' } },
    ]);
  });
});
