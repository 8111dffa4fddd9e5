// /workspaces: create, list, get, update, delete.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { createDestination } from '../../support/deliveries/deliveries.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { createCredential } from '../../support/requests/provider-credential.js';

interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly [member: string]: unknown;
}

let app: TestApp;
beforeAll(async () => (app = await createTestApp()));
afterAll(() => app.close());

let made = 0;
async function createWorkspace(body: object = {}): Promise<Workspace> {
  made += 1;
  const sent = { name: 'Made', slug: `made-${made}`, ...body };
  return (await askFor<{ data: Workspace }>(201, app, 'post', '/workspaces', { body: sent })).data;
}

describe('POST /workspaces', () => {
  it('returns the whole record', async () => {
    const body = { name: 'Production', slug: 'production', description: 'For customers' };
    expect(await createWorkspace(body)).toEqual({
      ...body,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: app.clock.now().toISOString(),
      updated_at: null,
      created_by: null,
      is_observability_broadcast_enabled: true,
      include_byok_in_budgets: false,
      default_text_model: null,
      default_image_model: null,
      default_provider_sort: null,
      default_guardrail_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5/),
      is_observability_io_logging_enabled: false,
      io_logging_sampling_rate: 1,
      io_logging_api_key_ids: null,
      is_data_discount_logging_enabled: false,
      disabled_server_tools: null,
    });
  });

  it.each([
    ['name', { name: '' }, 'name: must not be empty'],
    ['name', { name: 'x'.repeat(101) }, 'name: must have at most 100 characters'],
    [
      'slug',
      { slug: 'Two--Hyphens' },
      'slug: must be lower-case letters and digits, in runs joined by single',
    ],
    ['slug', { slug: 'x'.repeat(51) }, 'slug: must have at most 50 characters'],
    ['slug', { slug: 'default' }, 'slug: another workspace of the account has it'],
    ['slug', { slug: '019a960b-d800-7000-8000-000000000000' }, 'slug: must not have the form of a UUID'],
    ['description', { description: 'x'.repeat(501) }, 'description: must have at most 500 characters'],
    ['unknown member', { colour: 'red' }, 'colour: is not a member of this object'],
    ['absent setting', { is_observability_io_logging_enabled: true }, 'this service has no such setting'],
    ['absent setting', { disabled_server_tools: ['bash'] }, 'disabled_server_tools: must be null'],
  ])('returns 400 for %s %j', async (_name, body, message) => {
    const response = await ask(app, 'post', '/workspaces', {
      body: { name: 'Refused', slug: 'refused', ...body },
    });
    expect(expectError(response, 400)).toContain(message);
  });

  it('creates one of 50 parallel workspaces with the same slug', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        ask(app, 'post', '/workspaces', { body: { name: 'Race', slug: 'race' } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 49 }, () => 400),
    ]);
  });
});

describe('GET and PATCH /workspaces/{id}', () => {
  it('accept the id or the slug', async () => {
    const workspace = await createWorkspace();
    for (const ref of [workspace.id, workspace.slug])
      expect(await askFor(200, app, 'get', `/workspaces/${ref}`)).toEqual({ data: workspace });
  });

  it('keep omitted members, and record the change in the audit log', async () => {
    const workspace = await createWorkspace({ description: 'Before' });
    const change = { is_observability_broadcast_enabled: false, slug: `${workspace.slug}-renamed` };
    const { data } = await askFor<{ data: Workspace }>(200, app, 'patch', `/workspaces/${workspace.slug}`, {
      body: change,
    });
    expect(data).toEqual({ ...workspace, ...change, updated_at: app.clock.now().toISOString() });
    const rows = await app.sql(
      'SELECT action, before, after FROM audit_log WHERE object_id = $1 ORDER BY action',
      [workspace.id],
    );
    expect(rows).toEqual([
      { action: 'create', before: null, after: workspace },
      { action: 'update', before: workspace, after: data },
    ]);
  });

  it('clear a description with null; an empty change changes nothing', async () => {
    const workspace = await createWorkspace({ description: 'Before' });
    const path = `/workspaces/${workspace.id}`;
    expect(await askFor(200, app, 'patch', path, { body: {} })).toEqual({ data: workspace });
    expect(await askFor(200, app, 'patch', path, { body: { description: null } })).toMatchObject({
      data: { description: null },
    });
  });

  it('return 400 for a taken slug', async () => {
    const { id } = await createWorkspace();
    const response = await ask(app, 'patch', `/workspaces/${id}`, { body: { slug: 'default' } });
    expect(expectError(response, 400)).toContain('slug: another workspace of the account has it');
  });
});

