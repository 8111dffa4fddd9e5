// Searches for names, whose cost a tenant chooses: they take one connection of a process.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { wholeAccount } from '../../src/domain/people/manager.js';
import { AppError } from '../../src/domain/errors.js';
import { ApiKeysRepository } from '../../src/persistence/keys/api-keys.repository.js';
import { WorkspacesRepository } from '../../src/persistence/workspaces/workspaces.repository.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';

const KEYS = 2_000;
const SEARCHES = 20;
// One of them runs, ten wait.
const REJECTED = 9;
// The worst case of a search by comparison: each position matches up to the last character.
const HOSTILE = `${'a'.repeat(199)}b`;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label)
     SELECT gen_random_uuid(), $1, $2, lpad('e' || n, 64, '0'), 'inference', repeat('a', 1000), 'long'
     FROM generate_series(1, $3::integer) AS n`,
    [app.workspaceId, app.accountId, KEYS],
  );
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

it('leaves the connections of others free, whatever a tenant searches for', async () => {
  const keys = app.application.get(ApiKeysRepository);
  const stranger = await app.createAccount();
  // No search ends before the lock does.
  await client.query('BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
  const listing = {
    workspaceId: app.workspaceId,
    includeDisabled: true,
    partOfName: HOSTILE,
    order: 'created' as const,
    isDescending: true,
    state: null,
    stoppedWorkspaceIds: [],
    offset: 0,
    limit: 100,
  };
  const searches = Promise.allSettled(
    Array.from({ length: SEARCHES }, () => keys.list(wholeAccount(app.accountId), listing)),
  );
  // Another session: the view keeps its answer for the whole transaction.
  const waiting = async (): Promise<number> => {
    const rows = await app.sql(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%position(lower(%'`,
    );
    return rows.length;
  };
  await eventually(waiting, (count) => count > 0);
  const page = { offset: 0, limit: 10 };
  const others = await app.application.get(WorkspacesRepository).list(wholeAccount(stranger.accountId), page);
  expect(others.total).toBe(1);
  expect(await waiting()).toBeLessThanOrEqual(1);
  await client.query('ROLLBACK');
  const outcomes = await searches;
  const rejected = outcomes.filter(
    (outcome) =>
      outcome.status === 'rejected' &&
      outcome.reason instanceof AppError &&
      outcome.reason.code === 'unavailable',
  );
  expect(rejected).toHaveLength(REJECTED);
});
