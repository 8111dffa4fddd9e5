// /workspaces/{ref}/budgets: their order, and their effect on calls.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

let setup: ByokSetup;
let app: TestApp;
beforeAll(async () => {
  setup = await startWithKeys();
  app = setup.app;
});
afterAll(() => setup.close());

const put = (interval: string, body: object) =>
  ask(app, 'put', `/workspaces/default/budgets/${interval}`, { body });

describe('budgets', () => {
  it('are set, read, changed and deleted', async () => {
    const created = await askFor(200, app, 'put', '/workspaces/default/budgets/monthly', {
      body: { limit_usd: 100 },
    });
    const now = app.clock.now().toISOString();
    const budget = {
      id: `${app.workspaceId}:monthly`,
      workspace_id: app.workspaceId,
      limit_usd: 100,
      reset_interval: 'monthly',
      created_at: now,
      updated_at: now,
      spend_usd: 0,
    };
    expect(created).toEqual({ data: budget, include_byok_in_budgets: false });
    const changed = { data: { ...budget, limit_usd: 99.5 }, include_byok_in_budgets: true };
    const change = { limit_usd: 99.5, include_byok_in_budgets: true };
    expect((await put('monthly', change)).body).toEqual(changed);
    expect(await askFor(200, app, 'get', `/workspaces/${app.workspaceId}/budgets/monthly`)).toEqual(changed);
    const lifetime = await put('lifetime', { limit_usd: 1_000 });
    expect(lifetime.body).toMatchObject({ data: { reset_interval: null }, include_byok_in_budgets: true });
    expect(await askFor(200, app, 'get', '/workspaces/default/budgets')).toMatchObject({
      data: [{ limit_usd: 99.5 }, { limit_usd: 1_000 }],
    });
    for (const _again of [1, 2]) {
      for (const interval of ['monthly', 'lifetime']) {
        const path = `/workspaces/default/budgets/${interval}`;
        expect(await askFor(200, app, 'delete', path)).toEqual({ deleted: true });
        expect(expectError(await ask(app, 'get', path), 404)).toContain(`has no ${interval} budget`);
      }
    }
    const actions = await app.sql(
      `SELECT action FROM audit_log WHERE object_type = 'workspace_budget' AND object_id = 'monthly' ORDER BY action`,
    );
    expect(actions.map(({ action }) => String(action))).toEqual(['create', 'delete', 'update']);
  });

  it('show the spend of their current window, own provider keys included when they count', async () => {
    const spent = async (): Promise<unknown[]> => {
      const { data } = await askFor<{ data: Readonly<Record<string, unknown>>[] }>(
        200,
        app,
        'get',
        '/workspaces/default/budgets',
      );
      return data.map(({ reset_interval: interval, spend_usd: spend }) => [interval, spend]);
    };
    const limits = { daily: 10, weekly: 20, monthly: 30, lifetime: 40 };
    for (const [interval, limit] of Object.entries(limits)) {
      expect((await put(interval, { limit_usd: limit, include_byok_in_budgets: false })).status).toBe(200);
    }
    // Wednesday, 18 November 2026; the last spend was on the Monday of that week.
    const spend = async (lastDay: string) =>
      app.sql(
        `UPDATE workspace_spend SET last_day = $2, daily = 0.1, weekly = 0.1, monthly = 3, total = 50,
           byok_daily = 0.2, byok_weekly = 0.2, byok_monthly = 0.25, byok_total = 0.5 WHERE workspace_id = $1`,
        [app.workspaceId, lastDay],
      );
    await spend('2026-11-16');
    expect(await spent()).toEqual([
      ['daily', 0],
      ['weekly', 0.1],
      ['monthly', 3],
      [null, 50],
    ]);
    await spend('2026-11-18');
    const counted = { limit_usd: 10, include_byok_in_budgets: true };
    // Exact: the sum of the two numbers would be 0.30000000000000004.
    expect((await put('daily', counted)).body).toMatchObject({ data: { spend_usd: 0.3 } });
    expect(await spent()).toEqual([
      ['daily', 0.3],
      ['weekly', 0.3],
      ['monthly', 3.25],
      [null, 50.5],
    ]);
    expect(await askFor(200, app, 'get', '/workspaces/default/budgets/lifetime')).toMatchObject({
      data: { spend_usd: 50.5 },
    });
    const recorded = await app.sql(
      `SELECT 1 FROM audit_log WHERE object_type = 'workspace_budget' AND (before ? 'spend_usd' OR after ? 'spend_usd')`,
    );
    expect(recorded).toEqual([]);
    await app.sql(
      `UPDATE workspace_spend SET daily = 0, weekly = 0, monthly = 0, total = 0, byok_daily = 0, byok_weekly = 0,
         byok_monthly = 0, byok_total = 0 WHERE workspace_id = $1`,
      [app.workspaceId],
    );
    for (const interval of Object.keys(limits))
      await askFor(200, app, 'delete', `/workspaces/default/budgets/${interval}`);
  });

  it('show the spend of a call once it is settled', async () => {
    expect((await put('daily', { limit_usd: 10 })).body).toMatchObject({ data: { spend_usd: 0 } });
    const { body } = await embed(app, { model: SMALL, input: 'hello', dimensions: 2 }, app.apiKey);
    const { cost } = (body as { usage: { cost: number } }).usage;
    expect(cost).toBeGreaterThan(0);
    await eventually(
      () => askFor<{ data: { spend_usd: number } }>(200, app, 'get', '/workspaces/default/budgets/daily'),
      ({ data }) => data.spend_usd === cost,
    );
    await askFor(200, app, 'delete', '/workspaces/default/budgets/daily');
  });

  it('must grow with the interval, in any order of setting them', async () => {
    expect((await put('weekly', { limit_usd: 10 })).status).toBe(200);
    expect(expectError(await put('daily', { limit_usd: 10 }), 400)).toContain(
      'limit_usd: the weekly budget of 10 USD must be greater than the daily budget of 10 USD',
    );
    expect(expectError(await put('lifetime', { limit_usd: 9.99 }), 400)).toContain(
      'the lifetime budget of 9.99 USD must be greater than the weekly budget of 10 USD',
    );
    expect((await put('daily', { limit_usd: 9.99 })).status).toBe(200);
    // One of two contradicting budgets is rejected, also when they are concurrent.
    const answers = await Promise.all([put('daily', { limit_usd: 12 }), put('weekly', { limit_usd: 13 })]);
    const { data } = await askFor<{ data: { limit_usd: number }[] }>(
      200,
      app,
      'get',
      '/workspaces/default/budgets',
    );
    expect(data[0]!.limit_usd).toBeLessThan(data[1]!.limit_usd);
    expect(answers[1].status).toBe(200);
    for (const interval of ['daily', 'weekly'])
      await ask(app, 'delete', `/workspaces/default/budgets/${interval}`);
  });

  it.each([
    ['hourly', { limit_usd: 1 }, 'interval: must be one of daily, weekly, monthly, lifetime'],
    ['daily', { limit_usd: 0 }, 'limit_usd: must be greater than 0'],
    ['daily', { limit_usd: 1e-13 }, 'limit_usd: must be at least 1e-12'],
    ['daily', { limit_usd: '1' }, 'limit_usd: must be a number'],
    ['daily', { limit_usd: 1, reset: true }, 'reset: is not a member of this object'],
  ])('return 400 for %s %j', async (interval, body, message) => {
    expect(expectError(await put(interval, body), 400)).toContain(message);
  });

  it('reject calls beyond them with 403, regardless of wider ones, until they are deleted', async () => {
    const call = () => embed(app, { model: SMALL, input: 'hello', dimensions: 2 }, app.apiKey);
    expect((await call()).status).toBe(200);
    expect((await put('monthly', { limit_usd: 100 })).status).toBe(200);
    expect((await put('daily', { limit_usd: 1e-12 })).status).toBe(200);
    const rejected = await eventually(call, ({ status }) => status === 403);
    expect(expectError(rejected, 403)).toContain('Workspace budget exceeded');
    await askFor(200, app, 'delete', '/workspaces/default/budgets/daily');
    await eventually(call, ({ status }) => status === 200);
    await askFor(200, app, 'delete', '/workspaces/default/budgets/monthly');
  });
});

