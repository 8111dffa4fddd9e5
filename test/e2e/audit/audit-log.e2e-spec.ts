// GET /audit: every change of keys and destinations with its author, and no secret.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const DESTINATIONS = '/observability/destinations';

interface Entry {
  readonly id: string;
  readonly created_at: string;
  readonly actor: Readonly<Record<string, unknown>>;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly workspace_id: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}
interface Page {
  readonly data: readonly Entry[];
  readonly next: string | null;
}
interface Created {
  readonly data: { readonly id: string; readonly hash: string };
  readonly key: string;
}

let app: TestApp;
let account: TestAccount;
beforeAll(async () => {
  app = await createTestApp();
});
// Every test has its own account, because the log is never emptied.
beforeEach(async () => {
  account = await app.createAccount();
});
afterAll(() => app.close());

type Method = Parameters<typeof ask>[1];

/** One change a second, as the account. */
async function change<Body>(status: number, method: Method, path: string, body?: object): Promise<Body> {
  app.clock.advance(1_000);
  return askFor<Body>(status, app, method, path, { key: account.managementKey, ...(body ? { body } : {}) });
}
const readLog = (query = ''): Promise<Page> =>
  askFor(200, app, 'get', `/audit${query}`, { key: account.managementKey });
const actionsOf = ({ data }: Page): string[] => data.map(({ action }) => action);

describe('a change of a destination', () => {
  it('is recorded with the state before and after, in the order of the changes', async () => {
    const created = await change<Created>(201, 'post', DESTINATIONS, WEBHOOK);
    const path = `${DESTINATIONS}/${created.data.id}`;
    const renamed = await change<Created>(200, 'patch', path, { name: 'Renamed' });
    await change(200, 'delete', path);
    const { data, next } = await readLog();
    const facts = {
      object_type: 'destination',
      object_id: created.data.id,
      workspace_id: account.workspaceId,
    };
    expect(data).toMatchObject([
      { ...facts, action: 'delete', before: renamed.data, after: null },
      { ...facts, action: 'update', before: created.data, after: renamed.data },
      { ...facts, action: 'create', before: null, after: created.data },
    ]);
    expect(next).toBeNull();
    expect(data[0]?.created_at).toBe(app.clock.now().toISOString());
  });

  it('is recorded with its author, address and user agent', async () => {
    await app.http
      .post(`/api/v1${DESTINATIONS}`)
      .set('authorization', `Bearer ${account.managementKey}`)
      .set('x-request-id', 'request-7')
      .set('user-agent', `terraform/1.9 ${'x'.repeat(1_000)}`)
      .send(WEBHOOK)
      .expect(201);
    const { data } = await askFor<{ data: { label: string } }>(200, app, 'get', '/key', {
      key: account.managementKey,
    });
    const [entry] = (await readLog()).data;
    expect(entry?.actor).toEqual({
      key_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      user_id: null,
      key_label: data.label,
      key_name: 'Test key',
      ip: expect.stringMatching(/127\.0\.0\.1$/),
      request_id: 'request-7',
      user_agent: expect.stringMatching(/^terraform\/1\.9 x{498}$/),
    });
  });

  it('is not recorded when it fails with a conflict or an invalid body', async () => {
    for (let count = 0; count < 5; count++) await change(201, 'post', DESTINATIONS, WEBHOOK);
    await change(409, 'post', DESTINATIONS, WEBHOOK);
    await change(400, 'post', DESTINATIONS, { ...WEBHOOK, type: 'pigeon' });
    expect(actionsOf(await readLog())).toEqual(Array(5).fill('create'));
  });

  it('is rolled back when it cannot be recorded', async () => {
    const { data } = await change<Created>(201, 'post', DESTINATIONS, WEBHOOK);
    await app.sql('ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (request_id <> $$broken$$)');
    try {
      const response = await app.http
        .delete(`/api/v1${DESTINATIONS}/${data.id}`)
        .set('authorization', `Bearer ${account.managementKey}`)
        .set('x-request-id', 'broken');
      expectError(response, 500, 'Internal Server Error');
    } finally {
      await app.sql('ALTER TABLE audit_log DROP CONSTRAINT broken');
    }
    await change(200, 'get', `${DESTINATIONS}/${data.id}`);
    expect(actionsOf(await readLog())).toEqual(['create']);
  });

  it('replaces members that are too long by a note', async () => {
    const rules = Array.from({ length: 50 }, () => ({
      field: 'model',
      operator: 'equals',
      value: 'x'.repeat(1_000),
    }));
    await change(201, 'post', DESTINATIONS, { ...WEBHOOK, filter_rules: { groups: [{ rules }] } });
    const [entry] = (await readLog()).data;
    expect(entry?.after?.['filter_rules']).toEqual({ omitted: expect.stringMatching(/^5\d{4} characters/) });
    expect(entry?.after?.['name']).toBe(WEBHOOK.name);
  });
});

