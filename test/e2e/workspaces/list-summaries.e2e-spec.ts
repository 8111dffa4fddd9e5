// GET /workspaces: what each workspace has spent, its budgets, keys and refused calls. Contract: docs/contract.md#workspaces.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { recordStatements } from '../../support/database/statements.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { askFor } from '../../support/requests/admin.js';
import { embed } from '../../support/requests/create-embedding.js';
import { recordRefusals } from '../../support/requests/refusals.js';

interface Listed {
  readonly id: string;
  readonly usage_monthly: number;
  readonly byok_usage_monthly: number;
  readonly budgets: readonly object[];
  readonly key_count: number;
  readonly refused_last_hour: number;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const list = async (key = app.managementKey): Promise<readonly Listed[]> =>
  (await askFor<{ data: Listed[] }>(200, app, 'get', '/workspaces', { key })).data;

it('has the spend of the month, budgets with what is left, keys and refused calls of each', async () => {
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Team', slug: 'team' },
  });
  for (const [interval, limit] of [
    ['monthly', 20],
    ['daily', 2],
  ] as const)
    await askFor(200, app, 'put', `/workspaces/${data.id}/budgets/${interval}`, {
      body: { limit_usd: limit },
    });
  const { record, secret } = await app.createKey({ workspaceId: data.id });
  const call = { workspaceId: data.id, createdAt: app.clock.now() };
  await recordGenerations(
    app,
    1,
    { ...call, cost: parseUsd('2.5'), upstreamCost: parseUsd('2.5') },
    null,
    record,
  );
  await recordGenerations(
    app,
    1,
    { ...call, cost: 0n, upstreamCost: parseUsd('0.25'), isByok: true },
    null,
    record,
  );
  for (let index = 0; index < 3; index++) await embed(app, { model: 'local/hashing' }, secret);
  await recordRefusals(app);
  const workspaces = await list();
  expect(workspaces.find(({ id }) => id === data.id)).toMatchObject({
    usage_monthly: 2.5,
    byok_usage_monthly: 0.25,
    budgets: [
      { limit_window: 'daily', limit_usd: 2, spend_usd: 2.5, remaining_usd: 0 },
      { limit_window: 'monthly', limit_usd: 20, spend_usd: 2.5, remaining_usd: 17.5 },
    ],
    key_count: 1,
    refused_last_hour: 3,
  });
  expect(workspaces.find(({ id }) => id === app.workspaceId)).toMatchObject({
    usage_monthly: 0,
    budgets: [],
    refused_last_hour: 0,
  });
});

it('counts a window from its beginning, and refusals for an hour', async () => {
  app.clock.advance(31 * 86_400_000);
  const team = (await list()).find(({ budgets }) => budgets.length > 0);
  expect(team).toMatchObject({ usage_monthly: 0, refused_last_hour: 0 });
  expect(team!.budgets).toEqual([
    { limit_window: 'daily', limit_usd: 2, spend_usd: 0, remaining_usd: 2 },
    { limit_window: 'monthly', limit_usd: 20, spend_usd: 0, remaining_usd: 20 },
  ]);
});

it('asks the database as often for many workspaces as for one', async () => {
  const account = await app.createAccount();
  const statements = async (): Promise<Map<string, number>> => {
    const recording = recordStatements();
    try {
      await list(account.managementKey);
      return new Map([...recording.statements.values()].map(({ text, times }) => [text, times]));
    } finally {
      recording.stop();
    }
  };
  // The first request looks its key up.
  await statements();
  const ofOne = await statements();
  for (let n = 0; n < 5; n++)
    await askFor(201, app, 'post', '/workspaces', {
      body: { name: `Many ${n}`, slug: `many-${n}` },
      key: account.managementKey,
    });
  const ofMany = await statements();
  // The process may also send others of its own.
  const ofBoth = [...ofMany].filter(([text]) => ofOne.has(text));
  expect(ofBoth.length).toBeGreaterThanOrEqual(2);
  expect(ofBoth).toEqual(ofBoth.map(([text]) => [text, ofOne.get(text)]));
});
