// The code blocks of README.md and the commands of README.md and docs/operating.md, run as a reader would.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { createEmptyDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';
import { createDestination } from '../../support/deliveries/deliveries.js';

const run = promisify(execFile);
const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const read = (path: string): string => readFileSync(inRepository(path), 'utf8');
const blocks = [...read('README.md').matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].map(
  ([, language = '', code = '']) => ({
    language,
    code,
  }),
);
const codeOf = (language: string, part: string): string => {
  const found = blocks.filter((block) => block.language === language && block.code.includes(part));
  expect([part, found.length]).toEqual([part, 1]);
  return found[0]?.code ?? '';
};

let app: TestApp;
let directory: string;
beforeAll(async () => {
  app = await createTestApp();
  directory = mkdtempSync(join(tmpdir(), 'signalbox-readme-'));
  symlinkSync(inRepository('node_modules'), join(directory, 'node_modules'));
  mkdirSync(join(directory, '.data'));
  writeFileSync(
    join(directory, '.data', 'quickstart.env'),
    `BASE_URL=${app.baseUrl}\nMANAGEMENT_KEY=${app.managementKey}\nAPI_KEY=${app.apiKey}\n`,
  );
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

const shell = async (part: string): Promise<Record<string, unknown>> => {
  const { stdout } = await run('bash', ['-ec', codeOf('bash', part)], { cwd: directory });
  return JSON.parse(stdout) as Record<string, unknown>;
};
const program = async (part: string): Promise<string> => {
  writeFileSync(join(directory, 'example.mjs'), codeOf('js', part));
  const options = ['--env-file=.data/quickstart.env', 'example.mjs'];
  return (await run(process.execPath, options, { cwd: directory })).stdout;
};

describe('README.md', () => {
  it('has no other blocks to run than those below', () => {
    expect(blocks.filter(({ language }) => language !== 'mermaid').map(({ language }) => language)).toEqual([
      '',
      'bash',
      'bash',
      '',
      'bash',
      'js',
      'js',
      '',
    ]);
  });

  it('embeds with curl', async () => {
    const { data } = await shell('/embeddings');
    expect(data).toHaveLength(2);
    expect(data).toMatchObject([{ object: 'embedding', index: 0 }, { index: 1 }]);
  });

  it('streams a chat', async () => {
    const code = codeOf('bash', '/chat/completions');
    const { stdout } = await run('bash', ['-ec', code], { cwd: directory });
    const events = stdout.split('\n').filter((line) => line.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    const texts = events.slice(0, -1).map((event) => {
      const chunk = JSON.parse(event.slice('data: '.length)) as {
        choices: { delta: { content?: string } }[];
      };
      return chunk.choices[0]?.delta.content ?? '';
    });
    expect(texts.join('')).toContain('Hello there');
  });

  it('makes a key with a limit', async () => {
    expect(await shell('/keys')).toMatchObject({
      data: { limit: 5, limit_reset: 'monthly' },
      key: expect.stringMatching(/^sk-/),
    });
  });

  it('embeds with the openai client', async () => {
    expect(await program("from 'openai'")).toMatch(/^2 \{/);
  });

  it('creates a destination with the SDK', async () => {
    expect(await program("from '@openrouter/sdk'")).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  it('starts with the commands of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = blocks.filter(({ language }) => language === '').map(({ code }) => code.trim());
    expect(commands).toEqual(['npm start', 'OPENAI_API_KEY=sk-... npm start', 'npm test']);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
  });
});

// The sections say in which environment a command runs: with the database's address, or with the service's variables.
type Environment = 'nothing' | 'database' | 'service' | 'client';

/** Commands by their text, with their environment and a part of their output. */
const COMMANDS: Readonly<Record<string, readonly [Environment, RegExp]>> = {
  'DATABASE_URL=postgresql://user:password@host:5432/signalbox npm run keys:create -- --management': [
    'nothing',
    /^key: {2}sk-/m,
  ],
  'npm run keys:create -- --management': ['database', /^key: {2}sk-/m],
  'npm run keys:create -- ARGUMENTS': ['database', /^key: {2}sk-/m],
  'node scripts/command.mjs keys-create ARGUMENTS': ['database', /^key: {2}sk-/m],
  'npm run keys:list': ['database', /^LABEL/m],
  'npm run keys:list -- --management': ['database', /^LABEL/m],
  'npm run spend:rebuild': ['database', /are the sums of the log/],
  'npm run spend:rebuild -- --release-lost': ['database', /are the sums of the log/],
  'npm run db:migrate': ['database', /nothing to apply/],
  'node scripts/migrate.mjs': ['database', /nothing to apply/],
  'npm run encryption:rotate': ['service', /^Everything is encrypted/m],
  'DATABASE_URL=... ENCRYPTION_KEYS=... npm start': ['nothing', /^signalbox is ready\.$/m],
  'DATABASE_URL=postgresql://... npm start': ['nothing', /^signalbox is ready\.$/m],
  'node scripts/serve.mjs': ['service', /"context":"Providers"/],
  'curl -sS -X PATCH $BASE_URL/observability/destinations/$ID -H "Authorization: Bearer $MANAGEMENT_KEY" \\\n  -H \'Content-Type: application/json\' -d \'{"enabled":false}\'':
    ['client', /"enabled":false/],
};

/** Commands that are not run here, with the reason. */
const NOT_RUN: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^docker /, 'needs Docker'],
  [/^pg_(dump|restore) /, 'needs the client programs of PostgreSQL'],
  [/^psql -U postgres /, 'its role exists on the server of the tests'],
  [/^psql /, 'its statement is run below'],
  [/^DATABASE_URL='postgresql/, 'an address with example hosts'],
  [/^npm (run lab|run test:|test$)/, 'takes minutes; a start of other tests'],
  [/^npm install /, 'needs a registry; the packages are those of this repository'],
  [/^(OPENAI_API_KEY=sk-\.\.\. )?npm start$/, 'starts a database of its own, as every run of the tests does'],
  [/^node --env-file/, 'runs above'],
  [/^ *(for port in|systemctl |curl -fsS --retry|sleep |done)/, 'restarts units of systemd'],
];

const COMMAND = /^(?:[A-Z_]+=\S+ )*(?:npm|node|docker|psql|pg_dump|pg_restore|curl) |^DATABASE_URL=/;
const isBalanced = (text: string): boolean =>
  (text.match(/"/g) ?? []).length % 2 === 0 && !text.endsWith('\\');

/** The commands of a document: in its blocks without a language, and in its sentences. */
function commandsOf(document: string): string[] {
  const found: string[] = [];
  const sentences = document.replaceAll(
    /^ *```(\w*)\n(.*?)^ *```$/gms,
    (_all, language: string, code: string) => {
      let command = '';
      for (const line of language === '' ? code.trimEnd().split('\n') : []) {
        command += command === '' ? line : `\n${line}`;
        if (!isBalanced(command)) continue;
        found.push(command);
        command = '';
      }
      return '';
    },
  );
  for (const [, code = ''] of sentences.matchAll(/`([^`]+)`/g))
    if (COMMAND.test(code)) found.push(code.replaceAll(/\s+/g, ' '));
  return found;
}

const documented = [...new Set(['README.md', 'docs/operating.md'].flatMap((path) => commandsOf(read(path))))];
const reasonOf = (command: string): string | undefined =>
  NOT_RUN.find(([pattern]) => pattern.test(command))?.[1];

describe('a documented command', () => {
  let emptyDatabase: TestDatabase;
  let environments: Readonly<Record<Environment, Readonly<Record<string, string>>>>;
  beforeAll(async () => {
    emptyDatabase = await createEmptyDatabase();
    const { id } = await createDestination(app, { url: 'http://127.0.0.1:1/' });
    environments = {
      nothing: {},
      database: { DATABASE_URL: app.databaseUrl },
      service: { DATABASE_URL: app.databaseUrl, ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY },
      client: { BASE_URL: app.baseUrl, MANAGEMENT_KEY: app.managementKey, ID: id },
    };
  });
  afterAll(() => emptyDatabase.drop());
  /** With real values instead of those that stand for the reader's. */
  const filled = (command: string): string =>
    command
      // A first start without keys makes one, which cannot decrypt what another has encrypted.
      .replace(/DATABASE_URL=\S+(?= npm start)/, `DATABASE_URL=${emptyDatabase.url}`)
      .replace(/DATABASE_URL=(?:\.\.\.|postgresql:\/\/(?:\.\.\.|user)\S*)/, `DATABASE_URL=${app.databaseUrl}`)
      .replace('ENCRYPTION_KEYS=...', `ENCRYPTION_KEYS=${TEST_ENCRYPTION_KEY}`)
      .replace('ARGUMENTS', '--management');

  it('is run here, or not for a reason', () => {
    const known = (command: string): boolean => command in COMMANDS || reasonOf(command) !== undefined;
    expect(documented.filter((command) => !known(command))).toEqual([]);
    expect(Object.keys(COMMANDS).filter((command) => !documented.includes(command))).toEqual([]);
    expect(NOT_RUN.filter(([pattern]) => !documented.some((command) => pattern.test(command)))).toEqual([]);
  });

  it.each(Object.keys(COMMANDS))('works: %s', async (command) => {
    const [environment, output] = COMMANDS[command] ?? ['nothing', /^$/];
    const child = spawn('bash', ['-ec', filled(command)], {
      cwd: inRepository('.'),
      // A group of its own: npm passes signals on late.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        DATA_DIR: join(directory, 'data'),
        ...environments[environment],
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    const isService = /npm start|serve\.mjs/.test(command);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (isService && output.test(stdout)) process.kill(-(child.pid ?? 0), 'SIGTERM');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(output), stderr: expect.any(String) });
    if (!isService) expect(code).toBe(0);
  });

  it.each(
    documented.flatMap((command) => {
      const [, statement] = /^psql "\$DATABASE_URL" -q?c (?:"([^"]+)"|\w+)$/.exec(command) ?? [];
      return statement === undefined ? [] : [statement];
    }),
  )('has a statement that works: %s', async (statement) => {
    await expect(app.sql(statement)).resolves.toEqual(expect.any(Array));
  });
});
