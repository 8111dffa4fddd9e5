// A migration behind a long-held lock: it gives up, and calls that wait behind it continue.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';

const run = promisify(execFile);
const MIGRATION = '20261123130000_deleted_workspaces_stay_off';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Its final output, in a separate process: the engine leaves a timer behind. */
async function migrate(): Promise<string> {
  const program = `
    const { migrate } = await import(${JSON.stringify(new URL('../../scripts/migrate.mjs', import.meta.url).href)});
    const end = await migrate({ databaseUrl: process.env.DATABASE_URL, log() {}, lockTimeout: '50ms' }).then(
      (names) => names.join(),
      (error) => error.message,
    );
    process.stdout.write(end, () => process.exit());
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env['PATH'], DATABASE_URL: database.url },
  });
  return stdout;
}

it('gives up without a change, and is applied once the lock is free', async () => {
  await client.query('DROP FUNCTION refuse_deleted_workspace CASCADE');
  const { rows: undone } = await client.query<{ readonly migration_name: string }>(
    'DELETE FROM _prisma_migrations WHERE migration_name = $1 RETURNING migration_name',
    [MIGRATION],
  );
  await client.query('BEGIN');
  await client.query('LOCK TABLE destinations IN ROW EXCLUSIVE MODE');
  expect(await migrate()).toMatch(new RegExp(`^The migration ${MIGRATION} failed: .*lock timeout`));
  await client.query('ROLLBACK');
  // Its change of the other table was rolled back.
  expect(await migrate()).toBe(
    undone
      .map(({ migration_name: name }) => name)
      .toSorted()
      .join(','),
  );
});
