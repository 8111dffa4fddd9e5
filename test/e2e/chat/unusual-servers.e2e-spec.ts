// Servers that write their answers differently: whatever a client of such a server accepts is an answer here too
// (docs/contract.md#chat-streams).
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  answerChat,
  delta,
  HELLO,
  MODEL,
  postChat,
  startChat,
  streamChat,
  streamOf,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';
import type { StubHandler } from '../../support/upstreams/stub-upstream.js';

const OTHER_MODEL = 'mistralai/mistral-large-2512';

let setup: ChatSetup;
beforeAll(async () => {
  setup = await startChat();
});
beforeEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(() => setup.close());

const line = (event: object | string): string =>
  `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n`;
const ALL = HELLO.map((event) => `${line(event)}\n`);

/** A body of these bytes, as a stream of events. */
const streamBody =
  (body: string | Buffer, { status = 200, headers = {} } = {}): StubHandler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    response.end(body);
  };

async function expectHello(): Promise<void> {
  const { events, text: read, status } = await streamChat(setup.app);
  expect([status, read, events.at(-1)]).toEqual([200, 'Hello', '[DONE]']);
  expect(events.at(-2)).toMatchObject({ usage: { prompt_tokens: 10, completion_tokens: 2 } });
}

describe('a stream', () => {
  it.each([
    ['before its first chunk', ['data:\n\n', ...ALL]],
    ['between two chunks', [...ALL.slice(0, 2), 'data: \n\n', ...ALL.slice(2)]],
    ['behind its usage', [...ALL.slice(0, 5), 'data:\n\n', ...ALL.slice(5)]],
  ])('with an event without data %s is the same answer', async (_name, events) => {
    setup.upstream.answerWith(streamBody(events.join('')));
    await expectHello();
  });

  it('with events of other names, whatever their data are, is the same answer', async () => {
    const ping = 'event: ping\ndata: {"type":"ping"}\n\nevent: progress\ndata: 40 %\n\ndata: null\n\n';
    setup.upstream.answerWith(streamBody(`${ping}${ALL.join(ping)}`));
    await expectHello();
  });

  it('with its chunks on neighbouring lines is the same answer', async () => {
    setup.upstream.answerWith(streamBody(`${HELLO.map(line).join('')}\n`));
    await expectHello();
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('is decompressed although no compression was asked for (%s)', async (encoding, pack) => {
    setup.upstream.answerWith(streamBody(pack(ALL.join('')), { headers: { 'content-encoding': encoding } }));
    await expectHello();
    expect(setup.upstream.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('in an encoding that is not known ends with 502', async () => {
    setup.upstream.answerWith(streamBody('x', { headers: { 'content-encoding': 'rot13' } }));
    expect((await postChat(setup.app, { stream: true })).status).toBe(502);
  });

  it('is cut where it unpacks to more than an answer may have', async () => {
    const own = await startChat({ CHAT_MAX_ANSWER_BYTES: '1048576' });
    try {
      const bomb = gzipSync(Buffer.alloc(2 ** 26, ' '));
      const body = Buffer.concat([gzipSync(ALL.slice(0, 2).join('')), bomb]);
      own.upstream.answerWith(streamBody(body, { headers: { 'content-encoding': 'gzip' } }));
      const { events } = await streamChat(own.app);
      expect(events.at(-2)).toMatchObject({ error: { code: 502 } });
    } finally {
      await own.close();
    }
  });
});

describe('an error', () => {
  const error = (code: number): string =>
    JSON.stringify({ error: { message: 'temperature is too warm', code, type: 'odd' } });
  const FRAMES: readonly (readonly [string, (code: number) => string])[] = [
    ['as data', (code) => `data: ${error(code)}\n\n`],
    ['as an event of that name', (code) => `event: error\ndata: ${error(code)}\n\n`],
    ['without a field', (code) => `${error(code)}\n`],
    ['without a field, on several lines', (code) => JSON.stringify(JSON.parse(error(code)), null, 2)],
    ['in a list', (code) => `data: [${error(code)}]\n\n`],
    ['in a list without a field', (code) => `[${error(code)}\n]\n`],
  ];

  describe.each(FRAMES)('%s', (_name, frame) => {
    it.each([400, 200])(
      'of status 400 has its words, and no other endpoint is tried (HTTP %i)',
      async (status) => {
        setup.upstream.answerWith(streamBody(frame(400), { status }));
        for (const stream of [true, false]) {
          setup.upstream.requests.splice(0);
          const response = await postChat(setup.app, { stream, models: [MODEL, OTHER_MODEL] });
          expect(response.status).toBe(400);
          expect(await response.json()).toMatchObject({
            error: { metadata: { raw: 'temperature is too warm', provider_code: '400' } },
          });
          expect(setup.upstream.requests).toHaveLength(1);
        }
      },
    );

    it('of status 429 is answered by the next endpoint', async () => {
      setup.upstream.answerWith((request, response) => {
        const isFirst = setup.upstream.requests.length === 1;
        void (isFirst ? streamBody(frame(429)) : streamOf(...HELLO))(request, response);
      });
      const { text: read } = await streamChat(setup.app, { models: [MODEL, OTHER_MODEL] });
      expect([read, setup.upstream.requests.length]).toEqual(['Hello', 2]);
    });
  });
});

it('usage of many forms is charged by its parts', async () => {
  const withUsage = (usage: object): object => ({ ...usageOnly(0, 0), usage });
  const costOf = async (usage: object): Promise<unknown> => {
    setup.upstream.answerWith(streamOf(text('x'), delta({}, 'stop'), withUsage(usage), '[DONE]'));
    const { events } = await streamChat(setup.app);
    const chunk = events.at(-2);
    return chunk === '[DONE]' ? null : chunk?.usage?.['cost'];
  };
  expect(
    await costOf({
      prompt_tokens: 10_120,
      completion_tokens: 1_499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
    }),
  ).toBe(0.0109024);
  expect(
    await costOf({
      prompt_tokens: 500,
      completion_tokens: 500,
      total_tokens: 1_000,
      completion_tokens_details: { reasoning_tokens: 200 },
    }),
  ).toBe(0.001);
  expect(
    await costOf({
      prompt_tokens: 10_000,
      completion_tokens: 50,
      total_tokens: 10_050,
      cache_read_input_tokens: 8_000,
    }),
  ).toBe(0.00168);
});

it('an error behind the last finish reason changes nothing', async () => {
  setup.upstream.answerWith(
    streamOf(...HELLO.slice(0, 4), usageOnly(10, 2), { error: { code: 500, message: 'late' } }),
  );
  await expectHello();
});
