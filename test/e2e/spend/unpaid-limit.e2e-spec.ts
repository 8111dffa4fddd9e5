// The limit of what one key leaves unpaid in a UTC day: it holds in every process, also one that has just started.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { TestClock } from '../../support/app/clock.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { answerOf, embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import {
  beginStream,
  postChat,
  sendEvent,
  streamChat,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

const HI = { model: SMALL, input: 'hi', dimensions: 1 };
/** Tokens of a broken answer: 0.02 USD of embeddings, of which two exceed the limit. */
const TOKENS = 1_000_000;
const LIMIT = '0.03';
const DAY = 86_400_000;

const clock = new TestClock(new Date().toISOString());
let setup: Setup;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  const environment = { MAX_UNPAID_USD_PER_KEY_AND_DAY: LIMIT, PROVIDER_RETRIES: '0' };
  setup = await startWithUpstream(environment, { clock });
  ({ app } = setup);
  replica = await app.startReplica();
});
afterEach(() => {
  setup.upstream.answerWith(null);
  clock.set(new Date().toISOString());
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

/** The provider bills an answer without vectors. */
function breakAnswers(): void {
  setup.upstream.answerWith((_request, response) =>
    sendJson(response, 200, { data: [], usage: { prompt_tokens: TOKENS, total_tokens: TOKENS } }),
  );
}

async function leaveUnpaid(on: TestApp, { secret }: TestKey): Promise<void> {
  breakAnswers();
  expect((await embed(on, HI, secret)).status).toBe(502);
  setup.upstream.answerWith(null);
}

async function untilRejected(on: TestApp, { secret }: TestKey) {
  return eventually(
    () => embed(on, HI, secret),
    ({ status }) => status === 402,
  );
}

it('rejects calls of the key with 402 on every replica until the day ends', async () => {
  const key = await app.createKey();
  await leaveUnpaid(app, key);
  expect((await embed(replica, HI, key.secret)).status).toBe(200);
  await leaveUnpaid(replica, key);
  for (const each of [app, replica]) {
    const { body, headers } = await untilRejected(each, key);
    const tomorrow = `${new Date(clock.now().getTime() + DAY).toISOString().slice(0, 10)}T00:00:00.000Z`;
    expect(body).toMatchObject({
      error: {
        code: 402,
        message: expect.stringMatching(
          new RegExp(`^API key limit exceeded: .* accepted again at ${tomorrow}`),
        ) as unknown,
        metadata: {
          limit_source: 'unpaid',
          limit_window: 'daily',
          limit_usd: 0.03,
          spend_usd: 0.04,
          resets_at: tomorrow,
        },
      },
    });
    expect(headers['x-should-retry']).toBe('false');
    expect((await postChat(each, { model: 'openai/gpt-4.1-mini' }, { key: key.secret })).status).toBe(402);
  }
  const started = await app.startReplica();
  expect((await embed(started, HI, key.secret)).status).toBe(402);
  await started.close();
  expect(answerOf(await embed(app, HI)).data).toHaveLength(1);
  clock.advance(2 * DAY);
  expect((await embed(replica, HI, key.secret)).status).toBe(200);
});

it('counts failed chats, and not what own provider keys pay', async () => {
  const key = await app.createKey();
  // Both halves of the limit and more: 0.4 and 1.6 USD a million tokens.
  setup.upstream.answerWith((_request, response: ServerResponse) => {
    beginStream(response);
    sendEvent(response, text('Hel'));
    sendEvent(response, usageOnly(50_000, 10_000));
    sendEvent(response, { error: { code: 500, message: 'broken' } });
    response.end();
  });
  await streamChat(app, { model: 'openai/gpt-4.1-mini' }, { key: key.secret });
  setup.upstream.answerWith(null);
  await untilRejected(app, key);
  const credential = await createCredential(app, { apiKey: 'upstream-key', isByokOnly: true });
  try {
    await eventually(
      () => embed(app, HI, key.secret),
      ({ status }) => status === 200,
    );
  } finally {
    await app.sql('DELETE FROM provider_credentials WHERE id = $1', [credential.id]);
  }
});

it('keeps the amount of the day beside the spend, and counts from 0 on the next', async () => {
  const key = await app.createKey();
  await leaveUnpaid(app, key);
  const unpaid = async () => {
    const [row] = await app.sql<{ day: string; unpaid: string }>(
      'SELECT unpaid_day::text AS day, unpaid FROM key_spend WHERE api_key_id = $1',
      [key.record.id],
    );
    return [row?.day, parseUsd(row!.unpaid)];
  };
  expect(await unpaid()).toEqual([clock.now().toISOString().slice(0, 10), parseUsd('0.02')]);
  await app.sql('UPDATE key_spend SET unpaid_day = unpaid_day - 1 WHERE api_key_id = $1', [key.record.id]);
  await leaveUnpaid(app, key);
  expect(await unpaid()).toEqual([clock.now().toISOString().slice(0, 10), parseUsd('0.02')]);
});
