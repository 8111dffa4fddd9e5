// Charges of calls whose provider reports too much, that fail, or whose price is unknown.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { parseUsd, parseUsdPerMillion, usdToNumber } from '../../../src/domain/spend/money.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { answerOf, embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import { stubOf } from '../../support/providers/drive.js';
import type { RunningProviderStub } from '../../support/providers/provider-stub.js';
import { answerLikeOpenAi, sendJson } from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest } from '../../support/upstreams/stub-upstream.js';

const PER_TOKEN = parseUsdPerMillion('0.02');
const HI = { model: SMALL, input: 'hi', dimensions: 1 };
// Its bytes, and room for the tokens that a tokenizer adds.
const BOUND_OF_HI = PER_TOKEN * 10n;
const LIE = 1_000_000;
const NOMIC = 'nomic-ai/nomic-embed-text-v1.5';
const DEEPINFRA = 'qwen/qwen3-embedding-0.6b';

const stubs = new Map<string, RunningProviderStub>();
let setup: Setup;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  const environment: Record<string, string> = { PROVIDER_RETRIES: '0' };
  for (const slug of ['nomic', 'deepinfra', 'google']) {
    const running = await stubOf(slug).start();
    stubs.set(slug, running);
    environment[`${slug.toUpperCase()}_API_KEY`] = stubOf(slug).apiKey;
    environment[`${slug.toUpperCase()}_BASE_URL`] = running.baseUrl;
  }
  setup = await startWithUpstream(environment);
  ({ app } = setup);
  replica = await app.startReplica();
});
afterEach(async () => {
  setup.upstream.answerWith(null);
  await app.sql('DELETE FROM workspace_budgets');
  await app.sql('UPDATE accounts SET credits = NULL');
});
afterAll(async () => {
  await replica.close();
  await setup.close();
  for (const stub of stubs.values()) await stub.close();
});

/** One vector for each input, and a million tokens. */
function lie({ body }: ReceivedRequest, response: ServerResponse): void {
  const inputs = body['input'] as unknown[];
  sendJson(response, 200, {
    data: inputs.map((_input, index) => ({ index, embedding: [1] })),
    usage: { prompt_tokens: LIE, total_tokens: LIE },
  });
}

interface Sums {
  readonly cost: bigint;
  readonly upstream: bigint;
  readonly key: bigint;
  readonly tokens: number;
}

const usageOf = (response: Parameters<typeof answerOf>[0]) =>
  response.status === 200 ? answerOf(response).usage : {};

/** From the log and from the counter of a key. */
async function sumsOf({ record }: TestKey): Promise<Sums> {
  const [row] = await app.sql<{ cost: string; upstream: string; key: string; tokens: string }>(
    `SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(upstream_cost), 0) AS upstream,
       coalesce(sum(prompt_tokens), 0) AS tokens,
       (SELECT coalesce(sum(total), 0) FROM key_spend WHERE api_key_id = $1) AS key
     FROM generations WHERE api_key_id = $1`,
    [record.id],
  );
  const { cost = '0', upstream = '0', key = '0', tokens = '0' } = row ?? {};
  return { cost: parseUsd(cost), upstream: parseUsd(upstream), key: parseUsd(key), tokens: Number(tokens) };
}

/** In parallel, then one by one to the end, which a process may notice late. */
async function useUp(secret: string, rejection: number, apps: readonly TestApp[]): Promise<void> {
  const statuses = await Promise.all(
    Array.from(
      { length: 60 },
      async (_value, call) => (await embed(apps[call % apps.length] ?? app, HI, secret)).status,
    ),
  );
  expect([200, rejection, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
  await eventually(
    async () => (await embed(app, HI, secret)).status,
    (status) => status === rejection,
  );
}

async function metric(line: string): Promise<number> {
  const { text } = await app.http.get('/metrics');
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1) ?? 0);
}

