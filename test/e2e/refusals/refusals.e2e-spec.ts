// Refused calls: counted exactly over replicas, listed, in analytics and in the records of keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askFor } from '../../support/requests/admin.js';
import { CHANGE, cookieOf } from '../../support/app/console.js';
import type { TestAccount, TestApp, TestKey } from '../../support/app/app.js';
import {
  embed,
  SMALL,
  startWithUpstream,
  answerWithEmbeddings,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { underLoad } from '../../support/extent.js';
import { expectError } from '../../support/requests/error-shape.js';
import { listRefusals, queryRefusals, recordRefusals } from '../../support/requests/refusals.js';
import { mapBounded } from '../../../src/concurrency/map-bounded.js';
import { parseUsd } from '../../../src/domain/spend/money.js';

const HOUR = 3_600_000;
const CALLS = underLoad(2_000);
const REFUSED = underLoad(345);
const ENVIRONMENT = { RATE_LIMIT_INFERENCE_PER_MINUTE: '100000' };

let setup: Setup;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  setup = await startWithUpstream(ENVIRONMENT);
  app = setup.app;
  app.clock.set('2026-11-18T12:30:30Z');
  replica = await app.startReplica();
  setup.upstream.answerWith(answerWithEmbeddings(['[1]'], { prompt_tokens: 1, total_tokens: 1 }));
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

const BODY = { model: SMALL, input: 'a', dimensions: 1 };
const call = (secret: string, to = app, body: object = BODY) => embed(to, body, secret);

interface Refusals {
  readonly last_hour: number;
  readonly last_day: number;
  readonly since: string;
  readonly last_at: string;
  readonly last_reason: string;
}
const refusalsOf = async ({ record }: TestKey): Promise<Refusals | null> => {
  const { data } = await askFor<{ data: { refusals: Refusals | null } }>(
    200,
    app,
    'get',
    `/keys/${record.hash}`,
  );
  return data.refusals;
};
const byKey = (hash: string) => ({ filters: [{ field: 'api_key_id', operator: 'eq', value: hash }] });

/** A key that is not refused yet, of the account of all tests. */
const createPoorKey = (): Promise<TestKey> => app.createKey({ limit: 0n, limitReset: 'daily', name: 'Poor' });

it('every refused call of many over two replicas is counted, and no other', async () => {
  const account = await app.createAccount();
  const ofAccount = { accountId: account.accountId, workspaceId: account.workspaceId };
  const poor = await app.createKey({ ...ofAccount, limit: 0n });
  const statuses: number[] = [];
  await mapBounded([...Array(CALLS).keys()], 40, async (index) => {
    const secret = index < REFUSED ? poor.secret : account.apiKey;
    statuses.push((await call(secret, index % 2 === 0 ? app : replica)).status);
  });
  expect(statuses.filter((status) => status === 402)).toHaveLength(REFUSED);
  expect(statuses.filter((status) => status === 200)).toHaveLength(CALLS - REFUSED);
  await recordRefusals(app, replica);
  // Analytics end before now.
  app.clock.advance(1_000);
  const key = account.managementKey;
  expect(await queryRefusals(app, {}, key)).toEqual([{ refused_count: REFUSED }]);
  const metrics = ['request_count', 'refused_count', 'error_rate', 'latency_p50'];
  const rows = await queryRefusals(app, { metrics, dimensions: ['api_key_id'] }, key);
  expect(rows).toEqual([
    expect.objectContaining({
      api_key_id: account.key.hash,
      request_count: CALLS - REFUSED,
      refused_count: 0,
      error_rate: 0,
    }),
    {
      api_key_id: poor.record.hash,
      request_count: 0,
      refused_count: REFUSED,
      error_rate: null,
      latency_p50: null,
    },
  ]);
  // Of many in two seconds some are kept one by one.
  const listed = await listRefusals(app, '', key);
  expect(listed.length).toBeGreaterThanOrEqual(Math.min(40, REFUSED));
  expect(listed.length).toBeLessThanOrEqual(100);
});

describe('a call that the limit of its key refuses', () => {
  it('is listed with its request id, what it needed and what was left', async () => {
    const key = await app.createKey({ limit: parseUsd('0.00000001'), limitReset: 'daily', name: 'Search' });
    const refused = await call(key.secret);
    expectError(refused, 402, /^API key limit exceeded/);
    await recordRefusals(app);
    expect(await listRefusals(app, `?api_key_hash=${key.record.hash}`)).toEqual([
      {
        id: expect.any(String),
        created_at: app.clock.now().toISOString(),
        workspace_id: app.workspaceId,
        api_key_hash: key.record.hash,
        api_key_name: 'Search',
        reason: 'key_limit',
        request_id: refused.headers['x-request-id'],
        message: (refused.body as { error: { message: string } }).error.message,
        needed_usd: 0.00000002,
        left_usd: 0.00000001,
        limit_usd: 0.00000001,
        limit_window: 'daily',
        resets_at: '2026-11-19T00:00:00.000Z',
        affordable_output_tokens: null,
      },
    ]);
  });

  it('is in the record of the key, alone and in a list, and not of another key', async () => {
    const key = await createPoorKey();
    const other = await createPoorKey();
    expect(await refusalsOf(key)).toBeNull();
    const since = app.clock.now().toISOString();
    await call(key.secret);
    app.clock.advance(61_000);
    await call(key.secret);
    await recordRefusals(app);
    const expected = {
      last_hour: 2,
      last_day: 2,
      since,
      last_at: app.clock.now().toISOString(),
      last_reason: 'key_limit',
    };
    expect(await refusalsOf(key)).toEqual(expected);
    const { data } = await askFor<{ data: { hash: string; refusals: unknown }[] }>(200, app, 'get', '/keys');
    expect(data.find(({ hash }) => hash === key.record.hash)?.refusals).toEqual(expected);
    expect(data.find(({ hash }) => hash === other.record.hash)?.refusals).toBeNull();
    const { data: own } = await askFor<{ data: { refusals: unknown } }>(200, app, 'get', '/key', {
      key: key.secret,
    });
    expect(own.refusals).toEqual(expected);
    app.clock.advance(HOUR);
    expect(await refusalsOf(key)).toEqual({ ...expected, last_hour: 0 });
    app.clock.advance(24 * HOUR);
    expect(await refusalsOf(key)).toBeNull();
  });

  it('is counted by its minute, hour and reason', async () => {
    const key = await createPoorKey();
    await call(key.secret);
    await call(key.secret, app, { model: SMALL, input: '' });
    app.clock.advance(60_000);
    await call(key.secret);
    await recordRefusals(app);
    const filters = byKey(key.record.hash);
    const now = app.clock.now();
    const startOf = (milliseconds: number, before = 0): string =>
      new Date(Math.floor(now.getTime() / milliseconds) * milliseconds - before)
        .toISOString()
        .replace('.000Z', 'Z');
    const byMinute = await queryRefusals(app, { ...filters, granularity: 'minute' });
    expect(byMinute).toEqual([
      { date: startOf(60_000, 60_000), refused_count: 2 },
      { date: startOf(60_000), refused_count: 1 },
    ]);
    expect(await queryRefusals(app, { ...filters, granularity: 'hour' })).toEqual([
      { date: startOf(HOUR), refused_count: 3 },
    ]);
    expect(await queryRefusals(app, { ...filters, dimensions: ['refusal_reason'] })).toEqual([
      { refusal_reason: 'key_limit', refused_count: 2 },
      { refusal_reason: 'validation', refused_count: 1 },
    ]);
  });

  it('survives the end of its process', async () => {
    const passing = await app.startReplica();
    const key = await createPoorKey();
    await call(key.secret, passing);
    await passing.close();
    expect(await refusalsOf(key)).toMatchObject({ last_hour: 1 });
  });
});

describe('a call that is refused for another reason', () => {
  const reasonsOf = async (hash: string): Promise<string[]> => {
    await recordRefusals(app);
    return (await listRefusals(app, `?api_key_hash=${hash}`)).map(({ reason }) => reason);
  };

  it.each([
    ['validation', { model: SMALL }, 400],
    ['validation', { model: 'openai/unknown', input: 'a' }, 404],
    ['permission', { ...BODY, provider: { only: ['cohere'] } }, 404],
  ] as const)('is listed with the reason %s for %p', async (reason, body, status) => {
    const { secret, record } = await app.createKey();
    expect((await call(secret, app, body)).status).toBe(status);
    expect(await reasonsOf(record.hash)).toEqual([reason]);
  });

  it('is listed with the budget that refused it', async () => {
    const account = await app.createAccount();
    const key = account.managementKey;
    await askFor(200, app, 'put', '/workspaces/default/budgets/monthly', { body: { limit_usd: 1 }, key });
    await app.sql(
      'UPDATE workspace_spend SET last_day = $2::date, total = 1, monthly = 1 WHERE workspace_id = $1',
      [account.workspaceId, app.clock.now()],
    );
    expect((await call(account.apiKey)).status).toBe(403);
    await recordRefusals(app);
    expect(await listRefusals(app, '', key)).toMatchObject([
      { reason: 'workspace_limit', limit_usd: 1, left_usd: 0, limit_window: 'monthly' },
    ]);
  });

  it('is listed with the reason rate, for a key of either kind', async () => {
    const limited = await startWithUpstream({
      RATE_LIMIT_INFERENCE_PER_MINUTE: '1',
      RATE_LIMIT_MANAGEMENT_PER_MINUTE: '1',
    });
    try {
      const to = limited.app;
      expect([(await call(to.apiKey, to)).status, (await call(to.apiKey, to)).status]).toEqual([200, 429]);
      await askFor(200, to, 'get', '/credits');
      await askFor(429, to, 'get', '/credits');
      to.clock.advance(60_000);
      await recordRefusals(to);
      expect((await listRefusals(to)).map(({ reason }) => reason)).toEqual(['rate', 'rate']);
    } finally {
      await limited.close();
    }
  });

  it('is listed for a management key that calls', async () => {
    const account = await app.createAccount();
    expect((await call(account.managementKey)).status).toBe(401);
    await recordRefusals(app);
    expect(await listRefusals(app, '', account.managementKey)).toMatchObject([{ reason: 'permission' }]);
  });

  it('is of the key that pays in the playground', async () => {
    const { record } = await createPoorKey();
    const cookie = await cookieOf(app, app.managementKey);
    const response = await app.http
      .post(`/console/playground/embeddings?api_key_hash=${record.hash}`)
      .set({ ...CHANGE, cookie })
      .send(BODY);
    expect(response.status).toBe(402);
    expect(await reasonsOf(record.hash)).toEqual(['key_limit']);
  });

  it('is not listed when it became a generation, or for an unknown key', async () => {
    const { secret, record } = await app.createKey();
    setup.upstream.answerWith((_request, response) => void response.writeHead(400).end('{}'));
    expect((await call(secret)).status).toBe(400);
    expect((await call('sk-sb-v1-unknown')).status).toBe(401);
    expect(await reasonsOf(record.hash)).toEqual([]);
  });
});

describe('the list of refused calls', () => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await app.createAccount();
  });

  it('has the newest 100, and the table no more', async () => {
    const { accountId, workspaceId, managementKey } = account;
    const keys = await Promise.all(
      Array.from({ length: 7 }, () => app.createKey({ accountId, workspaceId, limit: 0n })),
    );
    for (const { secret } of keys) {
      await Promise.all(Array.from({ length: 20 }, () => call(secret)));
      app.clock.advance(1);
      await recordRefusals(app);
    }
    const listed = await listRefusals(app, '', managementKey);
    const hashes = keys
      .slice(2)
      .map(({ record }) => record.hash)
      .toReversed();
    expect(listed.map(({ api_key_hash: hash }) => hash)).toEqual(
      hashes.flatMap((hash) => Array.from({ length: 20 }, () => hash)),
    );
    expect(
      await app.sql('SELECT count(*)::integer AS count FROM refusals WHERE account_id = $1', [accountId]),
    ).toEqual([{ count: 100 }]);
    expect(await listRefusals(app, '?limit=3&reason=key_limit', managementKey)).toEqual(listed.slice(0, 3));
    expect(await listRefusals(app, '?reason=rate', managementKey)).toEqual([]);
  });

  it('shows nothing of another account', async () => {
    const stranger = await app.createAccount();
    expect(await listRefusals(app, '', stranger.managementKey)).toEqual([]);
    expect(await queryRefusals(app, {}, stranger.managementKey)).toEqual([]);
    await askFor(404, app, 'get', `/refusals?api_key_hash=${account.key.hash}`, {
      key: stranger.managementKey,
    });
    await askFor(403, app, 'get', '/refusals', { key: stranger.apiKey });
  });
});

describe('a query about refused calls', () => {
  it.each([
    [
      { dimensions: ['model'] },
      /^Invalid request parameters: refused_count: is counted by api_key_id, workspace, refusal_reason and time/,
    ],
    [{ filters: [{ field: 'status', operator: 'eq', value: '200' }] }, /refused_count: is counted by/],
    [
      { metrics: ['refused_count', 'request_count'], dimensions: ['refusal_reason'] },
      /refusal_reason: belongs to refused_count; omit other metrics/,
    ],
    [
      { metrics: ['request_count'], dimensions: ['refusal_reason'] },
      /refusal_reason: belongs to refused_count/,
    ],
  ])('is refused with what no refused call has: %p', async (body, message) => {
    const response = await app.http
      .post('/api/v1/analytics/query')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ metrics: ['refused_count'], ...body });
    expectError(response, 400, message);
  });
});