describe('a change of a key', () => {
  it('is recorded for all four operations', async () => {
    const { data } = await change<Created>(201, 'post', '/keys', { name: 'Production', limit: 3 });
    const path = `/keys/${data.hash}`;
    await change(200, 'patch', path, { limit: 4 });
    await change(200, 'post', `${path}/rotate`, { grace_period_seconds: 0 });
    await change(200, 'delete', path);
    const log = await readLog();
    expect(actionsOf(log)).toEqual(['delete', 'rotate', 'update', 'create']);
    for (const entry of log.data) {
      expect(entry).toMatchObject({ object_type: 'api_key', object_id: data.hash });
    }
    expect(log.data[2]).toMatchObject({ before: { limit: 3 }, after: { limit: 4 } });
    expect(log.data[0]).toMatchObject({ before: { name: 'Production' }, after: null });
  });
});

describe('the deletion of a workspace', () => {
  it('is recorded once for the workspace and for each object deleted with it', async () => {
    const hook = await change<Created>(201, 'post', DESTINATIONS, WEBHOOK);
    const off = await change<Created>(201, 'post', DESTINATIONS, { ...WEBHOOK, enabled: false });
    const own = await change<Created>(201, 'post', '/byok', { provider: 'openai', key: 'sk-own-0123456789' });
    await change(200, 'put', '/workspaces/default/budgets/monthly', { limit_usd: 5 });
    const disabled = await change<Created>(201, 'post', '/keys', { name: 'Off already' });
    await change(200, 'patch', `/keys/${disabled.data.hash}`, { disabled: true });
    const before = (await readLog()).data[0]?.id ?? '';
    await change(200, 'delete', '/workspaces/default?confirm_default_workspace_deletion=true');
    const entries = (await readLog()).data.filter(({ id }) => id > before);
    const facts = { workspace_id: account.workspaceId, created_at: app.clock.now().toISOString() };
    const { actor } = entries[0] ?? {};
    expect(entries).toHaveLength(6);
    for (const entry of entries) expect(entry).toMatchObject({ ...facts, actor });
    const logged = new Map(entries.map((entry) => [entry.object_type, entry]));
    expect(logged.get('workspace')).toMatchObject({ action: 'delete', object_id: account.workspaceId });
    const { name, label, hash } = account.key;
    const key = { action: 'update', object_id: hash, before: { name, label, disabled: false } };
    expect(logged.get('api_key')).toMatchObject({ ...key, after: { name, label, disabled: true } });
    const shown = { name: WEBHOOK.name, type: WEBHOOK.type };
    for (const [{ data }, enabled] of [[hook, true] as const, [off, false] as const]) {
      expect(entries).toContainEqual(
        expect.objectContaining({
          action: 'delete',
          object_type: 'destination',
          object_id: data.id,
          before: { ...shown, enabled },
          after: null,
        }),
      );
    }
    expect(logged.get('provider_credential')).toMatchObject({
      action: 'delete',
      object_id: own.data.id,
      before: { provider: 'openai', name: null, label: 'sk-o...6789' },
      after: null,
    });
    const budget = { action: 'delete', object_id: 'monthly', before: { limit_usd: 5 }, after: null };
    expect(logged.get('workspace_budget')).toMatchObject(budget);
  });
});

describe('secrets', () => {
  it('appear neither in responses nor in the table', async () => {
    const secrets = [
      'sk-lf-0123456789abcdef',
      'pk-lf-0123456789abcdef',
      'a-header-that-is-secret',
      'rotated-secret-1',
    ];
    const [secretKey, publicKey, header, rotated] = secrets;
    const { data } = await change<Created>(201, 'post', DESTINATIONS, {
      type: 'langfuse',
      name: 'n',
      config: { secretKey, publicKey, headers: { 'X-A': header } },
    });
    await change(200, 'patch', `${DESTINATIONS}/${data.id}`, { config: { secretKey: rotated } });
    const partner = 'partner-0123456789-abcdefghijklmnop';
    const created = await change<Created>(201, 'post', '/keys', {
      name: 'n',
      external: { user: 'u', api_key: partner },
    });
    const replaced = await change<Created>(200, 'post', `/keys/${created.data.hash}/rotate`, {});
    const stored = await app.sql('SELECT audit_log::text AS text FROM audit_log WHERE account_id = $1', [
      account.accountId,
    ]);
    const texts = JSON.stringify([await readLog(), stored]);
    for (const secret of [...secrets, partner, created.key, replaced.key])
      expect(texts).not.toContain(secret);
    expect(stored).toHaveLength(4);
  });
});