describe('a provider that reports a million tokens for two letters', () => {
  it('charges the rest to the operator, with a limit or without one, and reports it', async () => {
    setup.upstream.answerWith(lie);
    const unpaid =
      'signalbox_unpaid_upstream_usd_total{provider="openai",endpoint="openai/text-embedding-3-small",reason="over_reported"}';
    const before = await metric(unpaid);
    for (const limit of [null, parseUsd('0.001')]) {
      const key = await app.createKey({ limit });
      const { usage } = answerOf(await embed(app, HI, key.secret));
      expect(usage).toEqual({
        prompt_tokens: 10,
        total_tokens: 10,
        cost: usdToNumber(BOUND_OF_HI),
        is_byok: false,
      });
      expect(await sumsOf(key)).toEqual({
        cost: BOUND_OF_HI,
        upstream: PER_TOKEN * BigInt(LIE),
        key: BOUND_OF_HI,
        tokens: 10,
      });
    }
    const rest = usdToNumber(PER_TOKEN * BigInt(LIE) - BOUND_OF_HI);
    expect(await metric(unpaid)).toBeCloseTo(before + 2 * rest, 9);
    expect(
      await metric(`signalbox_unpaid_upstream_top_accounts_usd{account_id="${app.accountId}"}`),
    ).toBeGreaterThanOrEqual(2 * rest);
  });

  const limit = BOUND_OF_HI * 5n;
  it.each([
    ['the limit of a key', {}],
    ['the daily limit of a key, own keys included', { limitReset: 'daily', includeByokInLimit: true }],
  ] as const)('uses up %s and no more, in two processes', async (_name, options) => {
    setup.upstream.answerWith(lie);
    const key = await app.createKey({ limit, ...options });
    await useUp(key.secret, 402, [app, replica]);
    expect(await sumsOf(key)).toMatchObject({ cost: limit, key: limit });
  });

  it.each([
    ['a budget of the workspace', 403, 'workspace_spend', 'workspace_id'],
    ['the credits of the account', 402, 'account_spend', 'account_id'],
  ] as const)('uses up %s and no more', async (_name, status, table, column) => {
    const account = await app.createAccount();
    if (table === 'account_spend') {
      await app.sql('UPDATE accounts SET credits = $2 WHERE id = $1', [account.accountId, '0.000001']);
    } else {
      await app.http
        .put('/api/v1/workspaces/default/budgets/lifetime')
        .set('authorization', `Bearer ${account.managementKey}`)
        .send({ limit_usd: 0.000001 })
        .expect(200);
    }
    setup.upstream.answerWith(lie);
    await useUp(account.apiKey, status, [app]);
    const id = table === 'account_spend' ? account.accountId : account.workspaceId;
    const [row] = await app.sql<{ total: string }>(`SELECT total FROM ${table} WHERE ${column} = $1`, [id]);
    expect(parseUsd(row?.total ?? '0')).toBe(parseUsd('0.000001'));
  });

  it('charges only inputs that were not cached', async () => {
    const key = await app.createKey({ limit: parseUsd('1') });
    const ask = (input: readonly string[]) =>
      embed(app, { ...HI, input }, key.secret).set('x-embedding-cache', 'on');
    answerOf(await ask(['cached before']));
    const before = await sumsOf(key);
    setup.upstream.answerWith(lie);
    const { usage } = answerOf(await ask(['cached before', 'hi']));
    expect(usage).toMatchObject({ prompt_tokens: 10, cost: usdToNumber(BOUND_OF_HI) });
    expect((await sumsOf(key)).key - before.key).toBe(BOUND_OF_HI);
  });

  it('counts the bound through an own provider key, also for a limit that includes own keys', async () => {
    setup.upstream.answerWith(lie);
    const credential = await createCredential(app, { apiKey: 'own-key-of-a-liar', isByokOnly: true });
    const key = await app.createKey({ limit: BOUND_OF_HI, includeByokInLimit: true });
    // A second key shows when the credential has reached the process: this one has money for a single call.
    await eventually(
      async () => usageOf(await embed(app, HI)),
      ({ is_byok }) => is_byok === true,
    );
    const { usage } = answerOf(await embed(app, HI, key.secret));
    expect(usage).toMatchObject({ prompt_tokens: 10, is_byok: true, cost: 0 });
    const [row] = await app.sql<{ byok_total: string }>(
      'SELECT byok_total FROM key_spend WHERE api_key_id = $1',
      [key.record.id],
    );
    expect(parseUsd(row?.byok_total ?? '0')).toBe(BOUND_OF_HI);
    expectError(await embed(app, HI, key.secret), 402);
    await app.sql('DELETE FROM provider_credentials WHERE id = $1', [credential.id]);
    await eventually(
      async () => usageOf(await embed(app, HI)),
      ({ is_byok }) => is_byok === false,
    );
  });
});

