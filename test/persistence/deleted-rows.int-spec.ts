// Deleted keys, destinations and credentials: no work waits for them, and their rows are purged after the retention.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DeletedRows } from '../../src/upkeep/deleted-rows.js';
import { askFor } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { WEBHOOK } from '../support/requests/create-destination.js';

const DAY = 86_400_000;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { DELETED_RETENTION_DAYS: '40' } });
});
afterAll(() => app.close());

const count = async (table: string): Promise<number> => {
  const rows = await app.sql<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`);
  return rows[0]?.count ?? -1;
};
const TABLES = ['api_keys', 'key_spend', 'destinations', 'provider_credentials'];
const countAll = (): Promise<number[]> => Promise.all(TABLES.map(count));

async function createAndDelete(): Promise<{ readonly destination: string; readonly key: string }> {
  const { data: destination } = await askFor<{ data: { id: string } }>(
    201,
    app,
    'post',
    '/observability/destinations',
    { body: WEBHOOK },
  );
  await app.sql(
    `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
     VALUES ($1, $2, gen_random_uuid(), now(), 'refused', 'no')`,
    [app.workspaceId, destination.id],
  );
  const { data: credential } = await askFor<{ data: { id: string } }>(201, app, 'post', '/byok', {
    body: { provider: 'openai', key: 'a-key-of-a-customer' },
  });
  const { data: key } = await askFor<{ data: { hash: string } }>(201, app, 'post', '/keys', {
    body: { name: 'Short-lived' },
  });
  await askFor(200, app, 'delete', `/observability/destinations/${destination.id}`);
  await askFor(200, app, 'delete', `/byok/${credential.id}`);
  await askFor(200, app, 'delete', `/keys/${key.hash}`);
  return { destination: destination.id, key: key.hash };
}

it('removes cursor and dead letters of a deleted destination', async () => {
  await createAndDelete();
  expect(await count('delivery_cursors')).toBe(0);
  expect(await count('dead_letters')).toBe(0);
});

it("removes those of a deleted workspace's destinations", async () => {
  const { data: workspace } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Gone', slug: 'gone' },
  });
  await askFor(201, app, 'post', '/observability/destinations', {
    body: { ...WEBHOOK, workspace_id: workspace.id },
  });
  expect(await count('delivery_cursors')).toBe(1);
  await askFor(200, app, 'delete', `/workspaces/${workspace.id}`);
  expect(await count('delivery_cursors')).toBe(0);
});

it('purges rows in steps after the retention, and no others', async () => {
  const purge = app.application.get(DeletedRows);
  const living = await countAll();
  // More than one step removes.
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, deleted_at)
     SELECT gen_random_uuid(), $1, $2, lpad(n::text, 64, '0'), 'inference', 'Old', 'old', $3
     FROM generate_series(1, 1100) AS n`,
    [app.workspaceId, app.accountId, app.clock.now()],
  );
  await app.sql(
    `INSERT INTO retired_secrets (secret_hash, retired_at) SELECT lpad(n::text, 64, '0'), $1 FROM generate_series(1, 600) AS n`,
    [app.clock.now()],
  );
  const { key } = await createAndDelete();
  app.clock.advance(39 * DAY);
  await purge.purge();
  expect(await count('retired_secrets')).toBe(600);
  const [keys = 0] = living;
  expect(await count('api_keys')).toBe(keys + 1_100 + 1);
  app.clock.advance(2 * DAY);
  await purge.purge();
  expect(await count('retired_secrets')).toBe(0);
  // Rows that the other tests of this file have deleted are gone as well.
  const left = await countAll();
  expect(left.map((one, index) => one <= (living[index] ?? 0))).toEqual([true, true, true, true]);
  for (const table of ['api_keys', 'destinations', 'provider_credentials'])
    expect(await count(`${table} WHERE deleted_at IS NOT NULL`)).toBe(0);
  // The live key exists, and the audit log still names the purged one.
  await askFor(200, app, 'get', `/keys/${app.key.hash}`);
  const { data: entries } = await askFor<{ data: { action: string }[] }>(
    200,
    app,
    'get',
    `/audit?object_id=${key}`,
  );
  expect(entries.map(({ action }) => action).toSorted()).toEqual(['create', 'delete']);
});

it('purges audit entries and sessions of the console in steps after their retention, and no others', async () => {
  const ago = (days: number): Date => new Date(app.clock.now().getTime() - days * DAY);
  await app.sql(
    `INSERT INTO audit_log (id, account_id, created_at, actor_hash, actor_label, address, request_id, action, object_type,
       object_id)
     SELECT gen_random_uuid(), $1, created_at, '', 'label', '127.0.0.1', 'request', 'create', 'key', 'of-the-test'
     FROM generate_series(1, 600), unnest($2::timestamptz[]) AS created_at`,
    [app.accountId, [ago(366), ago(364)]],
  );
  const [secret] = await app.sql<{ hash: string }>(
    'SELECT secret_hash AS hash FROM api_key_secrets WHERE api_key_id = $1',
    [app.key.id],
  );
  await app.sql(
    `INSERT INTO console_sessions (id_hash, workspace_id, api_key_id, secret_hash, created_at, ends_at)
     SELECT lpad(number::text, 64, '0'), $1, $2, $3, created_at, created_at + interval '7 days'
     FROM unnest($4::timestamptz[]) WITH ORDINALITY AS times (created_at, number)`,
    [app.workspaceId, app.key.id, secret?.hash, [ago(8), ago(6)]],
  );
  await app.application.get(DeletedRows).purge();
  expect(await count("audit_log WHERE object_id = 'of-the-test'")).toBe(600);
  expect(await count('console_sessions')).toBe(1);
});

it.each(['DELETE FROM audit_log', 'TRUNCATE audit_log', "UPDATE audit_log SET action = 'x'"])(
  'the database refuses to %s',
  async (statement) => {
    const before = await count('audit_log');
    expect(before).toBeGreaterThan(0);
    await expect(app.sql(statement)).rejects.toThrow(
      /the audit log is (?:never changed|removed by its retention)/,
    );
    expect(await count('audit_log')).toBe(before);
  },
);

it('keeps the audit log for ever with 0 days', async () => {
  const other = await createTestApp({
    databaseUrl: app.databaseUrl,
    clock: app.clock,
    environment: { AUDIT_RETENTION_DAYS: '0' },
  });
  try {
    app.clock.advance(1_000 * DAY);
    const before = await count('audit_log');
    await other.application.get(DeletedRows).purge();
    expect(await count('audit_log')).toBe(before);
    await app.application.get(DeletedRows).purge();
    expect(await count('audit_log')).toBe(0);
  } finally {
    await other.close();
  }
});

it('purges the other tables when one of them cannot be purged', async () => {
  const id = 'f'.repeat(64);
  await app.sql('INSERT INTO retired_secrets (secret_hash, retired_at) VALUES ($1, $2)', [
    id,
    new Date(app.clock.now().getTime() - 41 * DAY),
  ]);
  await app.sql('ALTER TABLE destinations RENAME TO destinations_of_a_test');
  try {
    await app.application.get(DeletedRows).purge();
  } finally {
    await app.sql('ALTER TABLE destinations_of_a_test RENAME TO destinations');
  }
  expect(await count('retired_secrets')).toBe(0);
});
