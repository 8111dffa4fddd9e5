// Objects of another account do not exist for a management key.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { contentOfText } from '../../support/generations/generation.js';
import { expectError } from '../../support/requests/error-shape.js';
import { createCredential } from '../../support/requests/provider-credential.js';

let app: TestApp;
let stranger: TestAccount;
let workspace: { readonly id: string };
let credentialId: string;
let generationId: string;
beforeAll(async () => {
  app = await createTestApp();
  stranger = await app.createAccount();
  const body = { name: 'Secret', slug: 'secret' };
  ({ data: workspace } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', { body }));
  await askFor(200, app, 'put', `/workspaces/${workspace.id}/budgets/daily`, { body: { limit_usd: 1 } });
  await askFor(200, app, 'post', `/workspaces/${workspace.id}/members/add`, {
    body: { user_ids: ['user_1'] },
  });
  ({ id: credentialId } = await createCredential(app, { apiKey: 'a-key-that-is-not-yours' }));
  [generationId = ''] = await recordGenerations(
    app,
    1,
    { createdAt: new Date('2026-11-17T12:00:00.000Z') },
    contentOfText('secret words'),
  );
});
afterAll(() => app.close());

const MEMBERS = { user_ids: ['user_1'] };
const ROUTES: readonly (readonly [Parameters<typeof ask>[1], () => string, object?])[] = [
  ['get', () => `/workspaces/${workspace.id}`],
  ['get', () => '/workspaces/secret'],
  ['patch', () => `/workspaces/${workspace.id}`, { name: 'Mine' }],
  ['delete', () => `/workspaces/${workspace.id}`],
  ['get', () => `/workspaces/${workspace.id}/members`],
  ['post', () => `/workspaces/${workspace.id}/members/add`, MEMBERS],
  ['post', () => `/workspaces/${workspace.id}/members/remove`, MEMBERS],
  ['get', () => `/workspaces/${workspace.id}/budgets`],
  ['get', () => `/workspaces/${workspace.id}/budgets/daily`],
  ['put', () => `/workspaces/${workspace.id}/budgets/daily`, { limit_usd: 9 }],
  ['delete', () => `/workspaces/${workspace.id}/budgets/daily`],
  ['get', () => `/byok/${credentialId}`],
  ['patch', () => `/byok/${credentialId}`, { disabled: true }],
  ['delete', () => `/byok/${credentialId}`],
  ['get', () => `/generation/content?id=${generationId}`],
  ['get', () => `/activity?workspace_id=${workspace.id}`],
  ['get', () => `/activity?api_key_hash=${app.key.hash}`],
];

it('returns 404 on every route that names an object, and changes nothing', async () => {
  const tables = 'workspaces workspace_members workspace_budgets provider_credentials audit_log'.split(' ');
  const read = () =>
    Promise.all(tables.map((table) => app.sql(`SELECT row_to_json(t)::text FROM ${table} t ORDER BY 1`)));
  const before = await read();
  for (const [method, path, body] of ROUTES) {
    const response = await ask(app, method, path(), {
      key: stranger.managementKey,
      ...(body ? { body } : {}),
    });
    expect({ path: path(), status: response.status }).toEqual({ path: path(), status: 404 });
    expectError(response, 404);
  }
  expect(await read()).toEqual(before);
});

it('returns 400 in bodies and lists, as for an unknown object', async () => {
  const asStranger = { key: stranger.managementKey };
  const list = await ask(app, 'get', `/byok?workspace_id=${workspace.id}`, asStranger);
  expect(expectError(list, 400)).toContain('workspace_id: no such workspace');
  const credential = { provider: 'openai', key: 'key-of-a-stranger' };
  for (const foreign of [{ workspace_id: workspace.id }, { allowed_api_key_hashes: [app.key.hash] }]) {
    const created = await ask(app, 'post', '/byok', { ...asStranger, body: { ...credential, ...foreign } });
    expectError(created, 400);
  }
});

it('omits them from lists and sums', async () => {
  const asStranger = { key: stranger.managementKey };
  const workspaces = await askFor(200, app, 'get', '/workspaces', asStranger);
  expect(workspaces).toMatchObject({ data: [{ id: stranger.workspaceId }], total_count: 1 });
  expect(await askFor(200, app, 'get', '/byok', asStranger)).toEqual({ data: [], total_count: 0 });
  expect(await askFor(200, app, 'get', '/activity', asStranger)).toEqual({ data: [] });
  expect(await askFor(200, app, 'get', '/credits', asStranger)).toMatchObject({ data: { total_usage: 0 } });
});

it('rejects an inference key on every management route', async () => {
  for (const [method, path, body] of ROUTES.filter((route) => !route[1]().startsWith('/generation'))) {
    const response = await ask(app, method, path(), { key: app.apiKey, ...(body ? { body } : {}) });
    expect([401, 403]).toContain(response.status);
    expect(response.body).toMatchObject({
      error: { message: 'Only management keys can perform this operation' },
    });
  }
});