describe('a call that fails after a part of it was served', () => {
  const TEXT = 'one two three four five';
  // Two calls to OpenAI: the stub reports five tokens for each input.
  const body = { ...HI, input: [...Array.from({ length: 2048 }, () => TEXT), 'bad'] };
  const SERVED = PER_TOKEN * 2048n * 5n;

  /** Serves the first part, and rejects the other once that has been served. */
  async function failSecondPart(status: number): Promise<void> {
    const servedParts = () =>
      metric('signalbox_upstream_attempt_duration_seconds_count{provider="openai",outcome="ok"}');
    const before = await servedParts();
    setup.upstream.answerWith(async (request, response) => {
      if ((request.body['input'] as unknown[]).length > 1) {
        answerLikeOpenAi(request, response);
        return;
      }
      await eventually(servedParts, (count) => count > before);
      sendJson(response, status, { error: { message: 'no', code: 'no' } });
    });
  }

  it.each([
    ['its caller', 400, 400, SERVED],
    ['its caller, by size', 413, 413, SERVED],
    ['the provider', 500, 502, 0n],
    ['the provider, by its rate limit', 429, 429, 0n],
    ['the provider, by load', 503, 529, 0n],
  ])('by the fault of %s (%d) is answered with %d', async (_name, upstream, status, cost) => {
    const key = await app.createKey();
    await failSecondPart(upstream);
    const failed = await embed(app, body, key.secret);
    expect(failed.status).toBe(status);
    expect(await sumsOf(key)).toEqual({
      cost,
      upstream: SERVED,
      key: cost,
      tokens: cost === 0n ? 0 : 10_240,
    });
    const generation = await app.http
      .get('/api/v1/generation')
      .query({ id: failed.headers['x-generation-id'] })
      .set('authorization', `Bearer ${key.secret}`);
    expect(generation.body).toMatchObject({
      data: { total_cost: usdToNumber(cost), upstream_inference_cost: usdToNumber(SERVED) },
    });
    const shown = await app.http
      .get(`/api/v1/keys/${key.record.hash}`)
      .set('authorization', `Bearer ${app.managementKey}`);
    expect(shown.body).toMatchObject({ data: { usage: usdToNumber(cost) } });
    // It shows completed days.
    const now = app.clock.now().toISOString();
    app.clock.set('2026-11-19T12:00:00Z');
    const activity = await app.http
      .get('/api/v1/activity')
      .query({ api_key_hash: key.record.hash, date: '2026-11-18' })
      .set('authorization', `Bearer ${app.managementKey}`);
    app.clock.set(now);
    expect(activity.body).toMatchObject({ data: [{ requests: 1, usage: usdToNumber(cost) }] });
  });

  it('is never charged above the limit, and does not repeat endlessly', async () => {
    const key = await app.createKey({ limit: SERVED + SERVED / 2n });
    await failSecondPart(400);
    expectError(await embed(app, body, key.secret), 400);
    const asked = setup.upstream.requests.length;
    expectError(await embed(app, body, key.secret), 402);
    expect(setup.upstream.requests).toHaveLength(asked);
    expect(await sumsOf(key)).toMatchObject({ cost: SERVED, key: SERVED });
  });
});

describe('a model without a known price', () => {
  it('is not available to a key with a limit, for a reason that credits would not change', async () => {
    const { secret } = await app.createKey({ limit: parseUsd('1') });
    const asked = stubs.get('nomic')?.requests.length;
    const message = expectError(await embed(app, { model: NOMIC, input: 'hi' }, secret), 404);
    expect(message).toMatch(
      /no endpoint of nomic-ai\/nomic-embed-text-v1\.5 has a known price for this input/,
    );
    expect(stubs.get('nomic')?.requests).toHaveLength(asked ?? -1);
    answerOf(await embed(app, { model: NOMIC, input: 'hi' }));
  });

  it.each([false, true])(
    'is available through an own provider key, also where own keys count toward the limit: %s',
    async (includeByokInLimit) => {
      const credential = await createCredential(app, {
        provider: 'nomic',
        apiKey: stubOf('nomic').apiKey,
      });
      // Nothing is left of the limit, and an own key needs none of it.
      const key = await app.createKey({ limit: 0n, includeByokInLimit });
      const response = await eventually(
        async () => embed(app, { model: NOMIC, input: 'hi' }, key.secret),
        ({ status }) => status !== 404,
      );
      expect(answerOf(response).usage).toMatchObject({ is_byok: true, cost: 0 });
      // The operator's own credential does not take over.
      stubs.get('nomic')?.replyWith({ status: 401, body: { detail: 'no' } });
      const asked = stubs.get('nomic')?.requests.length ?? -1;
      expectError(await embed(app, { model: NOMIC, input: 'hi' }, key.secret), 502);
      expect(stubs.get('nomic')?.requests).toHaveLength(asked + 1);
      stubs.get('nomic')?.replyWith(null);
      await app.sql('DELETE FROM provider_credentials WHERE id = $1', [credential.id]);
      await eventually(
        async () => embed(app, { model: NOMIC, input: 'hi' }, key.secret),
        ({ status }) => status === 404,
      );
    },
  );
});

describe('a member of the body that changes the bill', () => {
  it('is rejected by name under a limit, and sent without one', async () => {
    const { secret } = await app.createKey({ limit: parseUsd('1') });
    const body = { model: DEEPINFRA, input: 'hi', service_tier: 'priority' };
    const asked = stubs.get('deepinfra')?.requests.length ?? -1;
    const message = expectError(await embed(app, body, secret), 400);
    expect(message).toMatch(/: service_tier: changes what DeepInfra charges/);
    expect(stubs.get('deepinfra')?.requests).toHaveLength(asked);
    await embed(app, body);
    expect(stubs.get('deepinfra')?.requests.at(-1)?.body).toMatchObject({ service_tier: 'priority' });
  });

  it('counts as text of each input where it is text', async () => {
    const title = 'x'.repeat(1_000);
    // 0.15 USD a million tokens; without the title 2 inputs of 10 bytes.
    const { secret } = await app.createKey({ limit: parseUsdPerMillion('0.15') * 20n });
    const body = { model: 'google/gemini-embedding-001', input: ['hi', 'ho'] };
    expectError(await embed(app, { ...body, title }, secret), 402, /this call may cost 0\.0003066 USD/);
    answerOf(await embed(app, body, secret));
  });
});
