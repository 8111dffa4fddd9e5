// A record of a response as the body of a request. Contract: docs/contract.md#records-that-are-sent-back.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

type Members = Readonly<Record<string, unknown>>;

interface Resource {
  readonly path: string;
  readonly create: Members;
  /** Members that a second record needs instead of those of the first. */
  readonly again: Members;
  readonly identifier: string;
  readonly readOnly: readonly string[];
  readonly fixed: readonly string[];
}

const RESOURCES: readonly Resource[] = [
  {
    path: '/keys',
    create: {
      name: 'Key',
      limit: 5,
      expires_at: '2099-01-31T12:00:00Z',
      creator_user_id: 'user_1',
      external: { user: 'partner-user' },
    },
    again: {},
    identifier: 'hash',
    readOnly: [
      'hash',
      'label',
      'limit_remaining',
      'usage',
      'usage_daily',
      'usage_weekly',
      'usage_monthly',
      'byok_usage',
      'byok_usage_daily',
      'byok_usage_weekly',
      'byok_usage_monthly',
      'is_management_key',
      'effective_limit',
      'last_used_on',
      'last_used_at',
      'refusals',
      'created_at',
      'updated_at',
    ],
    fixed: ['creator_user_id', 'external_user', 'workspace_id'],
  },
  {
    path: '/observability/destinations',
    create: {
      type: 'webhook',
      name: 'Hook',
      config: { url: 'https://example.com/v1/traces', headers: { 'X-Team': 'a-secret-of-the-team' } },
    },
    again: { config: { url: 'https://example.com/v1/traces' } },
    identifier: 'id',
    readOnly: ['id', 'created_at', 'updated_at'],
    fixed: ['type', 'workspace_id'],
  },
  {
    path: '/workspaces',
    create: { name: 'Team', slug: 'team' },
    again: { slug: 'other' },
    identifier: 'id',
    readOnly: ['id', 'created_at', 'updated_at', 'created_by'],
    fixed: ['default_guardrail_id', 'include_byok_in_budgets'],
  },
  {
    path: '/byok',
    create: { provider: 'openai', key: 'sk-own-0123456789-abcd' },
    again: { key: 'sk-own-0123456789-efgh' },
    identifier: 'id',
    readOnly: ['id', 'label', 'created_at'],
    fixed: ['provider', 'workspace_id'],
  },
  {
    path: '/notifications',
    create: { name: 'Alerts', config: { url: 'https://example.com/' } },
    again: {},
    identifier: 'id',
    readOnly: ['id', 'created_at', 'updated_at'],
    fixed: ['workspace_id'],
  },
];

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
});
afterAll(() => app.close());

const dataOf = async (...question: Parameters<typeof askFor>): Promise<Members> =>
  (await askFor<{ data: Members }>(...question)).data;

describe.each(RESOURCES)('a record of $path', ({ path, create, again, identifier, readOnly, fixed }) => {
  let record: Members;
  let own: string;
  beforeAll(async () => {
    record = await dataOf(201, app, 'post', path, { body: create });
    own = `${path}/${String(record[identifier])}`;
  });

  it('changes nothing in a PATCH', async () => {
    const { updated_at: _time, ...before } = record;
    expect(await dataOf(200, app, 'patch', own, { body: record })).toMatchObject(before);
  });

  it('makes another one in a POST', async () => {
    const { status, body } = await ask(app, 'post', path, { body: { ...record, ...again } });
    expect([status, body]).toEqual([201, expect.anything()]);
    const { data } = body as { data: Members };
    expect(data[identifier]).not.toBe(record[identifier]);
  });

  it('has read-only members, which bodies may have in any form, and which change nothing', async () => {
    const unchanged = await dataOf(200, app, 'get', own);
    for (const name of readOnly)
      for (const value of ['x', 1, null, {}])
        expect([name, (await ask(app, 'patch', own, { body: { [name]: value } })).status]).toEqual([
          name,
          200,
        ]);
    expect(await dataOf(200, app, 'get', own)).toEqual(unchanged);
  });

  it('has members that a PATCH cannot change, and no others that it ignores', async () => {
    for (const name of Object.keys(record).filter((one) => !readOnly.includes(one))) {
      // No member takes this value.
      const response = await ask(app, 'patch', own, { body: { [name]: { another: true } } });
      const problem = expectError(response, 400);
      const isFixed = problem.includes(
        `${name}: cannot be changed here; omit it, or send the value of the record`,
      );
      expect([name, isFixed]).toEqual([name, fixed.includes(name)]);
    }
  });

  it('has no other members', async () => {
    for (const [method, at, body] of [
      ['post', path, create],
      ['patch', own, {}],
    ] as const) {
      const response = await ask(app, method, at, { body: { ...body, hashes: 'x' } });
      expectError(response, 400, 'Invalid request parameters: hashes: is not a member of this object');
    }
  });
});

it('a key can be created disabled', async () => {
  const { data, key } = await askFor<{ data: Members; key: string }>(201, app, 'post', '/keys', {
    body: { name: 'Later', disabled: true },
  });
  expect(data).toMatchObject({ disabled: true });
  expectError(await ask(app, 'get', '/key', { key }), 401);
  await askFor(200, app, 'patch', `/keys/${String(data['hash'])}`, { body: { disabled: false } });
  await askFor(200, app, 'get', '/key', { key });
});

it('a time and an identifier of a record may be spelt in another way', async () => {
  const { hash, workspace_id: id } = await dataOf(201, app, 'post', '/keys', {
    body: { name: 'Spelt', expires_at: '2099-01-31T12:00:00Z' },
  });
  const body = { expires_at: '2099-01-31T12:00:00+00:00', workspace_id: String(id).toUpperCase() };
  await askFor(200, app, 'patch', `/keys/${String(hash)}`, { body });
  const byok = await dataOf(201, app, 'post', '/byok', {
    body: { provider: 'google', key: 'AIza-0123456789' },
  });
  const change = { body: { provider: 'google-ai-studio' } };
  await askFor(200, app, 'patch', `/byok/${String(byok['id'])}`, change);
});

it('a budget may be sent back to its own interval', async () => {
  const path = `/workspaces/${app.workspaceId}/budgets`;
  for (const [interval, limit] of [
    ['daily', 3],
    ['lifetime', 100],
  ] as const) {
    const budget = await dataOf(200, app, 'put', `${path}/${interval}`, { body: { limit_usd: limit } });
    expect(await dataOf(200, app, 'put', `${path}/${interval}`, { body: budget })).toMatchObject({
      id: budget['id'],
      limit_usd: limit,
    });
    const elsewhere = await ask(app, 'put', `${path}/weekly`, { body: budget });
    expectError(elsewhere, 400, /reset_interval: cannot be changed here/);
  }
});