describe('the log', () => {
  it('contains entries of this account only', async () => {
    await change(201, 'post', DESTINATIONS, WEBHOOK);
    account = await app.createAccount();
    expect(await readLog()).toEqual({ data: [], next: null });
  });

  it('lists each entry once, also while entries are added', async () => {
    const { data } = await change<Created>(201, 'post', '/keys', { name: '0' });
    for (let count = 1; count < 7; count++) {
      await change(200, 'patch', `/keys/${data.hash}`, { name: String(count) });
    }
    const names: unknown[] = [];
    let next: string | null = null;
    do {
      const page: Page = await readLog(`?limit=3${next === null ? '' : `&after=${next}`}`);
      names.push(...page.data.map(({ after }) => after?.['name']));
      ({ next } = page);
      await change(201, 'post', '/keys', { name: 'added between pages' });
    } while (next !== null);
    expect(names).toEqual(['6', '5', '4', '3', '2', '1', '0']);
  });

  it('is filtered by object, action and time', async () => {
    const key = await change<Created>(201, 'post', '/keys', { name: 'n' });
    const between = new Date(app.clock.now().getTime() + 500).toISOString();
    await change(200, 'patch', `/keys/${key.data.hash}`, { name: 'm' });
    const destination = await change<Created>(201, 'post', DESTINATIONS, WEBHOOK);
    expect(actionsOf(await readLog('?object_type=api_key'))).toEqual(['update', 'create']);
    expect(actionsOf(await readLog(`?object_id=${destination.data.id}`))).toEqual(['create']);
    expect(actionsOf(await readLog('?object_type=api_key&action=update'))).toEqual(['update']);
    expect(actionsOf(await readLog(`?from=${between}`))).toEqual(['create', 'update']);
    expect(actionsOf(await readLog(`?to=${between}`))).toEqual(['create']);
    expect(actionsOf(await readLog('?object_type=workspace'))).toEqual([]);
    const ofAllTimes = '?from=1900-01-01T00:00:00Z&to=9999-12-31T23:59:59Z';
    expect(actionsOf(await readLog(ofAllTimes))).toHaveLength(actionsOf(await readLog()).length);
  });

  it('is filtered by workspace, where budgets are named by intervals and members by users', async () => {
    const user = 'u'.repeat(256);
    await change(201, 'post', '/workspaces', { name: 'W', slug: 'w' });
    for (const slug of ['default', 'w']) {
      await change(200, 'put', `/workspaces/${slug}/budgets/monthly`, { limit_usd: 5 });
      await change(200, 'post', `/workspaces/${slug}/members/add`, { user_ids: [user] });
    }
    const { data } = await readLog(`?object_id=monthly&workspace_id=${account.workspaceId.toUpperCase()}`);
    expect(data).toMatchObject([{ object_type: 'workspace_budget', workspace_id: account.workspaceId }]);
    expect(actionsOf(await readLog(`?object_id=${user}`))).toEqual(['create', 'create']);
    expect(actionsOf(await readLog(`?workspace_id=${account.workspaceId}`))).toEqual(['create', 'create']);
  });

  it.each([
    ['workspace_id=x', /: workspace_id: must be a UUID$/],
    ['limit=101', /: limit: must be from 1 to 100$/],
    ['limit=x', /: limit: must be a whole number$/],
    ['object_type=secret', /: object_type: must be one of /],
    ['action=read', /: action: must be one of /],
    ['from=yesterday', /: from: must be a time in UTC with seconds/],
    ['to=2026-02-30T00:00:00Z', /: to: must be a time in UTC with seconds/],
    ['from=0000-01-01T00:00:00Z', /: from: must be a time in UTC with seconds/],
    ['after=x', /: after: must be a UUID$/],
    ['object_id=%00', /: object_id: must not hold NUL/],
    ['actor=x', /: actor: is not a member of this object$/],
  ])('returns 400 for %s', async (query, detail) => {
    expectError(await ask(app, 'get', `/audit?${query}`), 400, detail);
  });

  it('cannot be changed, not even by SQL', async () => {
    await change(201, 'post', DESTINATIONS, WEBHOOK);
    const update = app.sql("UPDATE audit_log SET action = 'delete' WHERE account_id = $1", [
      account.accountId,
    ]);
    await expect(update).rejects.toBeInstanceOf(pg.DatabaseError);
  });
});
