// Chat calls that wait for money, a permit or an answer: the end of their client, and the end of the process.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { ChatMetrics } from '../../../src/chat/chat-metrics.js';
import { OpenChats } from '../../../src/chat/run/open-chats.js';
import { LoadShedder } from '../../../src/http/load-shedding/load-shedder.js';
import { TestClock } from '../../support/app/clock.js';
import { eventually } from '../../support/eventually.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import {
  answerChat,
  beginStream,
  chatOf,
  chatsOf,
  postChat,
  sendEvent,
  startChat,
  text,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest } from '../../support/upstreams/stub-upstream.js';

// "hi" with an output limit of 10.
const BOUND = 274n * 400_000n + 10n * 1_600_000n;
const CHAT = { max_tokens: 10 };

let setup: ChatSetup;
let replica: TestApp;
beforeAll(async () => {
  setup = await startChat({ CHAT_ENDPOINT_CONCURRENCY: '1' });
});
afterEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(() => setup.close());

/** Holds every call at the provider until release() answers it. */
function hold(): { readonly arrived: (count: number) => Promise<unknown>; release(): void } {
  const waiting: (() => void)[] = [];
  setup.upstream.answerWith((request: ReceivedRequest, response) => {
    waiting.push(() => answerChat(request, response));
  });
  return {
    arrived: (count) =>
      eventually(
        () => Promise.resolve(setup.upstream.requests.length),
        (has) => has >= count,
      ),
    release: () => {
      setup.upstream.answerWith(answerChat);
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

/** A second call waits behind a first one, and its client leaves. Returns its record. */
async function leaveWaiting(key: TestKey, isStreamed: boolean) {
  const held = hold();
  const first = postChat(setup.app, CHAT, { key: key.secret });
  await held.arrived(1);
  const leaving = new AbortController();
  const second = postChat(
    setup.app,
    { ...CHAT, stream: isStreamed },
    { key: key.secret, signal: leaving.signal },
  );
  await eventually(
    () => Promise.resolve(setup.app.application.get(OpenChats).size),
    (size) => size >= 2,
  );
  leaving.abort();
  await expect(second).rejects.toThrow();
  const [left] = await eventually(
    () => chatsOf(setup.app, key.record.id),
    ({ length }) => length === 1,
  );
  held.release();
  expect((await first).status).toBe(200);
  expect(setup.upstream.requests).toHaveLength(1);
  await idle(setup.app);
  return left;
}

const idle = (app: TestApp) => app.application.get(LoadShedder).whenIdle();

describe('a client that leaves', () => {
  it.each([
    ['with a stream', true],
    ['without a stream', false],
  ])(
    'costs nothing while its call %s waits for money, and its reservation is released',
    async (_name, isStreamed) => {
      const key = await setup.app.createKey({ limit: BOUND });
      expect(await leaveWaiting(key, isStreamed)).toMatchObject({
        status: 499,
        cost: 0n,
        attempts: [],
        chat: { isCancelled: true, isStreamed },
      });
      expect((await postChat(setup.app, { max_tokens: 1 }, { key: key.secret })).status).toBe(200);
    },
  );

  it('costs nothing while its call waits for a permit, and its reservation is released', async () => {
    const key = await setup.app.createKey({ limit: 3n * BOUND });
    expect(await leaveWaiting(key, true)).toMatchObject({
      status: 499,
      cost: 0n,
      attempts: [],
      chat: { isCancelled: true },
    });
    expect((await postChat(setup.app, CHAT, { key: key.secret })).status).toBe(200);
  });
});

describe('a call that waits for money past midnight', () => {
  it('counts on the day of its reservation, and from there', async () => {
    const clock = new TestClock('2026-11-18T23:59:58.000Z');
    const own = await startChat({}, { clock });
    const key = await own.app.createKey({ limit: BOUND, limitReset: 'daily' });
    const first: (() => void)[] = [];
    own.upstream.answerWith((request, response) => {
      first.push(() => answerChat(request, response));
    });
    const post = () => postChat(own.app, { ...CHAT, stream: true }, { key: key.secret });
    const calls = [post(), post()].map(async (call) => (await call).text());
    await eventually(
      () => Promise.resolve([first.length, own.app.application.get(OpenChats).size]),
      ([arrived = 0, open = 0]) => arrived === 1 && open >= 2,
    );
    await setTimeout(500);
    clock.set('2026-11-19T00:00:02.000Z');
    own.upstream.answerWith(answerChat);
    const releasedAt = performance.now();
    first[0]?.();
    const answers = await Promise.all(calls);
    const sinceRelease = performance.now() - releasedAt;
    for (const answer of answers) expect(answer).toContain('[DONE]');
    const chats = (await chatsOf(own.app, key.record.id)).toSorted(
      (one, other) => one.createdAt.getTime() - other.createdAt.getTime(),
    );
    const days = chats.map(({ createdAt }) => createdAt.toISOString());
    expect(days).toEqual(['2026-11-18T23:59:58.000Z', '2026-11-19T00:00:02.000Z']);
    const [whole, waited] = chats;
    expect(whole?.durationMs).toBeGreaterThan(400);
    // A record that counted the wait from the new day would end in the future.
    expect(waited?.durationMs).toBeLessThanOrEqual(Math.round(sinceRelease));
    expect(waited?.chat?.timeToFirstTokenMs).toBeGreaterThanOrEqual(0);
    expect(waited?.chat?.timeToFirstTokenMs).toBeLessThanOrEqual(waited!.durationMs);
    await own.close();
  });
});

describe('the end of the grace', () => {
  beforeAll(async () => {
    replica = await setup.app.startReplica();
  });
  afterAll(() => replica.close());

  it('ends calls that wait for money, a permit or an answer with 503, and records them without cost', async () => {
    const rich = await replica.createKey({ limit: 100n * BOUND });
    const poor = await replica.createKey({ limit: BOUND });
    const held = hold();
    const whole = postChat(replica, CHAT, { key: poor.secret });
    await held.arrived(1);
    const waiting = [
      postChat(replica, CHAT, { key: poor.secret }),
      postChat(replica, { ...CHAT, stream: true }, { key: rich.secret }),
      postChat(replica, CHAT, { key: rich.secret }),
      postChat(replica, { ...CHAT, stream: true, model: 'openai/gpt-4.1-nano' }, { key: rich.secret }),
    ];
    await held.arrived(2);
    await eventually(
      () => Promise.resolve(replica.application.get(OpenChats).size),
      (size) => size >= 5,
    );
    replica.application.get(OpenChats).abortAll();
    const responses = await Promise.all([whole, ...waiting]);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    expect(await responses[0]?.json()).toMatchObject({
      error: { code: 503, message: expect.stringContaining('shutting down') as unknown },
    });
    const records = [
      ...(await chatsOf(replica, rich.record.id)),
      ...(await chatsOf(replica, poor.record.id)),
    ];
    expect(records).toHaveLength(5);
    expect(
      records.every(({ status, cost, chat }) => status === 503 && cost === 0n && !chat?.isCancelled),
    ).toBe(true);
    const ended = records.filter(({ attempts }) => attempts.length > 0);
    expect(ended.map(({ attempts }) => attempts)).toMatchObject([
      [{ status: null, errorType: 'shutdown_before_content' }],
      [{ status: null, errorType: 'shutdown_before_content' }],
    ]);
    await idle(replica);
    held.release();
  });

  it('ends a stream before its first content with 503, and one with a client that has comments by an error', async () => {
    const other = await setup.app.startReplica();
    const key = await other.createKey({ limit: 10n ** 12n });
    setup.upstream.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, { choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] });
    });
    const silent = postChat(other, { stream: true }, { key: key.secret });
    await eventually(
      () => Promise.resolve(setup.upstream.requests.length),
      (length) => length === 1,
    );
    other.application.get(OpenChats).abortAll();
    expect((await silent).status).toBe(503);
    expect(await chatsOf(other, key.record.id)).toMatchObject([{ status: 503, cost: 0n }]);
    await other.close();
  });
});

