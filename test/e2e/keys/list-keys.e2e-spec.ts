// GET /keys in an order and by the state of keys. Contract: docs/contract.md#api-keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { parseUsd } from '../../../src/domain/spend/money.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  const now = app.clock.now().getTime();
  const today = dayOf(now);
  const add = async (
    name: string,
    options: Parameters<TestApp['createKey']>[0],
    spend?: { day: string; daily?: number; total?: number },
  ): Promise<void> => {
    app.clock.advance(1_000);
    const { record } = await app.createKey({ name, ...options });
    if (!spend) return;
    await app.sql(
      `UPDATE key_spend SET last_day = $3, daily = $4, weekly = $4, monthly = $4, total = $5
       WHERE workspace_id = $1 AND api_key_id = $2`,
      [record.workspaceId, record.id, spend.day, spend.daily ?? 0, spend.total ?? spend.daily ?? 0],
    );
  };
  // In the order of their creation.
  await add('bravo', {}, { day: today, total: 5 });
  await add('Alpha', { limit: parseUsd('2'), limitReset: 'daily' }, { day: today, daily: 2, total: 90 });
  // Spent yesterday: its window is empty again.
  await add(
    'delta',
    { limit: parseUsd('1'), limitReset: 'daily' },
    { day: dayOf(now - DAY), daily: 1, total: 70 },
  );
  await add('charlie', { expiresAt: new Date(now + 3 * DAY) });
  await add('echo', { expiresAt: new Date(now + HOUR) }, { day: dayOf(now - 40 * DAY), total: 3 });
  await add('foxtrot', { expiresAt: new Date(now + 30 * DAY) }, { day: dayOf(now - 2 * DAY), total: 4 });
  await add('gone', { disabled: true, expiresAt: new Date(now + DAY) }, { day: today, total: 100 });
});
afterAll(() => app.close());

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

async function namesOf(query: string): Promise<string[]> {
  const { data } = await askFor<{ data: { name: string; is_management_key: boolean }[] }>(
    200,
    app,
    'get',
    `/keys?${query}`,
  );
  // The account's own keys are older than all others.
  return data.map(({ name }) => name).filter((name) => NAMES.has(name));
}
const NAMES = new Set(['bravo', 'Alpha', 'delta', 'charlie', 'echo', 'foxtrot', 'gone']);

describe('GET /keys?sort=', () => {
  it.each([
    ['sort=created', ['foxtrot', 'echo', 'charlie', 'delta', 'Alpha', 'bravo']],
    ['sort=created&direction=asc', ['bravo', 'Alpha', 'delta', 'charlie', 'echo', 'foxtrot']],
    ['sort=name', ['Alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot']],
    ['sort=name&direction=desc', ['foxtrot', 'echo', 'delta', 'charlie', 'bravo', 'Alpha']],
    ['sort=last_used&direction=asc', ['charlie', 'echo', 'foxtrot', 'delta', 'bravo', 'Alpha']],
    ['sort=expires', ['echo', 'charlie', 'foxtrot', 'bravo', 'Alpha', 'delta']],
  ])('orders keys by %s', async (query, expected) => {
    expect(await namesOf(query)).toEqual(expected);
  });

  it('orders keys by the spend in the window of their limits', async () => {
    expect((await namesOf('sort=spend')).slice(0, 4)).toEqual(['bravo', 'foxtrot', 'echo', 'Alpha']);
    expect((await namesOf('sort=spend&include_disabled=true'))[0]).toBe('gone');
  });

  it('pages in the order, and keeps it in the address of the next page', async () => {
    const all = await namesOf('sort=name&limit=100');
    const pages = [];
    for (let offset = 0; offset < 12; offset += 2)
      pages.push(...(await namesOf(`sort=name&limit=2&offset=${offset}`)));
    expect(pages).toEqual(all);
    const response = await app.http
      .get('/api/v1/keys?sort=name&state=expiring&limit=1')
      .set('authorization', `Bearer ${app.managementKey}`)
      .set('accept', 'text/csv');
    expect(response.headers['link']).toBe(
      '</api/v1/keys?sort=name&state=expiring&limit=1&offset=1>; rel="next"',
    );
  });
});

