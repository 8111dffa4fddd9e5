// GET /key/usage: the calls of the key that authenticates the request, by day and model.
// Contract: docs/contract.md#api-keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { createChatFacts } from '../../support/generations/chat-generation.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

const USD = 1_000_000_000_000n;

let app: TestApp;
let sibling: TestKey;
let own: TestKey;
beforeAll(async () => {
  app = await createTestApp();
  [own, sibling] = [await app.createKey(), await app.createKey()];
  const stranger = await app.createAccount();
  const record = (at: string, overrides: Parameters<typeof recordGenerations>[2], key = own.record) =>
    recordGenerations(app, 1, { createdAt: new Date(at), ...overrides }, null, key);
  await record('2026-10-19T23:59:59Z', {});
  await record('2026-10-20T00:00:00Z', { cost: USD });
  await record('2026-11-18T11:00:00Z', { promptTokens: 5, cost: USD / 2n });
  await record('2026-11-18T11:00:01Z', { status: 502, errorType: 'provider_error', cost: null });
  await record('2026-11-18T11:00:02Z', {
    model: 'a/b',
    operation: 'chat',
    promptTokens: 7,
    isByok: true,
    cost: 0n,
    upstreamCost: USD / 4n,
    chat: createChatFacts({ completionTokens: 40, reasoningTokens: 30 }),
  });
  for (const key of [sibling.record, stranger.key]) await record('2026-11-18T11:00:00Z', { cost: USD }, key);
});
afterAll(() => app.close());

const usageOf = async (query = '', key = own.secret): Promise<unknown[]> =>
  (await askFor<{ data: unknown[] }>(200, app, 'get', `/key/usage${query}`, { key })).data;

const row = (date: string, members: object) => ({
  date,
  model: 'openai/text-embedding-3-small',
  requests: 1,
  failed_requests: 0,
  prompt_tokens: 1,
  completion_tokens: 0,
  reasoning_tokens: 0,
  usage: 0,
  byok_usage: 0,
  ...members,
});
const TODAY = [
  row('2026-11-18', {
    model: 'a/b',
    prompt_tokens: 7,
    completion_tokens: 40,
    reasoning_tokens: 30,
    byok_usage: 0.25,
  }),
  row('2026-11-18', { requests: 2, failed_requests: 1, prompt_tokens: 6, usage: 0.5 }),
];

describe('GET /key/usage', () => {
  it('sums the last thirty days of an inference key, today included, the newest first', async () => {
    expect(await usageOf()).toEqual([...TODAY, row('2026-10-20', { usage: 1 })]);
    expect(await usageOf('?days=31')).toHaveLength(4);
    expect(await usageOf('?days=1')).toEqual(TODAY);
  });

  it('shows a key no calls of another one', async () => {
    expect(await usageOf('', sibling.secret)).toEqual([row('2026-11-18', { usage: 1 })]);
    expect(await usageOf('', app.managementKey)).toEqual([]);
  });

  it.each([
    ['?days=0', 'days: must be from 1 to 31'],
    ['?days=32', 'days: must be from 1 to 31'],
    ['?api_key_hash=x', 'api_key_hash'],
  ])('returns 400 for %s', async (query, message) => {
    const response = await ask(app, 'get', `/key/usage${query}`, { key: own.secret });
    expect(expectError(response, 400)).toContain(message);
  });
});