describe('a stream that the end of the process cuts', () => {
  it.each([
    ['counts its text where the text has all tokens', 'openai/gpt-4.1-mini', 'counted'],
    ['estimates its tokens where reasoning is hidden', 'openai/o4-mini', 'estimated'],
  ])('%s', async (_name, model, usageSource) => {
    const own = await startChat();
    own.upstream.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, text('one two three'));
    });
    const key = await own.app.createKey({ limit: 10n ** 12n });
    const response = await postChat(own.app, { model, stream: true, max_tokens: 50 }, { key: key.secret });
    expect(response.status).toBe(200);
    own.app.application.get(OpenChats).abortAll();
    expect(await response.text()).toContain('shutting down');
    const { chat, cost } = await chatOf(own.app, key.record.id);
    expect(chat).toMatchObject({ isCancelled: false, usageSource });
    if (usageSource === 'counted') expect(chat?.completionTokens).toBe(3);
    else expect(chat?.completionTokens).toBeGreaterThan(3);
    expect(cost).toBeGreaterThan(0n);
    await own.close();
  });
});

describe('a limit without room', () => {
  it('names the limit and the output that is still affordable', async () => {
    const key = await setup.app.createKey({ limit: BOUND });
    const response = await postChat(setup.app, { max_tokens: 11 }, { key: key.secret });
    expect(response.status).toBe(402);
    const { error } = (await response.json()) as { error: { metadata: Readonly<Record<string, unknown>> } };
    expect(error.metadata).toMatchObject({ error_type: 'payment_required', limit: 'key' });
    const affordable = Number(error.metadata['affordable_output_tokens']);
    expect(affordable).toBeGreaterThanOrEqual(10);
    const retried = await postChat(setup.app, { max_tokens: affordable }, { key: key.secret });
    expect(retried.status).toBe(200);
  });
});