describe('GET /keys?state=', () => {
  it.each([
    ['stopped', ['Alpha']],
    ['expiring', ['echo', 'charlie']],
    ['unused', ['echo', 'charlie']],
    ['disabled', ['gone']],
  ])('filters keys that are %s', async (state, expected) => {
    expect(await namesOf(`state=${state}&include_disabled=true`)).toEqual(expected);
  });

  it('combines with an order and a part of the name', async () => {
    expect(await namesOf('state=expiring&sort=name')).toEqual(['charlie', 'echo']);
    expect(await namesOf('state=expiring&q=ECH')).toEqual(['echo']);
  });

  it('finds every enabled key stopped when a budget of the workspace is spent', async () => {
    const path = `/workspaces/${app.workspaceId}/budgets/lifetime`;
    await askFor(200, app, 'put', path, { body: { limit_usd: 1 } });
    await app.sql('UPDATE workspace_spend SET total = 1 WHERE workspace_id = $1', [app.workspaceId]);
    const stopped = await namesOf('state=stopped');
    expect(stopped).toEqual(['foxtrot', 'echo', 'charlie', 'delta', 'Alpha', 'bravo']);
    await askFor(200, app, 'delete', path);
    await app.sql('UPDATE workspace_spend SET total = 0');
    expect(await namesOf('state=stopped')).toEqual(['Alpha']);
  });

  it('finds no key of another account', async () => {
    const { managementKey } = await app.createAccount();
    const { body } = await ask(app, 'get', '/keys?state=disabled', { key: managementKey });
    expect(body.data).toEqual([]);
  });
});

it.each([
  ['sort=hash', /sort: must be one of created, name, spend, last_used, expires/],
  ['direction=up', /direction: must be one of asc, desc/],
  ['state=new', /state: must be one of stopped, expiring, unused, disabled/],
])('returns 400 for %s', async (query, message) => {
  expectError(await ask(app, 'get', `/keys?${query}`), 400, message);
});

describe('GET /keys?all_workspaces=true', () => {
  it('lists the keys of all workspaces of the account, in an order, with the limits of each workspace', async () => {
    const account = await app.createAccount();
    const own = { key: account.managementKey };
    const { body } = await ask(app, 'post', '/workspaces', {
      ...own,
      body: { name: 'Second', slug: 'second' },
    });
    const ofSecond = { accountId: account.accountId, workspaceId: body.data.id as string };
    app.clock.advance(1_000);
    await app.createKey({ ...ofSecond, name: 'Aardvark' });
    await askFor(200, app, 'put', `/workspaces/${ofSecond.workspaceId}/budgets/lifetime`, {
      ...own,
      body: { limit_usd: 1 },
    });
    await app.sql('UPDATE workspace_spend SET total = 1 WHERE workspace_id = $1', [ofSecond.workspaceId]);
    const read = async (query: string) => {
      const { data } = await askFor<{
        data: { name: string; workspace_id: string; effective_limit: unknown }[];
      }>(200, app, 'get', `/keys?all_workspaces=true&${query}`, own);
      return data;
    };
    const [first, ...others] = await read('sort=name');
    expect(first).toMatchObject({
      name: 'Aardvark',
      workspace_id: ofSecond.workspaceId,
      effective_limit: { limit_source: 'workspace', remaining_usd: 0 },
    });
    expect(others.length).toBeGreaterThan(0);
    for (const key of others)
      expect(key).toMatchObject({ workspace_id: account.workspaceId, effective_limit: null });
    expect((await read('state=stopped')).map(({ name }) => name)).toEqual(['Aardvark']);
    expect((await read('limit=1'))[0]).toMatchObject({ name: 'Aardvark' });
  });
});