describe('members', () => {
  it('are removed and recorded once by concurrent removals', async () => {
    const body = { user_ids: ['user_x', 'user_y'] };
    await askFor(200, app, 'post', '/workspaces/default/members/add', { body });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        askFor<{ removed_count: number }>(200, app, 'post', '/workspaces/default/members/remove', { body }),
      ),
    );
    expect(answers.reduce((sum, { removed_count: count }) => sum + count, 0)).toBe(2);
    const removals = await app.sql(
      `SELECT object_id FROM audit_log WHERE object_type = 'workspace_member' AND action = 'delete'
       AND object_id IN ('user_x', 'user_y') ORDER BY object_id`,
    );
    expect(removals).toEqual([{ object_id: 'user_x' }, { object_id: 'user_y' }]);
  });

  it('are added once, listed, and removed', async () => {
    const added = await askFor<{ data: object[] }>(200, app, 'post', '/workspaces/default/members/add', {
      body: { user_ids: ['user_a', 'user_b', 'user_a'], role: 'admin' },
    });
    expect(added).toMatchObject({ added_count: 2 });
    expect(added.data[0]).toEqual({
      id: expect.any(String),
      workspace_id: app.workspaceId,
      user_id: 'user_a',
      role: 'admin',
      created_at: app.clock.now().toISOString(),
    });
    const again = await ask(app, 'post', '/workspaces/default/members/add', {
      body: { user_ids: ['user_b', 'user_c'] },
    });
    expect(again.body).toMatchObject({ added_count: 1, data: [{ user_id: 'user_c', role: 'member' }] });
    expect(await askFor(200, app, 'get', '/workspaces/default/members?limit=2&offset=1')).toMatchObject({
      data: [
        { user_id: 'user_b', role: 'admin' },
        { user_id: 'user_c', role: 'member' },
      ],
      total_count: 3,
    });
    const body = { user_ids: ['user_a', 'user_b', 'not_a_member'] };
    expect(await askFor(200, app, 'post', '/workspaces/default/members/remove', { body })).toEqual({
      removed_count: 2,
    });
  });

  it('cannot be removed while they have keys', async () => {
    await app.createKey({ creatorUserId: 'user_k' });
    const body = { user_ids: ['user_k'] };
    await askFor(200, app, 'post', '/workspaces/default/members/add', { body });
    const rejected = await ask(app, 'post', '/workspaces/default/members/remove', { body });
    expect(expectError(rejected, 400)).toContain('user_ids: user_k has API keys in the workspace');
  });

  it.each([
    [{ user_ids: [] }, 'user_ids: must have at least 1 element'],
    [{ user_ids: ['with space'] }, 'user_ids: must hold names of 1 to 256 printable'],
    [{ user_ids: ['a'], role: 'owner' }, 'role: must be one of admin, member'],
    [{ user_ids: Array.from({ length: 101 }, String) }, 'user_ids: must have at most 100 elements'],
  ])('return 400 for %j', async (body, message) => {
    const response = await ask(app, 'post', '/workspaces/default/members/add', { body });
    expect(expectError(response, 400)).toContain(message);
  });
});
