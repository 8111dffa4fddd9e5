// The operations of guardrails and of their assignments.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultGuardrailId } from '../../../src/domain/guardrails/guardrail.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

interface Guardrail {
  readonly id: string;
  readonly updated_at: string | null;
}
interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total_count: number;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_CHANGES_PER_MINUTE: '10000' } });
});
afterAll(() => app?.close());

const create = async (body: object = {}): Promise<Guardrail> =>
  (await askFor<{ data: Guardrail }>(201, app, 'post', '/guardrails', { body: { name: 'Rule', ...body } }))
    .data;
const change = (id: string, body: object, status = 200) =>
  askFor<{ data: Guardrail }>(status, app, 'patch', `/guardrails/${id}`, { body });
const createWorkspace = async (slug: string): Promise<string> =>
  (await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', { body: { name: slug, slug } }))
    .data.id;
const addMembers = (userIds: readonly string[], workspaceId = app.workspaceId) =>
  askFor(200, app, 'post', `/workspaces/${workspaceId}/members/add`, { body: { user_ids: userIds } });

describe('POST /guardrails', () => {
  it('a new guardrail is returned whole, with the canonical slugs of its models', async () => {
    const body = { name: 'Strict', description: 'For tests', allowed_models: ['local/hashing', 'hashing'] };
    expect(
      await create({ ...body, allowed_providers: ['local'], enforce_zdr: true, enforce_zdr_xai: false }),
    ).toEqual({
      ...body,
      allowed_models: ['local/hashing'],
      id: expect.any(String),
      workspace_id: app.workspaceId,
      ignored_models: null,
      allowed_providers: ['local'],
      ignored_providers: null,
      enforce_zdr_anthropic: true,
      enforce_zdr_openai: true,
      enforce_zdr_google: true,
      enforce_zdr_xai: false,
      enforce_zdr_other: true,
      enable_paid_model_training: null,
      enable_free_model_training: null,
      enable_free_model_publication: null,
      allowed_data_regions: null,
      include_byok_in_budgets: false,
      limit_usd: null,
      reset_interval: null,
      content_filters: null,
      content_filter_builtins: null,
      reject_unscannable: false,
      created_at: app.clock.now().toISOString(),
      updated_at: null,
    });
  });

  it.each([
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'x'.repeat(1_001) }, 'name: must have at most 1000 characters'],
    [{ allowed_models: [] }, 'allowed_models: must not be empty; null removes the rule'],
    [{ allowed_providers: [] }, 'allowed_providers: must not be empty; null removes the rule'],
    [{ allowed_data_regions: [] }, 'allowed_data_regions: must not be empty; null removes the rule'],
    [{ allowed_data_regions: ['mars'] }, 'allowed_data_regions: must hold only global, europe, us'],
    [{ allowed_models: ['local/hashing', 'no/model'] }, 'allowed_models[1]: is no name of a model'],
    [{ ignored_models: ['.*'] }, 'ignored_models[0]: is no name of a model'],
    [
      { ignored_providers: ['no-such-provider'] },
      'ignored_providers[0]: no provider has the slug no-such-provider',
    ],
    [
      { ignored_models: Array.from({ length: 501 }, () => 'local/hashing') },
      'must have at most 500 elements',
    ],
    [{ colour: 'red' }, 'colour: is not a member of this object'],
  ])('a guardrail with %j is refused, and none is created', async (body, message) => {
    const before = await askFor<Page>(200, app, 'get', '/guardrails');
    const answer = await ask(app, 'post', '/guardrails', { body: { name: 'Refused', ...body } });
    expect(expectError(answer, 400)).toContain(message);
    expect(await askFor<Page>(200, app, 'get', '/guardrails')).toEqual(before);
  });

  it('the 101st guardrail of a workspace is refused, of parallel ones as well', async () => {
    const workspaceId = await createWorkspace('full');
    const answers = await Promise.all(
      Array.from({ length: 103 }, () =>
        ask(app, 'post', '/guardrails', { body: { name: 'Rule', workspace_id: workspaceId } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    const page = await askFor<Page>(200, app, 'get', `/guardrails?workspace_id=${workspaceId}&limit=100`);
    expect([page.data.length, page.total_count]).toEqual([100, 100]);
  });
});

describe('PATCH /guardrails/{id}', () => {
  it('a list is replaced as a whole, null removes it, and omitted members stay', async () => {
    const { id } = await create({ allowed_models: ['local/hashing'], enforce_zdr_openai: true });
    const { data } = await change(id, {
      allowed_models: null,
      ignored_models: ['local/echo'],
      name: 'Other',
    });
    expect(data).toMatchObject({
      name: 'Other',
      allowed_models: null,
      ignored_models: ['local/echo'],
      enforce_zdr_openai: true,
      updated_at: app.clock.now().toISOString(),
    });
  });

  it('a record that is sent back changes nothing', async () => {
    const record = await create({ allowed_providers: ['local'] });
    expect((await change(record.id, record)).data).toEqual(record);
    const entries = await app.sql('SELECT 1 FROM audit_log WHERE object_id = $1', [record.id]);
    expect(entries).toHaveLength(1);
  });

  it('the workspace of a guardrail cannot be changed', async () => {
    const { id } = await create();
    const workspaceId = await createWorkspace('elsewhere');
    const answer = await ask(app, 'patch', `/guardrails/${id}`, { body: { workspace_id: workspaceId } });
    expect(expectError(answer, 400)).toContain('workspace_id: cannot be changed here');
  });
});

describe('the default guardrail of a workspace', () => {
  it('it exists from its first change to its deletion, under the id that the workspace shows', async () => {
    const workspaceId = await createWorkspace('governed');
    const { data: workspace } = await askFor<{ data: { default_guardrail_id: string } }>(
      200,
      app,
      'get',
      `/workspaces/${workspaceId}`,
    );
    const id = workspace.default_guardrail_id;
    expect(id).toBe(defaultGuardrailId(workspaceId));
    expectError(await ask(app, 'get', `/guardrails/${id}`), 404, /no such guardrail/);
    const { data } = await change(id, { ignored_models: ['local/echo'] });
    expect(data).toMatchObject({ id, workspace_id: workspaceId, name: 'Workspace default' });
    await create({ workspace_id: workspaceId });
    const page = await askFor<Page>(200, app, 'get', `/guardrails?workspace_id=${workspaceId}`);
    expect(page.data.map((one) => one['name'])).toEqual(['Workspace default', 'Rule']);
    const assigned = await ask(app, 'post', `/guardrails/${id}/assignments/members`, {
      body: { member_user_ids: ['user_1'] },
    });
    expect(expectError(assigned, 400)).toContain('cannot be assigned');
    await askFor(200, app, 'delete', `/guardrails/${id}`);
    expectError(await ask(app, 'get', `/guardrails/${id}`), 404);
  });

  it('the default guardrail of another account answers like one that does not exist', async () => {
    const { workspaceId } = await app.createAccount();
    const answer = await ask(app, 'patch', `/guardrails/${defaultGuardrailId(workspaceId)}`, { body: {} });
    expectError(answer, 404, /no such guardrail/);
  });
});

describe('assignments', () => {
  it('a key has one guardrail: a new assignment replaces the old one, with an entry in the audit log', async () => {
    const [first, second] = [await create(), await create()];
    const { hash } = (await app.createKey()).record;
    const assign = (id: string) =>
      askFor(200, app, 'post', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [hash, hash] } });
    expect(await assign(first.id)).toEqual({ assigned_count: 1 });
    expect(await assign(first.id)).toEqual({ assigned_count: 0 });
    expect(await assign(second.id)).toEqual({ assigned_count: 1 });
    const none = await askFor<Page>(200, app, 'get', `/guardrails/${first.id}/assignments/keys`);
    expect(none).toEqual({ data: [], total_count: 0 });
    const page = await askFor<Page>(200, app, 'get', `/guardrails/${second.id}/assignments/keys`);
    expect(page).toMatchObject({
      data: [{ guardrail_id: second.id, key_hash: hash, assigned_by: null }],
      total_count: 1,
    });
    const entries = await app.sql<{ action: string }>(
      `SELECT action FROM audit_log WHERE object_type = 'guardrail_assignment' AND object_id = $1 ORDER BY action`,
      [page.data[0]?.['id']],
    );
    expect(entries.map(({ action }) => action)).toEqual(['create', 'update']);
    const remove = (id: string) =>
      askFor(200, app, 'post', `/guardrails/${id}/assignments/keys/remove`, { body: { key_hashes: [hash] } });
    expect(await remove(first.id)).toEqual({ unassigned_count: 0 });
    expect(await remove(second.id)).toEqual({ unassigned_count: 1 });
  });

  it('unknown keys and those of other workspaces are all named, and nothing is assigned', async () => {
    const { id } = await create();
    const { hash } = (await app.createKey()).record;
    const other = (await app.createKey({ workspaceId: await createWorkspace('of-others') })).record;
    const unknown = 'f'.repeat(64);
    const answer = await ask(app, 'post', `/guardrails/${id}/assignments/keys`, {
      body: { key_hashes: [hash, other.hash, unknown] },
    });
    const message = expectError(answer, 400);
    expect(message).toContain(other.hash);
    expect(message).toContain(unknown);
    expect(message).not.toContain(hash);
    expect(await askFor<Page>(200, app, 'get', `/guardrails/${id}/assignments/keys`)).toMatchObject({
      total_count: 0,
    });
  });

  it('an assignment ends with its key, its member or its guardrail', async () => {
    const { id } = await create();
    const { hash } = (await app.createKey()).record;
    await addMembers(['leaving', 'staying']);
    await askFor(200, app, 'post', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [hash] } });
    await askFor(200, app, 'post', `/guardrails/${id}/assignments/members`, {
      body: { member_user_ids: ['leaving', 'staying'] },
    });
    await askFor(200, app, 'delete', `/keys/${hash}`);
    await askFor(200, app, 'post', `/workspaces/${app.workspaceId}/members/remove`, {
      body: { user_ids: ['leaving'] },
    });
    const keys = await askFor<Page>(200, app, 'get', `/guardrails/${id}/assignments/keys`);
    expect(keys.total_count).toBe(0);
    const members = await askFor<Page>(200, app, 'get', `/guardrails/${id}/assignments/members`);
    expect(members.data.map((one) => one['user_id'])).toEqual(['staying']);
    await askFor(200, app, 'delete', `/guardrails/${id}`);
    expect(await app.sql('SELECT 1 FROM guardrail_assignments WHERE guardrail_id = $1', [id])).toEqual([]);
  });
});

it('a deleted workspace has no guardrails, and the audit log says that they went', async () => {
  const workspaceId = await createWorkspace('going');
  const { id } = await create({ workspace_id: workspaceId });
  await askFor(200, app, 'delete', `/workspaces/${workspaceId}`);
  expectError(await ask(app, 'get', `/guardrails/${id}`), 404);
  const entries = await app.sql<{ action: string }>(
    'SELECT action FROM audit_log WHERE object_id = $1 ORDER BY action',
    [id],
  );
  expect(entries.map(({ action }) => action)).toEqual(['create', 'delete']);
});
