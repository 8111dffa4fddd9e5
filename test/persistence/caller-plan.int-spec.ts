// Rows that the look-up of a caller reads, with the guardrails of its workspace, its creator and its own.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { FIND_CALLERS } from '../../src/persistence/keys/api-key-statements.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { planOf, scansOf } from '../support/database/plans.js';

const WORKSPACES = 50;
const KEYS = 100;
const GUARDRAILS = 20;

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
    `INSERT INTO persons (account_id, id, issuer, subject)
     SELECT $1, 'user-' || n, 'https://issuer.test', n FROM generate_series(1, ${WORKSPACES * KEYS}) AS n`,
    [app.accountId],
  );
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, creator_user_id, ends_with_creator)
     SELECT gen_random_uuid(), id, account_id, encode(sha256((id::text || n)::bytea), 'hex'), 'inference', 'n', 'l', 'user-' || n, true
     FROM workspaces, generate_series(1, ${KEYS}) AS n`,
  );
  await app.sql(
    `INSERT INTO api_key_secrets (secret_hash, workspace_id, api_key_id)
     SELECT hash, workspace_id, id FROM api_keys WHERE creator_user_id LIKE 'user-%'`,
  );
  await app.sql(
    `INSERT INTO workspace_members (workspace_id, user_id, id, role)
     SELECT workspace_id, creator_user_id, gen_random_uuid(), 'member' FROM api_keys WHERE creator_user_id LIKE 'user-%'`,
  );
  await app.sql(
    `INSERT INTO guardrails (workspace_id, id, account_id, is_default, name)
     SELECT id, gen_random_uuid(), account_id, n = 1, 'Rule' FROM workspaces, generate_series(1, ${GUARDRAILS}) AS n`,
  );
  const assignTo = (column: string, subject: string) =>
    app.sql(
      `INSERT INTO guardrail_assignments (workspace_id, id, guardrail_id, ${column})
       SELECT key.workspace_id, gen_random_uuid(), guardrail.id, ${subject}
       FROM api_keys AS key JOIN guardrails AS guardrail
         ON guardrail.workspace_id = key.workspace_id AND guardrail.is_default
       WHERE key.creator_user_id LIKE 'user-%'`,
    );
  await assignTo('api_key_id', 'key.id');
  await assignTo('user_id', 'key.creator_user_id');
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

it('the look-up of a caller reads one row of each of its tables, by their keys', async () => {
  const [secret] = await app.sql<{ hash: string }>(
    "SELECT hash FROM api_keys WHERE creator_user_id = 'user-7' LIMIT 1",
  );
  const scans = scansOf(await planOf(client, FIND_CALLERS, [[secret?.hash]]));
  expect(scans.map(({ table, rows }) => `${table} ${rows}`).toSorted()).toEqual([
    'api_key_secrets 1',
    'api_keys 1',
    'guardrail_assignments 1',
    'guardrail_assignments 1',
    'guardrails 1',
    'persons 1',
  ]);
});
