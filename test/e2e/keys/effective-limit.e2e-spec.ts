// The limit that stops a key first, and its last use, in every record of a key. Contract: docs/contract.md#api-keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';

const USD = 1_000_000_000_000n;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

async function rowOf(hash: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { data } = await askFor<{ data: Record<string, unknown>[] }>(200, app, 'get', '/keys');
  return data.find((row) => row['hash'] === hash);
}

it('is null without limits, and the tightest of key, budgets and credits with them', async () => {
  const { record } = await app.createKey({ limit: 10n * USD, limitReset: 'daily' });
  expect(await rowOf(app.key.hash)).toMatchObject({ effective_limit: null, last_used_on: null });
  expect(await rowOf(record.hash)).toMatchObject({
    effective_limit: {
      limit_source: 'key',
      limit_window: 'daily',
      limit_usd: 10,
      spend_usd: 0,
      remaining_usd: 10,
      resets_at: '2026-11-19T00:00:00.000Z',
    },
  });
  await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/monthly`, { body: { limit_usd: 5 } });
  await app.sql(
    `INSERT INTO workspace_spend (workspace_id, last_day, total, daily, weekly, monthly) VALUES ($1, '2026-11-18', 3, 3, 3, 3)
     ON CONFLICT (workspace_id) DO UPDATE SET last_day = excluded.last_day, total = 3, daily = 3, weekly = 3, monthly = 3`,
    [app.workspaceId],
  );
  const budget = {
    limit_source: 'workspace',
    limit_window: 'monthly',
    limit_usd: 5,
    spend_usd: 3,
    remaining_usd: 2,
  };
  for (const hash of [record.hash, app.key.hash])
    expect(await rowOf(hash)).toMatchObject({
      effective_limit: { ...budget, resets_at: '2026-12-01T00:00:00.000Z' },
    });
  await app.sql('UPDATE accounts SET credits = 0 WHERE id = $1', [app.accountId]);
  expect(await rowOf(record.hash)).toMatchObject({
    effective_limit: { limit_source: 'account', limit_window: 'lifetime', remaining_usd: 0, resets_at: null },
  });
});

it('is the one that resets last, where several are reached', async () => {
  const { record } = await app.createKey({ limit: 1n * USD, limitReset: null });
  await app.sql("UPDATE key_spend SET last_day = '2026-11-18', total = 1 WHERE api_key_id = $1", [record.id]);
  await app.sql('UPDATE accounts SET credits = NULL WHERE id = $1', [app.accountId]);
  // Exceeded by more than the key's own limit, and reset earlier.
  await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/monthly`, { body: { limit_usd: 2 } });
  expect(await rowOf(record.hash)).toMatchObject({
    effective_limit: { limit_source: 'key', limit_window: 'lifetime', remaining_usd: 0, resets_at: null },
  });
  await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/monthly`, { body: { limit_usd: 5 } });
});

it('states the day of the last charge, and of the last call that is summed up', async () => {
  const { record } = await app.createKey();
  await app.sql("UPDATE key_spend SET last_day = '2026-11-10' WHERE api_key_id = $1", [record.id]);
  expect(await rowOf(record.hash)).toMatchObject({ last_used_on: '2026-11-10' });
  await app.sql(
    `INSERT INTO activity_key_days (workspace_id, api_key_id, day, model, endpoint, provider, requests, prompt_tokens, usage, byok_usage)
     VALUES ($1, $2, '2026-11-12', 'm', '', '', 1, 0, 0, 0)`,
    [app.workspaceId, record.id],
  );
  expect(await rowOf(record.hash)).toMatchObject({ last_used_on: '2026-11-12' });
});

describe('one record', () => {
  const SETTINGS = { limit: 1n * USD, limitReset: 'daily' } as const;
  type Records = Readonly<Record<string, unknown>>;
  const ask = async (...parameters: Parameters<typeof askFor>): Promise<Records> =>
    (await askFor<{ data: Records }>(...parameters)).data;

  /** The row of the list is the model: its members have tests of their own. */
  async function expectEqualToRow(record: Records): Promise<void> {
    const row = await rowOf(String(record['hash']));
    expect(record).toMatchObject({
      effective_limit: row?.['effective_limit'],
      last_used_on: row?.['last_used_on'],
      last_used_at: row?.['last_used_at'],
    });
  }

  async function createUsedKey(): Promise<TestKey> {
    const created = await app.createKey(SETTINGS);
    await app.sql(
      "UPDATE key_spend SET last_day = '2026-11-18', daily = 0.25, total = 0.25 WHERE api_key_id = $1",
      [created.record.id],
    );
    await app.sql('UPDATE accounts SET credits = NULL WHERE id = $1', [app.accountId]);
    return created;
  }

  it('of GET, PATCH and a rotation has the same members', async () => {
    const { record } = await createUsedKey();
    const path = `/keys/${record.hash}`;
    const read = await ask(200, app, 'get', path);
    expect(read).toMatchObject({
      effective_limit: { limit_source: 'key', spend_usd: 0.25, remaining_usd: 0.75 },
      last_used_on: '2026-11-18',
    });
    await expectEqualToRow(read);
    await expectEqualToRow(await ask(200, app, 'patch', path, { body: { limit: 0.5 } }));
    await expectEqualToRow(await ask(200, app, 'post', `${path}/rotate`, { body: {} }));
    await expectEqualToRow(await ask(201, app, 'post', '/keys', { body: { name: 'New', limit: 0.1 } }));
  });

  it('considers every budget of the workspace', async () => {
    const { record } = await createUsedKey();
    const budgets = `/workspaces/${app.workspaceId}/budgets`;
    for (const [interval, limit] of [
      ['lifetime', 60],
      ['weekly', 3.25],
      ['daily', 3.125],
    ] as const)
      await askFor(200, app, 'put', `${budgets}/${interval}`, { body: { limit_usd: limit } });
    const read = await ask(200, app, 'get', `/keys/${record.hash}`);
    expect(read).toMatchObject({
      effective_limit: { limit_source: 'workspace', limit_window: 'daily', remaining_usd: 0.125 },
      last_used_on: '2026-11-18',
    });
    await expectEqualToRow(read);
    for (const interval of ['daily', 'weekly', 'lifetime'])
      await app.sql('DELETE FROM workspace_budgets WHERE workspace_id = $1 AND interval = $2', [
        app.workspaceId,
        interval,
      ]);
  });

  it('of an inference key shows it the limit that stops it, a budget of its workspace as well', async () => {
    const { secret } = await createUsedKey();
    expect(await ask(200, app, 'get', '/key', { key: secret })).toMatchObject({
      effective_limit: { limit_source: 'key', limit_window: 'daily', remaining_usd: 0.75 },
      last_used_on: '2026-11-18',
    });
    await app.sql('UPDATE workspace_budgets SET limit_amount = 3.5 WHERE workspace_id = $1', [
      app.workspaceId,
    ]);
    expect(await ask(200, app, 'get', '/key', { key: secret })).toMatchObject({
      effective_limit: { limit_source: 'workspace', limit_usd: 3.5, spend_usd: 3, remaining_usd: 0.5 },
    });
  });
});
