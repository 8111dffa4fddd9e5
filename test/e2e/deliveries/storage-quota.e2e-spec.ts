// Storage quotas of a workspace: contents beyond the quota are omitted and counted, records beyond it cause calls to
// be rejected.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { GenerationContents } from '../../../src/persistence/contents/generation-contents.js';
import { StorageUsage } from '../../../src/persistence/contents/storage-usage.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { DELIVERY_ENVIRONMENT } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

const DAY = 86_400_000;
// Nothing listens on this port: contents wait.
const NOWHERE = { type: 'webhook', name: 'Webhook', config: { url: 'http://127.0.0.1:9/' } };

const embed = (app: TestApp, { apiKey }: Pick<TestAccount, 'apiKey'>, text = 'words', trace = {}) =>
  ask(app, 'post', '/embeddings', {
    key: apiKey,
    body: { model: 'local/hashing', input: text, dimensions: 8, trace },
  });
const exchange = (app: TestApp): Promise<void> => app.application.get(StorageUsage).exchange();
const storedOf = async (app: TestApp, { workspaceId }: TestAccount): Promise<unknown> => {
  const rows = await app.sql<Record<string, string>>(
    `SELECT sum(log_bytes)::integer AS log, sum(content_bytes)::integer AS contents,
       sum(contents_skipped)::integer AS skipped FROM storage_days WHERE workspace_id = $1`,
    [workspaceId],
  );
  return rows[0];
};