describe('a provider that bills on after its client has left', () => {
  it.each([
    ['at the deadline of the call', { CHAT_DEADLINE_MS: '8000' }, false],
    ['at the end of the grace', {}, true],
  ])('is charged by an estimate %s, and the record has no failure', async (_name, environment, isStopped) => {
    const own = await startChat(environment);
    own.upstream.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, text('one two three'));
    });
    const key = await own.app.createKey({ limit: 10n ** 12n });
    const leaving = new AbortController();
    const chat = { model: 'mistralai/mistral-small-3.2-24b-instruct', stream: true, max_tokens: 50 };
    const response = await postChat(own.app, chat, { key: key.secret, signal: leaving.signal });
    expect(response.status).toBe(200);
    leaving.abort();
    const { openDrains } = own.app.application.get(ChatMetrics);
    await eventually(
      () => openDrains.get(),
      ({ values }) => values[0]?.value === 1,
    );
    if (isStopped) own.app.application.get(OpenChats).abortAll();
    const generation = await chatOf(own.app, key.record.id);
    expect(generation).toMatchObject({
      status: 200,
      errorType: null,
      chat: { isCancelled: true, usageSource: 'estimated' },
    });
    expect(generation.cost).toBeGreaterThan(0n);
    await own.close();
  });

  it.each([
    ['a stream', true],
    ['an answer without a stream', false],
  ])('%s above CHAT_MAX_ANSWER_BYTES is charged by an estimate', async (_name, stream) => {
    const own = await startChat({ CHAT_MAX_ANSWER_BYTES: '1024' });
    const drained = new AbortController();
    let leave = (): void => undefined;
    const asked = new Promise<void>((resolve) => (leave = resolve));
    own.upstream.answerWith((_request, response) => {
      if (stream) {
        beginStream(response);
        sendEvent(response, text('one two three'));
      }
      drained.signal.addEventListener('abort', () => {
        const long = 'four '.repeat(1_000);
        if (stream) sendEvent(response, text(long));
        else sendJson(response, 200, { choices: [{ index: 0, message: { content: long } }] });
      });
      leave();
    });
    const key = await own.app.createKey({ limit: 10n ** 12n });
    const leaving = new AbortController();
    const chat = { model: 'mistralai/mistral-small-3.2-24b-instruct', stream, max_tokens: 50 };
    const posted = postChat(own.app, chat, { key: key.secret, signal: leaving.signal }).catch(() => null);
    await (stream ? posted : asked);
    leaving.abort();
    const { openDrains } = own.app.application.get(ChatMetrics);
    await eventually(
      () => openDrains.get(),
      ({ values }) => values[0]?.value === 1,
    );
    drained.abort();
    const generation = await chatOf(own.app, key.record.id);
    expect(generation).toMatchObject({
      status: stream ? 200 : 499,
      errorType: null,
      chat: { isCancelled: true, usageSource: 'estimated' },
    });
    expect(generation.cost).toBeGreaterThan(0n);
    await own.close();
  });

  it.each([
    ['the headers of a stream', { CHAT_HEADERS_TIMEOUT_MS: '2000' }, true],
    ['an answer without a stream', { CHAT_ANSWER_TIMEOUT_MS: '2000' }, false],
    ['an answer at the deadline', { CHAT_DEADLINE_MS: '8000' }, false],
  ])('is charged by an estimate when the time for %s cuts it', async (_name, environment, stream) => {
    const own = await startChat(environment);
    let leave = (): void => undefined;
    const asked = new Promise<void>((resolve) => (leave = resolve));
    own.upstream.answerWith(() => leave());
    const key = await own.app.createKey({ limit: 10n ** 12n });
    const leaving = new AbortController();
    const chat = { model: 'mistralai/mistral-small-3.2-24b-instruct', stream, max_tokens: 50 };
    const posted = postChat(own.app, chat, { key: key.secret, signal: leaving.signal }).catch(() => null);
    await asked;
    leaving.abort();
    await posted;
    const generation = await chatOf(own.app, key.record.id);
    expect(generation).toMatchObject({
      status: 499,
      errorType: null,
      chat: { isCancelled: true, usageSource: 'estimated' },
    });
    expect(generation.cost).toBeGreaterThan(0n);
    await own.close();
  });
});
