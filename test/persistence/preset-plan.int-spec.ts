// Rows that the look-up of a preset reads, for a call that waits for it.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { FIND_DESIGNATED } from '../../src/persistence/presets/preset-statements.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { planOf, scansOf } from '../support/database/plans.js';

const WORKSPACES = 50;
const PRESETS = 20;
const VERSIONS = 10;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  await app.sql(
    `INSERT INTO workspaces (id, account_id, name, slug)
     SELECT gen_random_uuid(), $1, 'Many', 'many-' || n FROM generate_series(1, ${WORKSPACES}) AS n`,
    [app.accountId],
  );
  await app.sql(
    `WITH made AS (
       INSERT INTO presets (workspace_id, slug, id, account_id, designated_version, latest_version, updated_at)
       SELECT id, 'preset-' || n, gen_random_uuid(), account_id, 5, ${VERSIONS}, now()
       FROM workspaces, generate_series(1, ${PRESETS}) AS n RETURNING id
     )
     INSERT INTO preset_versions (preset_id, version, id, config, creator_hash)
     SELECT id, n, gen_random_uuid(), '{}', repeat('0', 64) FROM made, generate_series(1, ${VERSIONS}) AS n`,
  );
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

it('the look-up of a preset reads one row of each of its tables, by their keys', async () => {
  const scans = scansOf(await planOf(client, FIND_DESIGNATED, [app.workspaceId, 'preset-7']));
  expect(scans.map(({ table, index, rows }) => [table, index, rows])).toEqual([
    ['presets', 'presets_pkey', 1],
    ['preset_versions', 'preset_versions_pkey', 1],
  ]);
});
