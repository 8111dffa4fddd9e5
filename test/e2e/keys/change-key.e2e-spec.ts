// PATCH, DELETE and rotation of keys, and GET /key: on two replicas, because both cache keys and hold spend leases.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashKeySecret } from '../../../src/domain/keys/api-key.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';

interface KeyRecord extends Record<string, unknown> {
  readonly hash: string;
}

const NO_SUCH = 'Resource not found: no key has this hash';
const FIXED = 'cannot be changed here; omit it, or send the value of the record';
const UNKNOWN_HASH = 'ab'.repeat(32);

let setup: Setup;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  setup = await startWithUpstream({ RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' });
  ({ app } = setup);
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

const recordOf = async (hash: string): Promise<KeyRecord> =>
  (await askFor<{ data: KeyRecord }>(200, app, 'get', `/keys/${hash}`)).data;
const patch = async (hash: string, body: object): Promise<KeyRecord> =>
  (await askFor<{ data: KeyRecord }>(200, app, 'patch', `/keys/${hash}`, { body })).data;
const rotate = (hash: string, body: object = {}): Promise<{ data: KeyRecord; key: string }> =>
  askFor(200, app, 'post', `/keys/${hash}/rotate`, { body });

/** The statuses of the key's own record on both replicas. */
const statusesOf = (secret: string): Promise<number[]> =>
  Promise.all([app, replica].map(async (on) => (await ask(on, 'get', '/key', { key: secret })).status));
const becomes = (secret: string, status: number): Promise<number[]> =>
  eventually(
    () => statusesOf(secret),
    (statuses) => statuses.every((one) => one === status),
  );
/** Cached by both replicas. */
async function createUsedKey(): Promise<TestKey> {
  const key = await app.createKey();
  expect(await statusesOf(key.secret)).toEqual([200, 200]);
  return key;
}
const embeddingStatuses = (secret: string): Promise<number[]> =>
  Promise.all(
    [app, replica].map(async (on) => (await embed(on, { model: SMALL, input: 'a' }, secret)).status),
  );

describe('a change', () => {
  it('applies given members, keeps omitted ones, and sets updated_at', async () => {
    const { record } = await app.createKey({ limit: parseUsd('5'), limitReset: 'daily', creatorUserId: 'u' });
    const before = await recordOf(record.hash);
    app.clock.advance(1_000);
    const after = await patch(record.hash, { name: 'Renamed', embedding_cache: true });
    expect(after).toEqual({
      ...before,
      name: 'Renamed',
      embedding_cache: true,
      updated_at: app.clock.now().toISOString(),
    });
    expect(await recordOf(record.hash)).toEqual(after);
    expect(await patch(record.hash, { limit: null, limit_reset: null })).toMatchObject({
      limit: null,
      limit_remaining: null,
      limit_reset: null,
    });
  });

  it('changes nothing when it is empty', async () => {
    const { record } = await app.createKey();
    const before = await recordOf(record.hash);
    expect(await patch(record.hash, {})).toEqual(before);
    expect(before['updated_at']).toBeNull();
  });

  it('disables and enables the key on both replicas at once', async () => {
    const { secret, record } = await createUsedKey();
    await patch(record.hash, { disabled: true });
    await becomes(secret, 401);
    await patch(record.hash, { disabled: false });
    await becomes(secret, 200);
  });

  it('of the limit below the spend stops the key on every replica, and a higher limit resumes it', async () => {
    const { secret, record } = await app.createKey({ limit: parseUsd('1000') });
    // Both replicas hold a lease of the remainder.
    expect(await embeddingStatuses(secret)).toEqual([200, 200]);
    const { usage } = await eventually(
      () => recordOf(record.hash),
      (found) => Number(found['usage']) > 0,
    );
    expect(await patch(record.hash, { limit: Number(usage) / 2 })).toMatchObject({ limit_remaining: 0 });
    await eventually(
      () => embeddingStatuses(secret),
      (statuses) => statuses.every((status) => status === 402),
    );
    await patch(record.hash, { limit: 1_000 });
    await eventually(
      () => embeddingStatuses(secret),
      (statuses) => statuses.every((status) => status === 200),
    );
  });

  it.each([
    [{ nam: 'x' }, 'nam: is not a member of this object'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    [
      { expires_at: 'tomorrow' },
      'expires_at: must be a time in UTC with seconds, such as 2027-01-31T12:00:00Z',
    ],
    [{ workspace_id: UNKNOWN_HASH }, `workspace_id: ${FIXED}`],
    [{ name: null }, 'name: must be a string'],
    [{ name: '' }, 'name: must not be empty'],
    [{ disabled: 'true' }, 'disabled: must be a boolean'],
    [{ disabled: null }, 'disabled: must be a boolean'],
    [{ limit: -0.01 }, 'limit: must not be negative'],
    [{ limit: 4e-13 }, 'limit: must be 0 or at least 1e-12'],
    [{ limit_reset: 'hourly' }, 'limit_reset: must be one of daily, weekly, monthly, or null'],
  ])('returns 400 for %j', async (body, detail) => {
    const response = await ask(app, 'patch', `/keys/${app.key.hash}`, { body });
    expectError(response, 400, `Invalid request parameters: ${detail}`);
  });
});

describe('a changed expiry', () => {
  const at = (milliseconds: number): string =>
    new Date(app.clock.now().getTime() + milliseconds).toISOString();

  it('is in force on both replicas, and can be removed', async () => {
    const { secret, record } = await createUsedKey();
    const expiresAt = at(60_000);
    expect(await patch(record.hash, { expires_at: expiresAt })).toMatchObject({ expires_at: expiresAt });
    expect(await patch(record.hash, { expires_at: null })).toMatchObject({ expires_at: null });
    await patch(record.hash, { expires_at: expiresAt });
    await becomes(secret, 200);
    app.clock.advance(60_000);
    await becomes(secret, 401);
  });

  it('revives no key that has expired, and its record may be sent back', async () => {
    const { record } = await app.createKey({ expiresAt: new Date(at(1_000)) });
    const sentBack = await recordOf(record.hash);
    app.clock.advance(2_000);
    for (const expires_at of [at(60_000), null]) {
      const response = await ask(app, 'patch', `/keys/${record.hash}`, { body: { expires_at } });
      expectError(response, 400, /expires_at: the key has expired, and no change revives it; create another/);
    }
    expect(await patch(record.hash, { expires_at: sentBack['expires_at'], name: 'Old' })).toMatchObject({
      name: 'Old',
    });
  });
});

describe('a rotation', () => {
  it('returns a new secret, and the old one stays valid on both replicas for its grace period', async () => {
    const { secret, record } = await createUsedKey();
    const before = await recordOf(record.hash);
    app.clock.advance(1_000);
    const { data, key } = await rotate(record.hash, { grace_period_seconds: 60 });
    expect(key).not.toBe(secret);
    expect(data).toEqual({
      ...before,
      label: `${key.slice(0, 12)}...${key.slice(-4)}`,
      updated_at: app.clock.now().toISOString(),
    });
    expect(hashKeySecret(key)).not.toBe(record.hash);
    expect(await statusesOf(key)).toEqual([200, 200]);
    await eventually(
      () => app.sql('SELECT 1 FROM api_key_secrets WHERE api_key_id = $1', [record.id]),
      (rows) => rows.length === 2,
    );
    expect(await statusesOf(secret)).toEqual([200, 200]);
    app.clock.advance(59_999);
    expect(await statusesOf(secret)).toEqual([200, 200]);
    app.clock.advance(1);
    // Cached or not: expiry needs no notification.
    await becomes(secret, 401);
    expect(await statusesOf(key)).toEqual([200, 200]);
  });

  it('keeps the spend', async () => {
    const { secret, record } = await app.createKey();
    expect(await embeddingStatuses(secret)).toEqual([200, 200]);
    const spent = await eventually(
      () => recordOf(record.hash),
      (found) => Number(found['usage']) > 0,
    );
    const { data, key } = await rotate(record.hash);
    expect(data['usage']).toBe(spent['usage']);
    expect(await embeddingStatuses(key)).toEqual([200, 200]);
    expect((await recordOf(record.hash))['usage']).toBe(Number(spent['usage']) * 2);
  });

  it('without grace ends the old secret at once', async () => {
    const { secret, record } = await createUsedKey();
    const { key } = await rotate(record.hash, { grace_period_seconds: 0 });
    await becomes(secret, 401);
    expect(await statusesOf(key)).toEqual([200, 200]);
  });

  it('within the grace of another ends the oldest secret: a key has two', async () => {
    const { secret, record } = await createUsedKey();
    const { key: second } = await rotate(record.hash);
    const { key: third } = await rotate(record.hash);
    await becomes(secret, 401);
    expect(await statusesOf(second)).toEqual([200, 200]);
    expect(await statusesOf(third)).toEqual([200, 200]);
    expect(await app.sql('SELECT 1 FROM api_key_secrets WHERE api_key_id = $1', [record.id])).toHaveLength(2);
  });

  it('in parallel leaves two secrets, the last of which does not expire', async () => {
    const { record } = await app.createKey();
    await Promise.all(Array.from({ length: 8 }, () => rotate(record.hash)));
    const rows = await app.sql('SELECT expires_at FROM api_key_secrets WHERE api_key_id = $1', [record.id]);
    expect(rows).toHaveLength(2);
    expect(rows.filter((row) => row['expires_at'] === null)).toHaveLength(1);
  });

  it.each([
    [{ grace_period_seconds: -1 }, 'grace_period_seconds: must not be negative'],
    [{ grace_period_seconds: 2_592_001 }, 'grace_period_seconds: must be at most 2592000'],
    [{ grace_period_seconds: 1.5 }, 'grace_period_seconds: must be a whole number'],
    [{ grace: 1 }, 'grace: is not a member of this object'],
  ])('returns 400 for %j', async (body, detail) => {
    const response = await ask(app, 'post', `/keys/${app.key.hash}/rotate`, { body });
    expectError(response, 400, `Invalid request parameters: ${detail}`);
  });
});

describe('a deletion', () => {
  it('rejects the key everywhere, and removes its record', async () => {
    const { secret, record } = await createUsedKey();
    expect(await askFor(200, app, 'delete', `/keys/${record.hash}`)).toEqual({ deleted: true });
    await becomes(secret, 401);
    expectError(await ask(app, 'get', `/keys/${record.hash}`), 404, NO_SUCH);
    expectError(await ask(app, 'delete', `/keys/${record.hash}`), 404, NO_SUCH);
    expectError(await ask(app, 'patch', `/keys/${record.hash}`, { body: { name: 'x' } }), 404, NO_SUCH);
    expectError(await ask(app, 'post', `/keys/${record.hash}/rotate`, { body: {} }), 404, NO_SUCH);
  });

  it('may be requested by the key itself', async () => {
    const { secret, record } = await app.createKey({ kind: 'management' });
    await askFor(200, app, 'delete', `/keys/${record.hash}`, { key: secret });
    await becomes(secret, 401);
  });

  it.each([UNKNOWN_HASH, 'x', UNKNOWN_HASH.toUpperCase(), '%00'])('returns 404 for %s', async (hash) => {
    expectError(await ask(app, 'delete', `/keys/${hash}`), 404, NO_SUCH);
    expectError(await ask(app, 'patch', `/keys/${hash}`, { body: { name: 'x' } }), 404, NO_SUCH);
    expectError(await ask(app, 'post', `/keys/${hash}/rotate`, { body: {} }), 404, NO_SUCH);
  });
});

describe('GET /key', () => {
  it("returns a key's own record", async () => {
    const { secret, record } = await app.createKey({ limit: parseUsd('2'), limitReset: 'monthly' });
    const { data } = await askFor<{ data: KeyRecord }>(200, app, 'get', '/key', { key: secret });
    expect(data).toEqual({
      label: record.label,
      limit: 2,
      limit_remaining: 2,
      limit_reset: 'monthly',
      include_byok_in_limit: false,
      usage: 0,
      usage_daily: 0,
      usage_weekly: 0,
      usage_monthly: 0,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      creator_user_id: null,
      expires_at: null,
      organization_id: null,
      workspace_id: app.workspaceId,
      allowed_data_regions: ['global'],
      effective_limit: {
        limit_source: 'key',
        limit_window: 'monthly',
        limit_usd: 2,
        spend_usd: 0,
        remaining_usd: 2,
        resets_at: '2026-12-01T00:00:00.000Z',
      },
      last_used_on: null,
      last_used_at: null,
      refusals: null,
      free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
      rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    });
  });

  it('marks a management key', async () => {
    expect(await askFor(200, app, 'get', '/key')).toMatchObject({
      data: { is_management_key: true, is_provisioning_key: true },
    });
  });
});
