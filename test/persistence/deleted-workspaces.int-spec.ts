// Deleted workspaces: bounded for each account, purged when nothing names them, and left out of what reads all of them.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DeletedRows } from '../../src/upkeep/deleted-rows.js';
import { PURGE_FORGOTTEN_WORKSPACES } from '../../src/persistence/workspaces/workspace-statements.js';
import { ActivityRollupRepository } from '../../src/persistence/activity/activity-rollup.repository.js';
import { GenerationsRepository } from '../../src/persistence/generations/generations.repository.js';
import { ask, askFor } from '../support/requests/admin.js';
import { WEBHOOK } from '../support/requests/create-destination.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { fillLog, planOf, scansOf } from '../support/database/plans.js';
import { recordStatements } from '../support/database/statements.js';
import { expectError } from '../support/requests/error-shape.js';
import { eventually } from '../support/eventually.js';
import { managerByKey } from '../../src/domain/people/manager.js';

const MIGRATION = new URL(
  '../../prisma/migrations/20261128142000_destinations_of_deleted_workspaces/migration.sql',
  import.meta.url,
);
const DAY = 86_400_000;
const QUOTA = 2;
const MANY = 5_000;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { MAX_WORKSPACES_PER_ACCOUNT: String(QUOTA) } });
});
afterAll(() => app?.close());

const purge = (): Promise<void> => app.application.get(DeletedRows).purge();
const create = (slug: string) => ask(app, 'post', '/workspaces', { body: { name: 'Short-lived', slug } });
const createId = async (slug: string): Promise<string> => {
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Short-lived', slug },
  });
  return data.id;
};

/** Workspaces that were deleted when they were created. */
async function addDeleted(count: number, deletedAt: Date): Promise<void> {
  await app.sql(
    `INSERT INTO workspaces (id, account_id, name, created_at, deleted_at)
     SELECT gen_random_uuid(), $1, 'Deleted', $2, $2 FROM generate_series(1, $3::integer)`,
    [app.accountId, deletedAt, count],
  );
}
const exists = async (id: string): Promise<boolean> => {
  const rows = await app.sql('SELECT 1 FROM workspaces WHERE id = $1', [id]);
  return rows.length > 0;
};
const countDeleted = async (): Promise<number> => {
  const rows = await app.sql('SELECT 1 FROM workspaces WHERE deleted_at IS NOT NULL');
  return rows.length;
};

it('rejects creations beyond ten deleted workspaces for each allowed one, until these are purged', async () => {
  await addDeleted(QUOTA * 10, app.clock.now());
  expectError(await create('beyond'), 409, /has deleted 20 workspaces .* MAX_WORKSPACES_PER_ACCOUNT$/);
  await purge();
  expect(await countDeleted()).toBe(QUOTA * 10);
  app.clock.advance(2 * 3_600_000);
  await purge();
  expect(await countDeleted()).toBe(0);
  const id = await createId('beyond');
  await askFor(200, app, 'delete', `/workspaces/${id}`);
});

it('keeps a workspace that was called until neither its keys nor the log name it', async () => {
  const id = await createId('called');
  const { record } = await app.createKey({ workspaceId: id });
  await fillLog(app, [record], { rows: 3, from: app.clock.now(), days: 1 });
  await askFor(200, app, 'delete', `/keys/${record.hash}`);
  await askFor(200, app, 'delete', `/workspaces/${id}`);
  app.clock.advance(80 * DAY);
  await purge();
  expect(await exists(id)).toBe(true);
  app.clock.advance(120 * DAY);
  await purge();
  expect(await app.sql('SELECT 1 FROM api_keys WHERE id = $1', [record.id])).toEqual([]);
  expect(await exists(id)).toBe(true);
  await app.sql('DELETE FROM generations WHERE workspace_id = $1', [id]);
  await purge();
  expect(await exists(id)).toBe(false);
  expect(await app.sql('SELECT 1 FROM quota_usage WHERE owner_id = $1', [id])).toEqual([]);
});

it('deletes the destinations of a workspace with it, which are purged as all deleted ones are', async () => {
  const id = await createId('broadcast');
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/observability/destinations', {
    body: { ...WEBHOOK, workspace_id: id },
  });
  await askFor(200, app, 'delete', `/workspaces/${id}`);
  await askFor(404, app, 'get', `/observability/destinations/${data.id}`);
  app.clock.advance(2 * 3_600_000);
  await purge();
  expect(await exists(id)).toBe(true);
  app.clock.advance(120 * DAY);
  await purge();
  expect(await app.sql('SELECT 1 FROM destinations WHERE id = $1', [data.id])).toEqual([]);
  expect(await exists(id)).toBe(false);
});

