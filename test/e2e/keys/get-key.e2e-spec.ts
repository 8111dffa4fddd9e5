// GET /keys/{hash}: the record of a key. Authorization and rate limits have their own files.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { freshRecord, getKey } from '../../support/requests/get-key.js';
import { recordStatements } from '../../support/database/statements.js';

const NOW = '2026-11-18T12:00:00.000Z';
const UNKNOWN_HASH = 'ab'.repeat(32);

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

async function recordOf(key: TestKey): Promise<Record<string, unknown>> {
  const response = await getKey(app, key.record.hash);
  expect(response.status).toBe(200);
  return (response.body as { data: Record<string, unknown> }).data;
}

interface Spend {
  readonly last_day: string;
  readonly total?: string;
  readonly daily?: string;
  readonly weekly?: string;
  readonly monthly?: string;
  readonly byok_total?: string;
  readonly byok_daily?: string;
  readonly byok_weekly?: string;
  readonly byok_monthly?: string;
}

async function arrangeSpend({ record }: TestKey, spend: Spend): Promise<void> {
  const columns = Object.keys(spend);
  await app.sql(
    `UPDATE key_spend SET ${columns.map((column, index) => `${column} = $${index + 2}`).join()} WHERE api_key_id = $1`,
    [record.id, ...Object.values(spend)],
  );
}

/** Reads at another time, and returns to the present. */
async function at<Answer>(moment: string, read: () => Promise<Answer>): Promise<Answer> {
  app.clock.set(moment);
  try {
    return await read();
  } finally {
    app.clock.set(NOW);
  }
}

