// A role, a database and an address whose sessions have odd settings and a schema of their own: the start, the calls and
// the commands see nothing of them.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { runMigrations, runScript, scriptEnvironment, scriptPath } from '../../support/app/scripts.js';
import { administrate, createBareDatabase } from '../../support/database/database.js';
import { eventually } from '../../support/eventually.js';

const SETTINGS: Readonly<Record<string, string>> = {
  search_path: 'gw',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  client_encoding: 'LATIN1',
  bytea_output: 'escape',
  extra_float_digits: '-5',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  xmloption: 'document',
  row_security: 'off',
  exit_on_error: 'on',
  check_function_bodies: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  lock_timeout: '1',
  idle_session_timeout: '200',
  statement_timeout: '9000',
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  client_min_messages: 'debug1',
};
const EXPIRES = '2099-01-31T12:00:00.000Z';
const NAME = 'Zürich, 5 €, 名前';

let database: Awaited<ReturnType<typeof createBareDatabase>>;
let service: ChildProcess;
let origin: string;
let managementKey: string;
beforeAll(async () => {
  database = await createBareDatabase();
  await administrate(database.url, `CREATE SCHEMA gw AUTHORIZATION "${database.role}"`);
  for (const [name, value] of Object.entries(SETTINGS))
    await administrate(database.url, `ALTER ROLE "${database.role}" SET ${name} = '${value}'`);
});
afterAll(async () => {
  if (service?.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await database?.drop();
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Body {
  readonly key: string;
  readonly data: Readonly<Record<string, string>>;
}

async function call(method: string, path: string, key: string, body?: object) {
  const response = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    id: response.headers.get('x-generation-id'),
    body: (await response.json()) as Body,
  };
}

async function tablesBySchema(): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ schema: string; count: number }>(
    `SELECT table_schema AS schema, count(*)::int AS count FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') GROUP BY 1`,
  );
  await client.end();
  return Object.fromEntries(rows.map(({ schema, count }) => [schema, count]));
}

describe('a role with odd settings and no right in the schema public', () => {
  it('migrates its own schema, once', async () => {
    const first = await runMigrations(database.roleUrl);
    expect(first.lines.at(-1)).toMatch(/"msg":"applied \d+ migration/);
    expect(await runMigrations(database.roleUrl)).toEqual({
      code: 0,
      lines: [expect.stringContaining('"msg":"nothing to apply"')],
    });
    expect(Object.keys(await tablesBySchema())).toEqual(['gw']);
  });

  it('starts, and its commands run', async () => {
    const made = await runScript([scriptPath('command.mjs'), 'keys-create', '--management'], {
      DATABASE_URL: database.roleUrl,
      CONSOLE: 'off',
    });
    expect(made.code).toBe(0);
    managementKey = /^key: +(\S+)$/m.exec(made.lines.join('\n'))?.[1] ?? '';
    const port = await findFreePort();
    origin = `http://127.0.0.1:${port}`;
    service = spawn(process.execPath, [scriptPath('serve.mjs')], {
      env: scriptEnvironment({
        DATABASE_URL: database.roleUrl,
        PORT: String(port),
        LOG_LEVEL: 'warn',
        CONSOLE: 'off',
      }),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await eventually(
      () =>
        fetch(`${origin}/ready`).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200 || service.exitCode !== null,
    );
    expect(service.exitCode).toBeNull();
  });

  it('keeps the times and the texts of a key that expires, and serves its calls', async () => {
    const key = { name: NAME, expires_at: EXPIRES, limit: 1, limit_reset: 'monthly' };
    const made = await call('POST', '/keys', managementKey, key);
    expect(made).toMatchObject({ status: 201, body: { data: { name: NAME, expires_at: EXPIRES } } });
    const hash = String(made.body.data['hash']);
    expect(await call('GET', `/keys/${hash}`, managementKey)).toMatchObject({
      body: { data: made.body.data },
    });
    const input = ['5 €', "x\\y'z"];
    const embedded = await call('POST', '/embeddings', made.body.key, {
      model: 'local/hashing',
      input,
      user: NAME,
    });
    expect(embedded.status).toBe(200);
    const found = await call('GET', `/generation?id=${embedded.id}`, made.body.key);
    expect(found).toMatchObject({ status: 200, body: { data: { id: embedded.id } } });
    expect(Date.now() - Date.parse(found.body.data['created_at'] ?? '')).toBeLessThan(60_000);
    expect((await call('GET', '/activity', managementKey)).status).toBe(200);
    expect((await call('GET', '/generations', managementKey)).body.data).toHaveLength(1);
  });

  it("has every session in the service's own settings", async () => {
    const { lines } = await runScript([scriptPath('command.mjs'), 'keys-list', '--json'], {
      DATABASE_URL: database.roleUrl,
      CONSOLE: 'off',
    });
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ name: NAME, expires_at: EXPIRES, spent: expect.any(String) }),
    );
    expect(Object.keys(await tablesBySchema())).toEqual(['gw']);
  });
});
