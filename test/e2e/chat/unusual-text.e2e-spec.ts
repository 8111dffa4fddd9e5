// Text that the database cannot store, from callers and providers: no call is free or unrecorded for it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerChat,
  chatOf,
  chatsOf,
  delta,
  postChat,
  startChat,
  streamChat,
  streamOf,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';

let setup: ChatSetup;
beforeAll(async () => {
  setup = await startChat();
});
afterEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(() => setup.close());

// 10 tokens of the prompt, 2 of the answer.
const COST = 10n * 400_000n + 2n * 1_600_000n;
const LIMIT = 10n ** 12n;

/** USD that count towards the limit of a key. */
async function spentOf(secret: string): Promise<number> {
  const response = await fetch(`${setup.app.baseUrl}/key`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { data } = (await response.json()) as { readonly data: { readonly usage: number } };
  return data.usage;
}

const usd = (amount: bigint | null): number => Number(amount) / 1e12;

describe('a caller', () => {
  it.each([
    ['a value', { a: 'x\0' }],
    ['a name', { 'x\0': 'a' }],
  ])('receives 400 for metadata with %s that cannot be stored', async (_name, metadata) => {
    const key = await setup.app.createKey({ limit: LIMIT });
    const response = await postChat(setup.app, { metadata, stream: true }, { key: key.secret });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/NUL/);
    expect(setup.upstream.requests).toHaveLength(0);
    expect(await chatsOf(setup.app, key.record.id)).toEqual([]);
  });

  it.each([
    ['of the body', { 'x\0y': 1 }, 'x\ufffdy'],
    ['of the body, a long one', { ['n'.repeat(20_000)]: 1 }, 'n'.repeat(100)],
    ['of a message', { messages: [{ role: 'user', content: 'hi', 'x\0y': 1 }] }, 'messages.x\ufffdy'],
    [
      'of a message, with a character at the bound',
      { messages: [{ role: 'user', content: 'hi', [`${'n'.repeat(90)}😀`]: 1 }] },
      /^messages\.n{90}\ufffd?$/,
    ],
  ])('pays for a stream whose dropped member %s has an unusual name', async (_name, body, recorded) => {
    const key = await setup.app.createKey({ limit: LIMIT });
    const read = await streamChat(setup.app, body, { key: key.secret });
    expect([read.text, read.events.at(-1)]).toEqual(['Hello', '[DONE]']);
    const { status, cost, attempts } = await chatOf(setup.app, key.record.id);
    expect([status, cost]).toEqual([200, COST]);
    expect(attempts).toMatchObject([
      { droppedMembers: [typeof recorded === 'string' ? recorded : expect.stringMatching(recorded)] },
    ]);
    expect(await spentOf(key.secret)).toBe(usd(COST));
  });

  it('sends half a pair as U+FFFD, and whole ones as they came', async () => {
    const content = '\u{1f642} \ud83d \\ud83d';
    const response = await postChat(setup.app, { messages: [{ role: 'user', content }], user: '\udc00' });
    expect(response.status).toBe(200);
    expect(setup.upstream.requests.at(-1)?.body).toMatchObject({
      messages: [{ role: 'user', content: '\u{1f642} \ufffd \\ud83d' }],
      user: '\ufffd',
    });
  });

  it('has at most 100 dropped members of each attempt in the record', async () => {
    const key = await setup.app.createKey();
    const members = Object.fromEntries(Array.from({ length: 900 }, (_value, index) => [`own_${index}`, 1]));
    expect((await postChat(setup.app, members, { key: key.secret })).status).toBe(200);
    const [attempt] = (await chatOf(setup.app, key.record.id)).attempts;
    expect(attempt?.droppedMembers).toHaveLength(100);
  });
});

describe('a provider', () => {
  it('is paid for an answer whose words hold NUL and half a pair', async () => {
    setup.upstream.answerWith(
      streamOf(
        { ...text('Hello'), service_tier: `tier\ud800${'x'.repeat(5_000)}` },
        delta({}, 'a\0reason'),
        usageOnly(10, 2),
        '[DONE]',
      ),
    );
    const key = await setup.app.createKey({ limit: LIMIT });
    const read = await streamChat(setup.app, {}, { key: key.secret });
    expect([read.text, read.events.at(-1)]).toEqual(['Hello', '[DONE]']);
    const { status, cost, chat } = await chatOf(setup.app, key.record.id);
    expect([status, cost]).toEqual([200, COST]);
    expect(chat?.nativeFinishReason).toBe('a\ufffdreason');
    expect(chat?.serviceTier).toHaveLength(1_000);
    expect(await spentOf(key.secret)).toBe(usd(COST));
  });

  it('reports more tokens than a record can hold: they are counted instead', async () => {
    setup.upstream.answerWith(
      streamOf(text('Hello'), delta({}, 'stop'), usageOnly(2 ** 31 - 1, 1), '[DONE]'),
    );
    const key = await setup.app.createKey({ limit: LIMIT });
    const read = await streamChat(setup.app, {}, { key: key.secret });
    expect(read.events.at(-1)).toBe('[DONE]');
    const { status, cost, chat } = await chatOf(setup.app, key.record.id);
    expect([status, chat?.usageSource]).toEqual([200, 'counted']);
    expect(cost).toBeGreaterThan(0n);
    expect(await spentOf(key.secret)).toBe(usd(cost));
  });
});
