// 402 and 403 name the limit that stops the call, so that a program can tell "raise the limit" from "buy credits".
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  // No call gets as far as the provider.
  app = await createTestApp({
    environment: { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
  });
});
afterAll(() => app.close());

const call = (secret: string) => embed(app, { model: SMALL, input: 'hi' }, secret);
const WORDS = {
  key: /^API key limit exceeded: this call may cost .* of this key's .*limit of .*; lower max_tokens, send a shorter input, raise the key's limit/,
  account:
    /^Insufficient credits: this call may cost .* of the account's credits; lower max_tokens, send a shorter input, buy credits$/,
  workspace:
    /^Workspace budget exceeded: this call may cost .* of this workspace's .*; lower max_tokens, send a shorter input, raise the workspace's budget/,
};
const metadataOf = async (secret: string, owner: keyof typeof WORDS) => {
  const rejected = await call(secret);
  expectError(rejected, owner === 'workspace' ? 403 : 402, WORDS[owner]);
  return (rejected.body as { error: { metadata: object } }).error.metadata;
};

const setBudget = async ({ managementKey }: TestAccount, interval: string, limit: number) => {
  const path = `/api/v1/workspaces/default/budgets/${interval}`;
  await app.http
    .put(path)
    .set('authorization', `Bearer ${managementKey}`)
    .send({ limit_usd: limit })
    .expect(200);
};
const spent = async ({ workspaceId }: TestAccount, sums: Readonly<Record<string, string>>) => {
  const changes = Object.entries(sums).map(([column, amount]) => `${column} = ${amount}`);
  await app.sql(
    `UPDATE workspace_spend SET last_day = current_date, ${changes.join(', ')} WHERE workspace_id = $1`,
    [workspaceId],
  );
};

it.each([
  [null, 'lifetime', null],
  ['daily', 'daily', '2026-11-19T00:00:00.000Z'],
  ['weekly', 'weekly', '2026-11-23T00:00:00.000Z'],
  ['monthly', 'monthly', '2026-12-01T00:00:00.000Z'],
] as const)('names the limit of a key with limit_reset %p', async (limitReset, window, resetsAt) => {
  const { secret, record } = await app.createKey({ limit: parseUsd('0.000001'), limitReset });
  await app.sql(
    `UPDATE key_spend SET last_day = current_date, total = 0.00000099, daily = 0.00000099, weekly = 0.00000099,
      monthly = 0.00000099 WHERE api_key_id = $1`,
    [record.id],
  );
  expect(await metadataOf(secret, 'key')).toEqual({
    error_type: 'payment_required',
    limit_source: 'key',
    limit_window: window,
    limit_usd: 0.000001,
    spend_usd: 0.00000099,
    resets_at: resetsAt,
  });
});

it('names the credits of the account', async () => {
  const account = await app.createAccount();
  await app.sql('UPDATE accounts SET credits = 0.000000001 WHERE id = $1', [account.accountId]);
  expect(await metadataOf(account.apiKey, 'account')).toEqual({
    error_type: 'payment_required',
    limit_source: 'account',
    limit_window: 'lifetime',
    limit_usd: 0.000000001,
    spend_usd: 0,
    resets_at: null,
  });
});

it('names the budget of the workspace that has the least left', async () => {
  const account = await app.createAccount();
  for (const [interval, limit] of [
    ['daily', 1],
    ['weekly', 2],
    ['monthly', 3],
  ] as const)
    await setBudget(account, interval, limit);
  await spent(account, { total: '2.5', daily: '0.5', weekly: '1.99999999', monthly: '2.5' });
  expect(await metadataOf(account.apiKey, 'workspace')).toEqual({
    error_type: 'permission_denied',
    limit_source: 'workspace',
    limit_window: 'weekly',
    limit_usd: 2,
    spend_usd: 1.99999999,
    resets_at: '2026-11-23T00:00:00.000Z',
  });
});

it('names the only budget of the workspace', async () => {
  const account = await app.createAccount();
  await setBudget(account, 'monthly', 3);
  await spent(account, { total: '4', monthly: '4' });
  expect(await metadataOf(account.apiKey, 'workspace')).toMatchObject({
    limit_source: 'workspace',
    limit_window: 'monthly',
    limit_usd: 3,
    spend_usd: 4,
  });
});