describe('200', () => {
  it('reads a key, its limits and its last use by one statement', async () => {
    const { record } = await app.createKey({ name: 'One statement' });
    // From here on the caller is known.
    await getKey(app, record.hash);
    const recording = recordStatements();
    try {
      expect((await getKey(app, record.hash)).status).toBe(200);
    } finally {
      recording.stop();
    }
    const ids = [record.hash, record.id, app.workspaceId];
    const statements = [...recording.statements.values()].filter(({ values }) =>
      ids.some((id) => values.flat().includes(id)),
    );
    expect(statements).toHaveLength(1);
    expect(statements[0]?.isPrepared).toBe(true);
  });

  it('has every member for a new key, with null for unset ones', async () => {
    const key = await app.createKey({ name: 'Fresh' });
    const response = await getKey(app, key.record.hash);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ data: freshRecord(app, key.secret, 'Fresh') });
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.text).not.toContain(key.secret);
  });

  it('shows every option of a key', async () => {
    const key = await app.createKey({
      limit: parseUsd('12.5'),
      limitReset: 'weekly',
      includeByokInLimit: true,
      expiresAt: new Date('2027-01-01T00:00:00Z'),
      creatorUserId: 'user_1',
    });
    await app.sql(
      `UPDATE api_keys SET disabled = true, updated_at = '2026-11-18T13:00:00Z', external_user = 'partner' WHERE id = $1`,
      [key.record.id],
    );
    expect(await recordOf(key)).toMatchObject({
      disabled: true,
      limit: 12.5,
      limit_remaining: 12.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      updated_at: '2026-11-18T13:00:00.000Z',
      expires_at: '2027-01-01T00:00:00.000Z',
      creator_user_id: 'user_1',
      external_user: 'partner',
    });
  });

  it('is returned to a management key for itself', async () => {
    const key = await app.createKey({ kind: 'management' });
    const response = await getKey(app, key.record.hash, `Bearer ${key.secret}`);
    expect(response.body).toMatchObject({ data: { hash: key.record.hash } });
  });

  it('is returned for an expired key', async () => {
    const key = await app.createKey({ expiresAt: new Date('2026-01-01T00:00:00Z') });
    expect(await recordOf(key)).toMatchObject({ expires_at: '2026-01-01T00:00:00.000Z' });
  });

  it("accepts the scheme's name in any case", async () => {
    const response = await getKey(app, app.key.hash, `bearer  ${app.managementKey} `);
    expect(response.status).toBe(200);
  });

  it.each([
    ['the same day', '2026-11-18T23:59:59.999Z', 1, 3, 5],
    ['after midnight', '2026-11-19T00:00:00.000Z', 0, 3, 5],
    ['the last moment of Sunday', '2026-11-22T23:59:59.999Z', 0, 3, 5],
    ['Monday', '2026-11-23T00:00:00.000Z', 0, 0, 5],
    ['the last moment of the month', '2026-11-30T23:59:59.999Z', 0, 0, 5],
    ['the next month', '2026-12-01T00:00:00.000Z', 0, 0, 0],
    ['a year later', '2027-11-18T12:00:00.000Z', 0, 0, 0],
  ])('rolls windows over in UTC at read time: %s', async (_name, moment, daily, weekly, monthly) => {
    const key = await app.createKey();
    const amounts = { total: '10.5', daily: '1', weekly: '3', monthly: '5' };
    await arrangeSpend(key, {
      last_day: '2026-11-18',
      ...amounts,
      byok_total: '21',
      byok_daily: '2',
      byok_weekly: '6',
      byok_monthly: '10',
    });
    expect(await at(moment, () => recordOf(key))).toMatchObject({
      usage: 10.5,
      usage_daily: daily,
      usage_weekly: weekly,
      usage_monthly: monthly,
      byok_usage: 21,
      byok_usage_daily: daily * 2,
      byok_usage_weekly: weekly * 2,
      byok_usage_monthly: monthly * 2,
    });
  });

  it('continues a week over the end of a month', async () => {
    const key = await app.createKey();
    await arrangeSpend(key, { last_day: '2026-11-30', daily: '1', weekly: '1', monthly: '1', total: '1' });
    const record = await at('2026-12-06T23:59:59.999Z', () => recordOf(key));
    expect(record).toMatchObject({ usage_daily: 0, usage_weekly: 1, usage_monthly: 0, usage: 1 });
  });

  it.each([
    [null, false, 90, 90],
    [null, true, 70, 70],
    ['daily', false, 99, 100],
    ['daily', true, 97, 100],
    ['weekly', true, 91, 91],
    ['monthly', false, 95, 95],
  ] as const)(
    'has the remainder of a limit of 100 that resets %s, own provider keys counted: %s',
    async (limitReset, includeByokInLimit, today, tomorrow) => {
      const key = await app.createKey({ limit: parseUsd('100'), limitReset, includeByokInLimit });
      await arrangeSpend(key, {
        last_day: '2026-11-18',
        total: '10',
        daily: '1',
        weekly: '3',
        monthly: '5',
        byok_total: '20',
        byok_daily: '2',
        byok_weekly: '6',
        byok_monthly: '10',
      });
      expect(await recordOf(key)).toMatchObject({ limit: 100, limit_remaining: today });
      const record = await at('2026-11-19T00:00:00Z', () => recordOf(key));
      expect(record).toMatchObject({ limit_remaining: tomorrow });
    },
  );

  it('has no remaining amount for an overspent limit and for a limit of zero', async () => {
    const overspent = await app.createKey({ limit: parseUsd('1') });
    await arrangeSpend(overspent, { last_day: '2026-11-18', total: '1.000001' });
    expect(await recordOf(overspent)).toMatchObject({ limit_remaining: 0 });
    expect(await recordOf(await app.createKey({ limit: 0n }))).toMatchObject({
      limit: 0,
      limit_remaining: 0,
    });
  });

  it('has exact decimal amounts, not sums of floating-point numbers', async () => {
    const key = await app.createKey({ limit: parseUsd('0.3') });
    await arrangeSpend(key, {
      last_day: '2026-11-18',
      total: '0.1',
      daily: '0.000000000001',
      monthly: '123456789.12',
    });
    expect(await recordOf(key)).toMatchObject({
      limit: 0.3,
      // In floating point 0.19999999999999998.
      limit_remaining: 0.2,
      usage: 0.1,
      usage_daily: 1e-12,
      usage_monthly: 123456789.12,
    });
  });
});

describe('404', () => {
  it.each([
    [UNKNOWN_HASH],
    ['x'],
    [UNKNOWN_HASH.slice(1)],
    [`${UNKNOWN_HASH}0`],
    ['%00'],
    ['%F0%9F%94%91'],
    ["'%20OR%201=1"],
    ['..%2f..%2fetc%2fpasswd'],
    ['__proto__'],
  ])('is returned for the hash %s', async (hash) => {
    expectError(await getKey(app, hash), 404, 'Resource not found: no key has this hash');
  });

  it('is returned for a hash in upper case', async () => {
    expectError(await getKey(app, app.key.hash.toUpperCase()), 404, /no key has this hash$/);
  });

  it('is the same for a key of another account as for an unknown one', async () => {
    const other = await app.createAccount();
    expectError(await getKey(app, other.key.hash), 404, 'Resource not found: no key has this hash');
    expect((await getKey(app, other.key.hash, `Bearer ${other.managementKey}`)).status).toBe(200);
  });

  it('is returned for a deleted key', async () => {
    const { record } = await app.createKey();
    await app.sql('UPDATE api_keys SET deleted_at = now() WHERE id = $1', [record.id]);
    expectError(await getKey(app, record.hash), 404, 'Resource not found: no key has this hash');
  });
});