describe('a quota of stored contents', () => {
  const QUOTA = 40_000;
  let app: TestApp;
  let other: TestAccount;
  let destination: string;
  beforeAll(async () => {
    app = await createTestApp({
      environment: { ...DELIVERY_ENVIRONMENT, WORKSPACE_CONTENT_QUOTA_BYTES: String(QUOTA) },
    });
    app.clock.set(new Date().toISOString());
    other = await app.createAccount();
    for (const { managementKey: key } of [app, other]) {
      const { data } = await askFor<{ data: { id: string } }>(
        201,
        app,
        'post',
        '/observability/destinations',
        { body: NOWHERE, key },
      );
      if (key === app.managementKey) destination = data.id;
    }
  });
  afterAll(() => app.close());

  it('omits contents beyond it, serves calls, and counts deliveries without input', async () => {
    const text = 'word '.repeat(4_000);
    for (let count = 0; count < 2; count++) expect((await embed(app, app, text)).status).toBe(200);
    await exchange(app);
    const full = (await storedOf(app, app)) as { contents: number };
    expect(full.contents).toBeGreaterThan(QUOTA);
    const ofContents = async (): Promise<number> => {
      const [row] = await app.sql<{ bytes: number }>(
        'SELECT sum(octet_length(ciphertext))::integer AS bytes FROM generation_contents WHERE workspace_id = $1',
        [app.workspaceId],
      );
      return row?.bytes ?? 0;
    };
    // The counted bytes are the stored bytes.
    expect(await ofContents()).toBe(full.contents);
    for (let count = 0; count < 4; count++) expect((await embed(app, app, text)).status).toBe(200);
    expect(await ofContents()).toBe(full.contents);
    await exchange(app);
    expect(await storedOf(app, app)).toMatchObject({ contents: full.contents, skipped: 4 });
    const { data } = await askFor<{ data: { contents_skipped: number } }>(
      200,
      app,
      'get',
      `/observability/destinations/${destination}/deliveries`,
    );
    expect(data.contents_skipped).toBe(4);
    const { text: metrics } = await app.http.get('/metrics');
    expect(metrics).toContain('signalbox_contents_skipped_total 4');
    expect(metrics).toContain('signalbox_workspaces_above_storage_quota{quota="contents"} 1');
  });

  it('applies to a workspace that fills it faster than processes exchange their sums', async () => {
    const fast = await app.createAccount();
    await askFor(201, app, 'post', '/observability/destinations', { body: NOWHERE, key: fast.managementKey });
    // Random characters, which no compression makes shorter. The interval of exchanges is longer than the test.
    for (let count = 0; count < 16; count++)
      expect((await embed(app, fast, randomBytes(9_000).toString('base64'))).status).toBe(200);
    const [stored] = await app.sql<{ bytes: number }>(
      'SELECT sum(octet_length(ciphertext))::integer AS bytes FROM generation_contents WHERE workspace_id = $1',
      [fast.workspaceId],
    );
    expect(stored?.bytes).toBeGreaterThan(QUOTA / 2);
    // All of them have 144,000 bytes. Calls that are answered before the batch of others is written still store theirs.
    expect(stored?.bytes).toBeLessThan(3 * QUOTA);
  });

  it('does not affect the contents of another workspace', async () => {
    expect((await embed(app, other)).status).toBe(200);
    const rows = await app.sql('SELECT 1 FROM generation_contents WHERE workspace_id = $1', [
      other.workspaceId,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('permits contents again when there is room', async () => {
    await app.application.get(GenerationContents).removeOlderThan(new Date(Date.now() + DAY));
    expect(await storedOf(app, app)).toMatchObject({ contents: 0 });
    await exchange(app);
    expect((await embed(app, app)).status).toBe(200);
    const rows = await app.sql('SELECT 1 FROM generation_contents WHERE workspace_id = $1', [
      app.workspaceId,
    ]);
    expect(rows).toHaveLength(1);
  });
});

describe('a daily quota of the log', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await createTestApp({ environment: { WORKSPACE_DAILY_LOG_QUOTA_BYTES: '30000' } });
  });
  afterEach(() => app.close());

  it('rejects calls beyond it with 429 until the next UTC day, on every replica', async () => {
    const replica = await app.startReplica();
    try {
      const trace = { note: 'x'.repeat(15_000) };
      for (let count = 0; count < 2; count++) expect((await embed(app, app, 'a', trace)).status).toBe(200);
      // A replica reads the sum once it has written for the workspace.
      expect((await embed(replica, app)).status).toBe(200);
      await exchange(app);
      await exchange(replica);
      for (const one of [app, replica]) {
        const rejected = await embed(one, app);
        expectError(rejected, 429, /30000 bytes .* WORKSPACE_DAILY_LOG_QUOTA_BYTES$/);
        // The clock stands at noon.
        expect(rejected.headers['retry-after']).toBe(String(12 * 3_600));
        expect(rejected.body).toMatchObject({
          error: { metadata: { limit_bytes: 30_000, resets_at: '2026-11-19T00:00:00.000Z' } },
        });
      }
      const [logged] = await app.sql<{ count: number }>('SELECT count(*)::integer AS count FROM generations');
      expect(logged?.count).toBe(3);
      expect((await embed(app, await app.createAccount())).status).toBe(200);
      app.clock.set('2026-11-19T00:00:00.000Z');
      expect((await embed(app, app)).status).toBe(200);
    } finally {
      await replica.close();
    }
  });

  it('adds sums that could not be exchanged with the next exchange', async () => {
    expect((await embed(app, app)).status).toBe(200);
    await app.sql('ALTER TABLE storage_days RENAME TO storage_days_away');
    await expect(exchange(app)).rejects.toThrow();
    await app.sql('ALTER TABLE storage_days_away RENAME TO storage_days');
    await exchange(app);
    const { log } = (await storedOf(app, app)) as { log: number };
    expect(log).toBeGreaterThan(200);
    expect(log).toBeLessThan(2_000);
  });
});

describe('a retention of contents of 0 hours', () => {
  it('stores none, and serves and records calls', async () => {
    const app = await createTestApp({
      environment: { ...DELIVERY_ENVIRONMENT, CONTENT_RETENTION_HOURS: '0' },
    });
    try {
      await askFor(201, app, 'post', '/observability/destinations', { body: NOWHERE });
      expect((await embed(app, app)).status).toBe(200);
      expect(await app.sql('SELECT FROM generations')).toHaveLength(1);
      expect(await app.sql('SELECT FROM generation_contents')).toEqual([]);
    } finally {
      await app.close();
    }
  });
});
