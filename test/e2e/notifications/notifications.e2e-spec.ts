// /notifications: records, rules of their bodies, quota, tenants, audit.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeletedRows } from '../../../src/upkeep/deleted-rows.js';
import { MAX_NOTIFICATIONS_PER_ACCOUNT } from '../../../src/domain/notifications/notification-rule.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import {
  createNotification,
  eventsOf,
  scanPast,
  startAlertReceiver,
} from '../../support/deliveries/notifications.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { spendShare } from '../../support/deliveries/spend-share.js';

const URL_WITH_SECRET = 'https://example.com/hooks/a-secret-path?token=a-secret-token';

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  receiver = await startAlertReceiver();
  // The first scan reads counters, which these tests write themselves.
  await scanPast(app);
});
beforeEach(async () => {
  receiver.forget();
  await app.sql('DELETE FROM notification_rules');
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

const post = (body: object, key = app.managementKey) => ask(app, 'post', '/notifications', { body, key });

describe('a notification', () => {
  it('has defaults, shows no secret, and is read, listed and deleted', async () => {
    const config = { url: URL_WITH_SECRET, headers: { 'X-Team': 'a-secret-of-the-team' } };
    const { body, text } = await post({ name: 'Alerts', config });
    const now = app.clock.now().toISOString();
    const record = {
      id: expect.any(String) as unknown,
      workspace_id: null,
      name: 'Alerts',
      enabled: true,
      covers: ['keys', 'workspace_budgets', 'credits'],
      thresholds: [50, 80, 100],
      config: { url: 'https://example.com/****', headers: { 'X-Team': 'a-se...team' } },
      created_at: now,
      updated_at: now,
    };
    expect(body).toEqual({ data: record });
    expect(text).not.toContain('a-secret');
    const { id } = body.data as { id: string };
    expect(await askFor(200, app, 'get', `/notifications/${id}`)).toEqual({ data: record });
    expect(await askFor(200, app, 'get', '/notifications')).toEqual({ data: [record], total_count: 1 });
    const stored = await app.sql(
      "SELECT encode(config_ciphertext, 'escape') AS config FROM notification_rules",
    );
    expect(JSON.stringify(stored)).not.toContain('a-secret');
    expect(await askFor(200, app, 'delete', `/notifications/${id}`)).toEqual({ deleted: true });
    expectError(await ask(app, 'get', `/notifications/${id}`), 404);
    expectError(await ask(app, 'delete', `/notifications/${id}`), 404);
    const entries = await app.sql<{ action: string }>(
      "SELECT action FROM audit_log WHERE object_type = 'notification' AND object_id = $1 ORDER BY id",
      [id],
    );
    expect(entries.map(({ action }) => action).toSorted()).toEqual(['create', 'delete']);
    expect(JSON.stringify(await app.sql('SELECT * FROM audit_log'))).not.toContain('a-secret');
  });

  it('of a workspace covers its keys and budgets, and is listed with the workspace', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Team', slug: 'team' },
    });
    const created = await createNotification(app, receiver.origin, {
      workspace_id: data.id,
      thresholds: [90, 10],
    });
    expect(created).toMatchObject({
      workspace_id: data.id,
      covers: ['keys', 'workspace_budgets'],
      thresholds: [10, 90],
    });
    await createNotification(app, receiver.origin);
    const list = await askFor<{ data: { id: string }[] }>(
      200,
      app,
      'get',
      `/notifications?workspace_id=${data.id}`,
    );
    expect(list).toMatchObject({ data: [{ id: created.id }], total_count: 1 });
    await askFor(200, app, 'delete', `/workspaces/${data.id}`);
    expectError(await ask(app, 'get', `/notifications/${created.id}`), 404);
    const [entry] = await app.sql(
      "SELECT action FROM audit_log WHERE object_type = 'notification' AND object_id = $1 AND action = 'delete'",
      [created.id],
    );
    expect(entry).toEqual({ action: 'delete' });
  });

  it('keeps its address through a PATCH of the mask, and needs its headers again for another host', async () => {
    const { id } = await createNotification(app, '', {
      config: { url: URL_WITH_SECRET, headers: { 'X-Team': 'a-secret-of-the-team' } },
    });
    const patch = (body: object) => ask(app, 'patch', `/notifications/${id}`, { body });
    expect((await patch({ config: { url: 'https://example.com/****' }, name: 'New' })).status).toBe(200);
    expect(expectError(await patch({ config: { url: 'https://other.example.com/' } }), 400)).toContain(
      'moves the destination to another host',
    );
    expect(expectError(await patch({ config: { url: 'https://other.example.com/****' } }), 400)).toContain(
      'is a mask, which records show',
    );
    for (const mask of ['****', '********', 'a-se...team', 'Bearer a-se...team']) {
      const config = { url: URL_WITH_SECRET, headers: { 'X-Other': mask } };
      const rejection = /^Invalid request parameters: config.headers.X-Other: is a mask, /;
      expectError(await patch({ config }), 400, rejection);
      expectError(await post({ name: 'Copy', config }), 400, rejection);
    }
    expect((await patch({ thresholds: [100], covers: ['credits'], enabled: false })).body).toMatchObject({
      data: { name: 'New', thresholds: [100], covers: ['credits'], enabled: false },
    });
  });

  it.each<[string, object]>([
    ['thresholds: must hold whole numbers from 1 to 100', { thresholds: [0] }],
    ['thresholds: must hold whole numbers from 1 to 100', { thresholds: [101] }],
    ['thresholds: must hold whole numbers from 1 to 100', { thresholds: [50.5] }],
    ['thresholds: must hold whole numbers from 1 to 100', { thresholds: ['50'] }],
    ['thresholds: must not repeat an element', { thresholds: [50, 50] }],
    ['thresholds: must have at least 1 element', { thresholds: [] }],
    ['thresholds: must have at most 10 elements', { thresholds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }],
    ['covers: must hold only keys, workspace_budgets, credits', { covers: ['users'] }],
    ['covers: must have at least 1 element', { covers: [] }],
    ['config.url: must not be empty', { config: { url: '' } }],
    [
      'config.method: is not a member of this object',
      { config: { url: 'https://example.com', method: 'PUT' } },
    ],
    [
      'config.headers: must not set webhook-id',
      { config: { url: 'https://example.com', headers: { 'webhook-id': 'x' } } },
    ],
    ['config: ', { config: { url: 'http://10.0.0.1/alerts' } }],
    ['config: ', { config: { url: 'ftp://example.com/' } }],
    ['workspace_id: no such workspace', { workspace_id: '019a960b-d800-7000-8000-000000000000' }],
  ])('is refused with "%s"', async (detail, change) => {
    const response = await post({ name: 'Alerts', config: { url: 'https://example.com' }, ...change });
    expect(expectError(response, 400)).toContain(detail);
    expect(await app.sql('SELECT 1 FROM notification_rules')).toEqual([]);
  });

  it('of a workspace cannot watch credits', async () => {
    const body = { name: 'A', config: { url: 'https://example.com' }, workspace_id: app.workspaceId };
    expect(expectError(await post({ ...body, covers: ['credits'] }), 400)).toContain(
      'covers: credits belong',
    );
    const { id } = await createNotification(app, 'https://example.com', { workspace_id: app.workspaceId });
    const change = { body: { covers: ['keys', 'credits'] } };
    expect(expectError(await ask(app, 'patch', `/notifications/${id}`, change), 400)).toContain('covers: ');
  });

  it('is refused to inference keys', async () => {
    expectError(await post({ name: 'A', config: { url: 'https://example.com' } }, app.apiKey), 403);
  });

  it('beyond the quota is refused with 409, exactly', async () => {
    const body = { name: 'A', config: { url: 'https://example.com' } };
    const attempts = Array.from({ length: MAX_NOTIFICATIONS_PER_ACCOUNT + 5 }, () => post(body));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(MAX_NOTIFICATIONS_PER_ACCOUNT);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    const stranger = await app.createAccount();
    expect((await post(body, stranger.managementKey)).status).toBe(201);
  });
});

