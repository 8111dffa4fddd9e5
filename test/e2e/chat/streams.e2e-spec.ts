// Streams under load and at their ends: limits over two replicas, drains, comments, the deadline and the end of a process.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatMetrics } from '../../../src/chat/chat-metrics.js';
import { OpenChats } from '../../../src/chat/run/open-chats.js';
import { eventually } from '../../support/eventually.js';
import { underLoad } from '../../support/extent.js';
import type { TestApp } from '../../support/app/app.js';
import {
  answerChat,
  beginStream,
  chatOf,
  chatsOf,
  delta,
  HELLO,
  postChat,
  sendEvent,
  startChat,
  streamOf,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';

const COST_OF_BOUND = 274n * 400_000n + 10n * 1_600_000n;

let setup: ChatSetup;
let replica: TestApp;
beforeAll(async () => {
  setup = await startChat({ CHAT_KEEPALIVE_MS: '100' });
  replica = await setup.app.startReplica();
});
afterEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

/** Resolves when the returned function is called. */
function signal(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach };
}

/** Comments may precede the content. */
async function readUntil(response: Response, expected: string): Promise<void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let read = ''; !read.includes(expected);) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`the stream ended after ${read}`);
    read += decoder.decode(value as Uint8Array, { stream: true });
  }
}

it('parallel streams over two replicas never spend more than the limit', async () => {
  const limit = 40n * COST_OF_BOUND;
  const key = await setup.app.createKey({ limit });
  setup.upstream.answerWith(streamOf(text('x'), delta({}, 'stop'), usageOnly(274, 10), '[DONE]'));
  const statuses = await Promise.all(
    Array.from({ length: underLoad(500) }, async (_value, index) => {
      const app = index % 2 === 0 ? setup.app : replica;
      const response = await postChat(app, { stream: true, max_tokens: 10 }, { key: key.secret });
      await response.text();
      return response.status;
    }),
  );
  const served = statuses.filter((status) => status === 200).length;
  const records = await chatsOf(setup.app, key.record.id);
  const spent = records.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  expect(records).toHaveLength(served);
  expect(spent).toBe(BigInt(served) * COST_OF_BOUND);
  expect(spent <= limit).toBe(true);
  expect(served).toBeGreaterThan(20);
  // 503: the money stayed reserved for as long as a call waits for it.
  expect([200, 402, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
});

it('charges all of 50 streams that are closed before their usage', async () => {
  const key = await setup.app.createKey({ limit: 10n ** 12n });
  setup.upstream.answerWith((_request, response) => {
    beginStream(response);
    sendEvent(response, text('one two'));
    sendEvent(response, delta({}, 'stop'));
  });
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const leaving = new AbortController();
      const options = { key: key.secret, signal: leaving.signal };
      const response = await postChat(setup.app, { stream: true }, options);
      await readUntil(response, 'one two');
      leaving.abort();
    }),
  );
  const records = await eventually(
    () => chatsOf(setup.app, key.record.id),
    ({ length }) => length === 50,
  );
  expect(records.every(({ cost, chat }) => (cost ?? 0n) > 0n && chat?.completionTokens === 2)).toBe(true);
});

describe('a provider that bills to the end', () => {
  it('is read to its usage after its client has left', async () => {
    const key = await setup.app.createKey({ limit: 10n ** 12n });
    const leaving = new AbortController();
    const left = signal();
    setup.upstream.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, text('one'));
      void left.reached.then(() => {
        for (const event of [text(' two'), delta({}, 'stop'), usageOnly(10, 500), '[DONE]'])
          sendEvent(response, event);
        return response.end();
      });
    });
    const chat = { model: 'mistralai/mistral-small-3.2-24b-instruct', stream: true };
    const response = await postChat(setup.app, chat, { key: key.secret, signal: leaving.signal });
    if (response.status !== 200) throw new Error(await response.text());
    await readUntil(response, 'one');
    leaving.abort();
    const { openDrains } = setup.app.application.get(ChatMetrics);
    await eventually(
      () => openDrains.get(),
      ({ values }) => values[0]?.value === 1,
    );
    left.reach();
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      chat: { isCancelled: true, usageSource: 'reported', completionTokens: 500 },
    });
  });
});

it('covers a silent upstream by comments between events, and may still replace it', async () => {
  const commented = signal();
  setup.upstream.answerWith((request, response) => {
    if (request.body['model'] !== 'gpt-4.1-mini') return streamOf(...HELLO)(request, response);
    beginStream(response);
    sendEvent(response, delta({ role: 'assistant' }));
    void commented.reached.then(() => response.destroy());
    return undefined;
  });
  const response = await postChat(setup.app, { stream: true, models: ['openai/gpt-4.1-nano'] });
  const decoder = new TextDecoder();
  let read = '';
  for await (const bytes of response.body ?? []) {
    read += decoder.decode(bytes as Uint8Array, { stream: true });
    commented.reach();
  }
  expect(read.startsWith(': OPENROUTER PROCESSING\n\n')).toBe(true);
  expect(read.match(/"content":"(Hel|lo)"/g)).toHaveLength(2);
  expect(read.endsWith('data: [DONE]\n\n')).toBe(true);
});

it('ends a stream that outlasts the grace with an error, and records it', async () => {
  const key = await replica.createKey({ limit: 10n ** 12n });
  setup.upstream.answerWith((_request, response) => {
    beginStream(response);
    sendEvent(response, text('one'));
  });
  // The headers come with the first content.
  const response = await postChat(replica, { stream: true }, { key: key.secret });
  replica.application.get(OpenChats).abortAll();
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
  expect(events.at(-1)).toBe('data: [DONE]');
  expect(JSON.parse(events.at(-2)?.slice('data: '.length) ?? '')).toMatchObject({ error: { code: 503 } });
  expect(await chatOf(replica, key.record.id)).toMatchObject({ status: 503 });
});
