// POST /embeddings: the key's spend contains the exact cost of a call before its response, in the right windows.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestKey } from '../../support/app/app.js';
import {
  answerOf,
  answerWithEmbeddings,
  embed,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest } from '../../support/upstreams/stub-upstream.js';

// openai/text-embedding-3-small: 0.02 USD a million tokens.
const USD_PER_TOKEN = 2e-8;

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.app.clock.set('2026-11-18T12:00:00Z');
});
afterAll(() => setup.close());

/** Like GET /keys/{hash}: total, daily, weekly, monthly, in tokens of the model. */
async function usageOf({ record }: TestKey): Promise<number[]> {
  const response = await setup.app.http
    .get(`/api/v1/keys/${record.hash}`)
    .set('authorization', `Bearer ${setup.app.managementKey}`);
  const { data } = response.body as { data: Record<string, number> };
  expect([data['byok_usage'], data['byok_usage_daily']]).toEqual([0, 0]);
  const amounts = [data['usage'], data['usage_daily'], data['usage_weekly'], data['usage_monthly']];
  return amounts.map((amount) => Math.round(amount! / USD_PER_TOKEN));
}

async function spendTokens(key: TestKey, tokens: number): Promise<void> {
  setup.upstream.answerWith(answerWithEmbeddings(['[1]'], { prompt_tokens: tokens, total_tokens: tokens }));
  answerOf(await embed(setup.app, { model: SMALL, input: textOf(tokens), dimensions: 1 }, key.secret));
}

/** A text that may have so many tokens: more are never charged. */
function textOf(tokens: number): string {
  return String(tokens).padEnd(tokens, ' a');
}

describe('the spend of a key', () => {
  it('is the exact sum of its log after 200 parallel calls with several keys', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => setup.app.createKey()));
    // The text states its number of tokens.
    setup.upstream.answerWith(({ body }: ReceivedRequest, response) => {
      const tokens = parseInt((body['input'] as string[])[0]!, 10);
      const usage = { prompt_tokens: tokens, total_tokens: tokens };
      sendJson(response, 200, { data: [{ index: 0, embedding: [1] }], usage });
    });
    const tokensOf = (call: number): number => 1 + ((call * 7919) % 1000);
    await Promise.all(
      Array.from({ length: 200 }, async (_value, call) => {
        const body = { model: SMALL, input: textOf(tokensOf(call)), dimensions: 1 };
        answerOf(await embed(setup.app, body, keys[call % 5]!.secret));
      }),
    );
    for (const [index, key] of keys.entries()) {
      let tokens = 0;
      for (let call = index; call < 200; call += 5) tokens += tokensOf(call);
      const [row] = await setup.app.sql<{ total: string; daily: string; logged: string; count: string }>(
        `SELECT total, daily, (SELECT sum(cost) FROM generations WHERE api_key_id = $1) AS logged,
          (SELECT count(*) FROM generations WHERE api_key_id = $1) AS count
         FROM key_spend WHERE api_key_id = $1`,
        [key.record.id],
      );
      const exact = `0.${String(tokens * 20_000).padStart(12, '0')}`;
      expect(row).toEqual({ total: exact, daily: exact, logged: exact, count: '40' });
      expect(await usageOf(key)).toEqual([tokens, tokens, tokens, tokens]);
    }
  });

  it('is updated before the response arrives', async () => {
    const key = await setup.app.createKey();
    for (let call = 1; call <= 5; call++) {
      await spendTokens(key, 10);
      expect(await usageOf(key)).toEqual([call * 10, call * 10, call * 10, call * 10]);
    }
  });

  it('does not grow with calls that a provider fails', async () => {
    const key = await setup.app.createKey();
    setup.upstream.answerWith(answerWithEmbeddings(['[1,2]'], { prompt_tokens: 50, total_tokens: 50 }));
    const response = await embed(setup.app, { model: SMALL, input: 'a', dimensions: 1 }, key.secret);
    expect(response.status).toBe(502);
    expect(await usageOf(key)).toEqual([0, 0, 0, 0]);
  });

  it('does not grow with calls of other keys', async () => {
    const [key, other] = [await setup.app.createKey(), await setup.app.createKey()];
    await spendTokens(other, 50);
    expect(await usageOf(key)).toEqual([0, 0, 0, 0]);
  });
});

describe('the windows', () => {
  it.each([
    // 2026-11-18 is a Wednesday.
    ['midnight', '2026-11-18T23:59:59.999Z', '2026-11-19T00:00:00.000Z', [100, 0, 100, 100]],
    ['Monday', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z', [100, 0, 0, 100]],
    ['the first of the month', '2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00.000Z', [100, 0, 100, 0]],
    ['the new year', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', [100, 0, 100, 0]],
    ['two days later', '2026-11-18T12:00:00.000Z', '2026-11-20T12:00:00.000Z', [100, 0, 100, 100]],
    ['a month later', '2026-11-18T12:00:00.000Z', '2026-12-18T12:00:00.000Z', [100, 0, 0, 0]],
    ['the same day a year later', '2026-11-18T12:00:00.000Z', '2027-11-18T12:00:00.000Z', [100, 0, 0, 0]],
  ])('restart at %s without a call, and continue from there with one', async (_name, before, after, seen) => {
    const key = await setup.app.createKey();
    setup.app.clock.set(before);
    await spendTokens(key, 100);
    expect(await usageOf(key)).toEqual([100, 100, 100, 100]);
    setup.app.clock.set(after);
    expect(await usageOf(key)).toEqual(seen);
    await spendTokens(key, 7);
    expect(await usageOf(key)).toEqual(seen.map((tokens) => tokens + 7));
  });

  it.each([
    ['day', '2026-11-18T23:59:59Z', '2026-11-19T00:00:01Z', [107, 7, 107, 107]],
    ['week', '2026-11-22T23:59:59Z', '2026-11-23T00:00:01Z', [107, 7, 7, 107]],
    ['month', '2026-11-30T23:59:59Z', '2026-12-01T00:00:01Z', [107, 7, 107, 7]],
  ])('of a new %s ignore a call of the old one that commits late', async (_name, before, after, seen) => {
    const key = await setup.app.createKey();
    setup.app.clock.set(before);
    const arrival = new Promise<() => void>((resolve) =>
      setup.upstream.answerWith((_request, response) =>
        resolve(() =>
          sendJson(response, 200, {
            data: [{ index: 0, embedding: [1] }],
            usage: { prompt_tokens: 100, total_tokens: 100 },
          }),
        ),
      ),
    );
    const late = embed(setup.app, { model: SMALL, input: textOf(100), dimensions: 1 }, key.secret).then(
      answerOf,
    );
    const answerLate = await arrival;
    setup.app.clock.set(after);
    await spendTokens(key, 7);
    expect(await usageOf(key)).toEqual([7, 7, 7, 7]);
    answerLate();
    await late;
    expect(await usageOf(key)).toEqual(seen);
  });
});