it('deletes with its migration the destinations of workspaces that an earlier version has deleted', async () => {
  const [former, living] = [await createId('former'), app.workspaceId];
  for (const id of [former, living]) {
    const body = { ...WEBHOOK, workspace_id: id };
    await askFor(201, app, 'post', '/observability/destinations', { body });
  }
  await app.sql('UPDATE destinations SET enabled = false WHERE workspace_id = $1', [former]);
  await app.sql('UPDATE workspaces SET slug = NULL, deleted_at = $2 WHERE id = $1', [
    former,
    app.clock.now(),
  ]);
  await app.sql(await readFile(MIGRATION, 'utf8'));
  const rows = await app.sql(
    'SELECT workspace_id AS id, slot, deleted_at AS at FROM destinations WHERE workspace_id = ANY ($1)',
    [[former, living]],
  );
  expect(rows).toContainEqual({ id: former, slot: null, at: app.clock.now() });
  expect(rows).toContainEqual({ id: living, slot: 1, at: null });
});

it('keeps a new workspace that the log names though no key is left', async () => {
  const id = await createId('logged');
  const { record } = await app.createKey({ workspaceId: id });
  await fillLog(app, [record], { rows: 1, from: app.clock.now(), days: 1 });
  await app.sql('DELETE FROM api_keys WHERE id = $1', [record.id]);
  await askFor(200, app, 'delete', `/workspaces/${id}`);
  app.clock.advance(2 * 3_600_000);
  await purge();
  expect(await exists(id)).toBe(true);
  await app.sql('DELETE FROM generations WHERE workspace_id = $1', [id]);
  await purge();
  expect(await exists(id)).toBe(false);
});

it('keeps the default workspace of an account', async () => {
  const [accountId, id] = [randomUUID(), randomUUID()];
  await app.sql(
    `WITH account AS (INSERT INTO accounts (id, name, default_workspace_id) VALUES ($1, 'Empty', $2))
     INSERT INTO workspaces (id, account_id, name, created_at, deleted_at) VALUES ($2, $1, 'Default', $3, $3)`,
    [accountId, id, new Date(app.clock.now().getTime() - 2 * DAY)],
  );
  await purge();
  expect(await exists(id)).toBe(true);
});

describe('with thousands of deleted workspaces', () => {
  beforeAll(() => addDeleted(MANY, new Date(app.clock.now().getTime() - 60 * DAY)));

  it('the log is asked about none that a row names', async () => {
    await app.sql(
      `WITH made AS (
         INSERT INTO workspaces (id, account_id, name, slug)
         SELECT gen_random_uuid(), $1, 'Named', 'named-' || n FROM generate_series(1, ${MANY}) AS n RETURNING id
       )
       INSERT INTO provider_credentials (id, account_id, workspace_id, provider, label, ciphertext, encryption_key_id)
       SELECT gen_random_uuid(), $1, id, 'openai', 'l', '', 'k' FROM made`,
      [app.accountId],
    );
    const now = app.clock.now();
    await app.sql(`UPDATE workspaces SET slug = NULL, deleted_at = $1 WHERE slug LIKE 'named-%'`, [
      new Date(now.getTime() - 70 * DAY),
    ]);
    await app.sql('ANALYZE workspaces, provider_credentials');
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    try {
      const values = [new Date(now.getTime() - 65 * DAY), 500];
      const scans = scansOf(await planOf(client, PURGE_FORGOTTEN_WORKSPACES, values));
      expect(scans.map(({ table }) => table)).toContain('provider_credentials');
      expect(scans.filter(({ table }) => table.startsWith('generations'))).toEqual([]);
    } finally {
      await client.end();
    }
  });

  it('a rollup passes them in one step', async () => {
    const rollup = app.application.get(ActivityRollupRepository);
    const since = new Date(app.clock.now().getTime() - 40 * DAY);
    await fillLog(app, [app.key], { rows: 1, from: app.clock.now(), days: 1 });
    // Null: the pass has not begun, or the process itself has taken the step.
    const isPassOver = await eventually(
      async () => {
        const cursor = await rollup.beginPass(0);
        if (cursor.summedBefore === cursor.passUntil) return null;
        const next = await rollup.takeStep(cursor, since, { workspaces: 500, rows: 10_000 });
        return next && next.summedBefore === cursor.passUntil;
      },
      (answer) => answer !== null,
    );
    expect(isPassOver).toBe(true);
  });

  it('a generation is found by a statement that names none of them', async () => {
    await fillLog(app, [app.key], { rows: 1, from: app.clock.now(), days: 1 });
    const [row] = await app.sql<{ id: string; createdAt: Date }>(
      'SELECT id, created_at AS "createdAt" FROM generations WHERE workspace_id = $1 LIMIT 1',
      [app.workspaceId],
    );
    const recording = recordStatements();
    try {
      const reader = managerByKey({ ...app.key, kind: 'management' });
      const found = await app.application.get(GenerationsRepository).find(reader, row!);
      expect(found?.id).toBe(row!.id);
    } finally {
      recording.stop();
    }
    const numbers = [...recording.statements.values()].map(({ values }) => values.length);
    expect(Math.max(...numbers)).toBeLessThan(20);
  });
});
