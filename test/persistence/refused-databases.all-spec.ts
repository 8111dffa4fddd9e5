// Databases that the service cannot use: the start says why in one line. Those of other applications stay untouched.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openStarts, runMigrations } from '../support/app/scripts.js';
import { administrate, createBareDatabase } from '../support/database/database.js';

const LATIN1 = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
const PRISMA_TABLE = `CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL,
  finished_at timestamptz, migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0);
  INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES
  ('1', 'x', now(), '20250101000000_init'), ('2', 'x', now(), '20990101000000_later')`;

let starts: ReturnType<typeof openStarts>;
beforeAll(() => {
  starts = openStarts();
});
afterAll(() => starts.close());
let database: Awaited<ReturnType<typeof createBareDatabase>>;
beforeEach(async () => {
  database = await createBareDatabase();
});
afterEach(() => database.drop());

const line = (text: string | RegExp) => [expect.stringMatching(text)];
async function readAll(text: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<object>(text);
  await client.end();
  return rows;
}

describe('a start', () => {
  it('refuses an encoding that does not hold every text', async () => {
    await database.drop();
    database = await createBareDatabase(LATIN1);
    expect(await starts.start(database.url)).toEqual(line(/cannot be used: its encoding LATIN1 does not/));
  });

  it('names the schema where the role may create nothing', async () => {
    expect(await starts.start(database.roleUrl)).toEqual(
      line(/permission denied for schema public; make the role/),
    );
  });

  it('names the search path that has no schema', async () => {
    await administrate(database.url, `ALTER ROLE "${database.role}" SET search_path = nowhere`);
    expect(await starts.start(database.roleUrl)).toEqual(
      line(/the search_path of the role \S+ \(nowhere\) has no schema/),
    );
  });

  it('names a schema that does not exist', async () => {
    expect(await starts.start(`${database.url}?schema=gw`)).toEqual(
      line(/it has no schema gw that the role/),
    );
  });

  it('refuses a database that is frozen', async () => {
    await administrate(
      database.url,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    );
    expect(await starts.start(database.url)).toEqual(line(/its transactions are read-only by default; set/));
  });

  it('refuses triggers that are off', async () => {
    await administrate(database.url, `ALTER ROLE "${database.role}" SET session_replication_role = replica`);
    expect(await starts.start(database.roleUrl)).toEqual(
      line(/its triggers are off; set session_replication_role/),
    );
  });

  it.each(['require', 'prefer', 'allow', 'verify-ca', 'verify-full', 'no-verify'])(
    'needs one line for sslmode=%s where the server has no TLS',
    async (mode) => {
      expect(await starts.start(`${database.url}?sslmode=${mode}`)).toEqual(
        line(
          /cannot be used: The server does not support SSL connections; switch TLS on there, or .*sslmode=disable/,
        ),
      );
      expect(
        await starts.start(database.url.replace(/@([^/]+)/, `@$1,$1`).concat(`?sslmode=${mode}`)),
      ).toEqual(line(/The server does not support SSL connections/));
    },
  );

  it('prints nothing beside that line', async () => {
    expect(await runMigrations(`${database.url}?sslmode=require`)).toEqual({
      code: 1,
      lines: line(/The server does not support SSL connections/),
    });
  });

  it('shows nothing of a password that cuts the address', async () => {
    const { host, pathname } = new URL(database.url);
    const result = await starts.start(`postgresql://user:2024/x@${host}${pathname}`);
    expect(result).toEqual(line(/^DATABASE_URL must look like .*percent-encode the password/));
    expect(result[0]).not.toContain('2024');
    const direct = { DATABASE_DIRECT_URL: `postgresql://user:2024#x@${host}${pathname}` };
    expect(await starts.start(database.url, direct)).toEqual(line(/^DATABASE_DIRECT_URL must look like/));
  });

  it.each(['nowhere.invalid', 'nowhere.invalid,neither.invalid'])(
    'does not wait for ever for the name %s',
    async (host) => {
      expect(await starts.start(`postgresql://user@${host}/name`)).toEqual(
        line(
          /^The database at nowhere.invalid:5432.* cannot be used: .*; correct the host in DATABASE_URL, or start again/,
        ),
      );
    },
  );

  it('wants one schema behind both addresses', async () => {
    await administrate(database.url, 'CREATE SCHEMA gw');
    expect(await starts.start(`${database.url}?schema=gw`, { DATABASE_DIRECT_URL: database.url })).toEqual(
      line('DATABASE_URL leads to the schema gw and DATABASE_DIRECT_URL to public'),
    );
  });
});

describe('beside another application', () => {
  const SHAPE = `SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`;

  it('with Prisma, migrates and starts again without a warning, and changes none of its rows', async () => {
    await administrate(database.url, `${PRISMA_TABLE}; CREATE TABLE posts AS SELECT 1 AS id`);
    const theirs = "SELECT * FROM _prisma_migrations WHERE checksum = 'x' ORDER BY id";
    const before = await readAll(theirs);
    expect(await starts.start(database.url)).toEqual(line(/^applied [1-9]/));
    expect(await starts.start(database.url)).toEqual(['applied 0']);
    expect(await readAll(theirs)).toEqual(before);
  });

  it('warns of a later version of this service', async () => {
    await starts.start(database.url);
    await administrate(
      database.url,
      "INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, logs) VALUES ('9', 'x', now(), '20990101000000_ours', 'signalbox')",
    );
    expect(await starts.start(database.url)).toEqual([
      expect.stringMatching(
        /^this database is ahead of this version, which does not know 20990101000000_ours/,
      ),
      'applied 0',
    ]);
  });

  it.each([
    ['tables of its own', 'CREATE TABLE posts (id int)', 'posts'],
    [
      'a table of the same name',
      `${PRISMA_TABLE}; CREATE TABLE notification_rules (id int)`,
      'notification_rules',
    ],
  ])(
    'with %s, changes nothing in its schema, and works in one of its own',
    async (_case, statement, name) => {
      await administrate(database.url, statement);
      const before = await readAll(SHAPE);
      expect(await starts.start(database.url)).toEqual(
        line(`The schema public has tables of another application \\(${name}\\), and nothing was changed`),
      );
      await administrate(database.url, 'CREATE SCHEMA signalbox');
      expect(await starts.start(`${database.url}?schema=signalbox`)).toEqual(line(/^applied [1-9]/));
      expect(await readAll(SHAPE)).toEqual(before);
    },
  );
});