describe('DELETE /workspaces/{id}', () => {
  it('is rejected while keys remain', async () => {
    const { id } = await createWorkspace();
    await app.createKey({ workspaceId: id });
    const rejected = await ask(app, 'delete', `/workspaces/${id}`);
    expect(expectError(rejected, 400)).toContain('the workspace has 1 API key; delete them first');
    await app.sql('UPDATE api_keys SET deleted_at = now() WHERE workspace_id = $1', [id]);
    expect(await askFor(200, app, 'delete', `/workspaces/${id}`)).toEqual({ deleted: true });
  });

  it('deletes destinations, own provider keys and budgets, and frees the slug', async () => {
    const { id, slug } = await createWorkspace();
    const destination = await createDestination(app, { url: 'http://127.0.0.1:9/' }, { workspaceId: id });
    const credential = await createCredential(app, {
      workspaceId: id,
      apiKey: 'own-key-of-a-deleted-workspace',
    });
    await askFor(200, app, 'put', `/workspaces/${id}/budgets/daily`, { body: { limit_usd: 1 } });
    await askFor(200, app, 'delete', `/workspaces/${slug}`);
    expectError(await ask(app, 'get', `/observability/destinations/${destination.id}`), 404);
    const [secret] = await app.sql<{ ciphertext: Buffer }>(
      'SELECT ciphertext FROM provider_credentials WHERE id = $1 AND deleted_at IS NOT NULL',
      [credential.id],
    );
    expect(secret!.ciphertext).toHaveLength(0);
    expect(await app.sql('SELECT 1 FROM workspace_budgets WHERE workspace_id = $1', [id])).toEqual([]);
    for (const ref of [id, slug]) expectError(await ask(app, 'get', `/workspaces/${ref}`), 404);
    expectError(await ask(app, 'delete', `/workspaces/${id}`), 404);
    expect((await createWorkspace({ slug })).id).not.toBe(id);
  });

  it('leaves no objects that are created at the same moment', async () => {
    const { id } = await createWorkspace();
    const [removal, ...keys] = await Promise.allSettled([
      askFor(200, app, 'delete', `/workspaces/${id}`),
      ...Array.from({ length: 4 }, () => app.createKey({ workspaceId: id })),
    ]);
    const [row] = await app.sql<{ count: number }>(
      'SELECT count(*)::int FROM api_keys WHERE workspace_id = $1',
      [id],
    );
    // Either the keys came first and the deletion was rejected, or none of them exists.
    const isDeleted = removal.status === 'fulfilled';
    expect(keys.filter(({ status }) => status === 'fulfilled')).toHaveLength(row!.count);
    if (isDeleted) expect(row).toEqual({ count: 0 });
    else expect(row!.count).toBeGreaterThan(0);
    await app.sql('UPDATE api_keys SET deleted_at = now() WHERE workspace_id = $1', [id]);
    if (!isDeleted) await askFor(200, app, 'delete', `/workspaces/${id}`);
    await expect(app.createKey({ workspaceId: id })).rejects.toThrow('no such workspace');
    const response = await ask(app, 'post', '/byok', {
      body: { provider: 'openai', key: 'some-long-enough-key', workspace_id: id },
    });
    expect(expectError(response, 400)).toContain('workspace_id: no such workspace');
  });

  it('of the default workspace needs a confirmation; its inference keys are disabled', async () => {
    const other = await app.createAccount();
    const asOther = { key: other.managementKey };
    const { data: hook } = await askFor<{ data: { id: string } }>(
      201,
      app,
      'post',
      '/observability/destinations',
      {
        ...asOther,
        body: WEBHOOK,
      },
    );
    const rejected = await ask(app, 'delete', '/workspaces/default', asOther);
    expect(expectError(rejected, 400)).toContain('confirm_default_workspace_deletion=true');
    const path = '/workspaces/default?confirm_default_workspace_deletion=true';
    expect(await askFor(200, app, 'delete', path, asOther)).toEqual({ deleted: true });
    expectError(await ask(app, 'get', '/generation?id=x', { key: other.apiKey }), 401);
    // For good: the limits that bounded them are gone.
    const key = { ...asOther, body: { disabled: false } };
    expectError(await ask(app, 'patch', `/keys/${other.key.hash}`, key), 400, /no such workspace/);
    const destination = { ...asOther, body: { enabled: true } };
    expectError(await ask(app, 'patch', `/observability/destinations/${hook.id}`, destination), 404);
    expectError(await ask(app, 'get', '/generation?id=x', { key: other.apiKey }), 401);
    expect(await askFor(200, app, 'get', '/workspaces', asOther)).toEqual({ data: [], total_count: 0 });
    const list = await ask(app, 'get', '/byok', asOther);
    expect(expectError(list, 400)).toContain('the default workspace was deleted, name another one');
  });
});
