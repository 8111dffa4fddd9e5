// The program that gives the composition's service its role, run against a real database.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createEmptyDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';

const PROGRAM = fileURLToPath(new URL('../../deploy/postgres/role.mjs', import.meta.url));
const name = `role_${randomBytes(6).toString('hex')}`;
const superuser = `${name}_superuser`;
// It has to be escaped in SQL.
const PASSWORD = "it's";

let database: TestDatabase;
let client: pg.Client;

function urlOf(user: string, databaseName: string): string {
  const url = new URL(database.url);
  [url.username, url.password, url.pathname] = [user, PASSWORD, databaseName];
  return url.href;
}

const run = () =>
  spawnSync(process.execPath, [PROGRAM], {
    env: { DATABASE_URL: urlOf(name, name), SUPERUSER_URL: urlOf(superuser, 'postgres') },
    encoding: 'utf8',
  });

const select = async (query: string): Promise<unknown> => (await client.query(query)).rows[0];

beforeAll(async () => {
  database = await createEmptyDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`CREATE ROLE ${superuser} LOGIN SUPERUSER PASSWORD ${client.escapeLiteral(PASSWORD)}`);
});

afterAll(async () => {
  await client.query(`DROP DATABASE IF EXISTS ${name}`);
  await client.query(`DROP ROLE IF EXISTS ${name}, ${superuser}`);
  await client.end();
  await database.drop();
});

it('creates a role that owns its database and is no superuser, and takes the password of the superuser', async () => {
  const { status, stdout, stderr } = run();
  expect([status, stdout, stderr]).toEqual([0, `created the role ${name} and its database\n`, '']);
  expect(
    await select(`SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = '${name}'`),
  ).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
  expect(
    await select(`SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = '${name}'`),
  ).toEqual({ owner: name });
  expect(await select(`SELECT rolpassword FROM pg_authid WHERE rolname = '${superuser}'`)).toEqual({
    rolpassword: null,
  });
});

it('leaves a role that exists as it is at the next start', () => {
  const { status, stdout, stderr } = run();
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});