describe('the events of a notification', () => {
  it('are paged, filtered by state, and removed with it', async () => {
    const { id } = await createNotification(app, receiver.origin);
    for (let number = 0; number < 3; number++) {
      app.clock.advance(1);
      await spendShare(app, app, 50);
    }
    interface Page {
      readonly data: readonly { readonly id: string }[];
      readonly next: string | null;
    }
    const read = (query: string) => askFor<Page>(200, app, 'get', `/notifications/${id}/events?${query}`);
    const all = await read('');
    expect(all.data).toHaveLength(3);
    const first = await read('limit=2');
    const second = await read(`limit=2&after=${first.next}`);
    expect([...first.data, ...second.data].map((event) => event.id)).toEqual(
      all.data.map((event) => event.id),
    );
    expect(second.next).toBeNull();
    expect((await read('state=dead_letter')).data).toEqual([]);
    expectError(await ask(app, 'get', `/notifications/${id}/events?state=lost`), 400);
    await askFor(200, app, 'delete', `/notifications/${id}`);
    expect(
      await app.sql('SELECT 1 FROM notification_events UNION ALL SELECT 1 FROM notification_marks'),
    ).toEqual([]);
  });

  it('are purged after 30 days, and are not reported again for that', async () => {
    const { id } = await createNotification(app, receiver.origin);
    await spendShare(app, app, 50);
    const days = (count: number) =>
      app.sql('UPDATE notification_events SET created_at = $1', [
        new Date(app.clock.now().getTime() - count * 86_400_000),
      ]);
    await days(29);
    await app.application.get(DeletedRows).purge();
    expect(await eventsOf(app, id)).toHaveLength(1);
    await days(31);
    await app.application.get(DeletedRows).purge();
    expect(await eventsOf(app, id)).toEqual([]);
    expect(await app.sql('SELECT threshold FROM notification_marks')).toEqual([{ threshold: 50 }]);
  });
});

describe('a test of a notification', () => {
  it('sends a signed event, and reports what is wrong', async () => {
    const { id } = await createNotification(app, receiver.origin);
    expect(await askFor(200, app, 'post', `/notifications/${id}/test`)).toMatchObject({
      data: { ok: true, reason: null },
    });
    const [request] = receiver.requests;
    expect(request?.headers['webhook-signature']).toMatch(/^v1,/);
    expect(JSON.parse(request?.bytes.toString() ?? '')).toMatchObject({
      type: 'notification.test',
      notification_id: id,
    });
    receiver.always({ status: 404, body: 'words of the receiver' });
    expect(await askFor(200, app, 'post', `/notifications/${id}/test`)).toMatchObject({
      data: { ok: false, reason: 'HTTP 404' },
    });
  });

  it('is limited to ten a minute for an account', async () => {
    const stranger = await app.createAccount();
    const key = stranger.managementKey;
    const { id } = await createNotification(app, receiver.origin, {}, key);
    for (let made = 0; made < 10; made++)
      await askFor(200, app, 'post', `/notifications/${id}/test`, { key });
    const refused = await ask(app, 'post', `/notifications/${id}/test`, { key });
    expectError(refused, 429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });
});
