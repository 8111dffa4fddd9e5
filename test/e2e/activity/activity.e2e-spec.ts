// GET /activity and GET /credits: sums of the log for the management key of the account.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp, TestKey } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { createChatFacts } from '../../support/generations/chat-generation.js';
import { expectError } from '../../support/requests/error-shape.js';

const USD = 1_000_000_000_000n;

interface Activity {
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

let app: TestApp;
let other: TestAccount;
let second: { readonly id: string };
let keyOfUser: TestKey;
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createAccount();
  ({ data: second } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Second', slug: 'second' },
  }));
  keyOfUser = await app.createKey({ workspaceId: second.id, creatorUserId: 'user_1' });
  const at = (text: string) => ({ createdAt: new Date(text) });
  // The clock stands at 2026-11-18T12:00Z: the last completed day is the 17th, the first of thirty is October 19th.
  const record = (count: number, overrides: Parameters<typeof recordGenerations>[2], key = app.key) =>
    recordGenerations(app, count, overrides, null, key);
  await record(2, { ...at('2026-11-17T23:59:59.999Z'), promptTokens: 5, cost: USD / 4n });
  await record(1, { ...at('2026-11-17T00:00:00.000Z'), promptTokens: 7, cost: null, upstreamCost: null });
  await record(1, { ...at('2026-11-17T12:00:00.000Z'), promptTokens: 1, cost: USD }, keyOfUser.record);
  await record(1, {
    ...at('2026-10-19T00:00:00.000Z'),
    isByok: true,
    cost: USD / 100n,
    upstreamCost: USD / 5n,
  });
  await record(1, { ...at('2026-11-17T12:00:00.000Z'), endpoint: null, provider: null, status: 503 });
  // Too old, not completed, and another account's.
  await record(1, at('2026-10-18T23:59:59.999Z'));
  await record(1, at('2026-11-18T00:00:00.000Z'));
  await record(3, at('2026-11-17T12:00:00.000Z'), other.key);
});
afterAll(() => app.close());

const activity = (query = '') => askFor<Activity>(200, app, 'get', `/activity${query}`);
const OPENAI = {
  model: 'openai/text-embedding-3-small',
  model_permaslug: 'openai/text-embedding-3-small',
  endpoint_id: 'openai/text-embedding-3-small',
  provider_name: 'OpenAI',
  completion_tokens: 0,
  reasoning_tokens: 0,
};
const UNREACHED = { ...OPENAI, endpoint_id: '', provider_name: '', usage: 0, byok_usage_inference: 0 };

describe('GET /activity', () => {
  it('sums the last thirty completed days by day and endpoint, of this account only', async () => {
    expect((await activity()).data).toEqual([
      { ...OPENAI, date: '2026-11-17', requests: 4, prompt_tokens: 18, usage: 1.5, byok_usage_inference: 0 },
      { ...UNREACHED, date: '2026-11-17', requests: 1, prompt_tokens: 1 },
      {
        ...OPENAI,
        date: '2026-10-19',
        requests: 1,
        prompt_tokens: 1,
        usage: 0.01,
        byok_usage_inference: 0.2,
      },
    ]);
  });

  it('groups by workspace', async () => {
    const { data } = await activity('?group_by=workspace&date=2026-11-17');
    const shares = data.map((row) => [row['workspace_id'], row['endpoint_id'] === '', row['requests']]);
    expect(shares).toHaveLength(3);
    expect(shares).toEqual(
      expect.arrayContaining([
        [second.id, false, 1],
        [app.workspaceId, false, 3],
        [app.workspaceId, true, 1],
      ]),
    );
  });

  it.each([
    ['date=2026-10-19', () => '', [1]],
    ['workspace_id=', () => second.id, [1]],
    ['api_key_hash=', () => keyOfUser.record.hash, [1]],
    ['user_id=', () => 'user_1', [1]],
    ['user_id=', () => 'user_2', []],
    ['user_id=user_1&api_key_hash=', () => app.key.hash, []],
  ])('filters by %s', async (query, value, requests) => {
    const { data } = await activity(`?${query}${value()}`);
    expect(data.map((row) => row['requests'])).toEqual(requests);
  });

  it.each([
    ['date=2026-11-18', 400, 'date: must be one of the last 30 completed UTC days'],
    ['date=2026-10-18', 400, 'date: must be one of the last 30 completed UTC days'],
    ['date=2026-11-31', 400, 'date: must be one of the last 30 completed UTC days'],
    ['date=yesterday', 400, 'date: must be a day'],
    ['group_by=key', 400, 'group_by: must be workspace'],
    ['from=2026-11-01', 400, 'from: is not a member of this object'],
    [`api_key_hash=${'a'.repeat(64)}`, 404, 'no key has this hash'],
    ['workspace_id=019a960b-d800-7000-8000-000000000000', 404, 'no such workspace'],
  ])('responds to %s with %i', async (query, status, message) => {
    expect(expectError(await ask(app, 'get', `/activity?${query}`), status)).toContain(message);
  });

  it('reads only the partitions of the period, by the primary key', async () => {
    const plan = await app.sql<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT count(*) FROM generations WHERE workspace_id = ANY($1::uuid[])
         AND created_at >= '2026-11-19' AND created_at < '2026-11-20'`,
      [[app.workspaceId]],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(/generations_2026_11_19/);
    expect(text).not.toMatch(/generations_2026_11_(18|20)|generations_default/);
  });
});

describe('GET /activity of a day with chats', () => {
  it('sums their completion and reasoning tokens', async () => {
    const { key, managementKey } = await app.createAccount();
    const createdAt = new Date('2026-10-20T00:00:00.000Z');
    const chat = { createdAt, operation: 'chat', cost: 0n, chat: createChatFacts() } as const;
    await recordGenerations(app, 2, chat, null, key);
    const days = await askFor<Activity>(200, app, 'get', '/activity?date=2026-10-20', { key: managementKey });
    expect(days.data).toEqual([
      expect.objectContaining({ requests: 2, completion_tokens: 80, reasoning_tokens: 60 }),
    ]);
  });
});

describe('GET /credits', () => {
  it('returns the bought and the spent amount', async () => {
    expect(await askFor(200, app, 'get', '/credits')).toEqual({
      data: { total_credits: 0, total_usage: 1.51, is_metered: false },
    });
    await app.sql('UPDATE accounts SET credits = 12.345 WHERE id = $1', [app.accountId]);
    expect(await askFor(200, app, 'get', '/credits')).toEqual({
      data: { total_credits: 12.345, total_usage: 1.51, is_metered: true },
    });
  });
});
