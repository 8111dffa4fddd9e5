// The table of docs/contract.md#endings for answers without a stream. They have no content before their end, so that the
// rows of failures after content do not exist.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LoadShedder } from '../../../src/http/load-shedding/load-shedder.js';
import { costOf, startEndings } from '../../support/chat/endings.js';
import type { Answer, Billing, CallOutcome, EndingsService } from '../../support/chat/endings.js';
import { eventually } from '../../support/eventually.js';
import { repeated } from '../../support/extent.js';
import { answerChat, chatsOf, postChat } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

const REPORTED = costOf(10, 2);
const KIBIBYTE = 1_024;

const BUSY: Answer = (_request, response) => void response.writeHead(503).end('{}');
const SILENT: Answer = () => undefined;
const answerOf = (content: string, members: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  ...members,
});

let service: EndingsService;
beforeAll(async () => {
  service = await startEndings(
    { CHAT_MAX_WHOLE_ANSWER_BYTES: String(64 * KIBIBYTE), MAX_BYTES_IN_FLIGHT: String(256 * KIBIBYTE) },
    2,
  );
});
afterAll(() => service.close());

describe.each(
  repeated([
    ['one process', 0],
    ['a second replica', 1],
  ] as const),
)('at %s', (_name, index) => {
  const at = () => service.apps[index]!;

  it('a whole answer is charged as reported, and is a success of its endpoint', async () => {
    const outcome = await service.run({ app: at(), answers: [answerChat, SILENT] });
    expect(outcome).toMatchObject({ generation: { cost: REPORTED }, health: 100, tried: 1, unpaid: {} });
  });

  it('a whole answer is charged as counted where its provider reports no usage', async () => {
    const plain: Answer = (_request, response) => sendJson(response, 200, answerOf('one two three'));
    const outcome = await service.run({ app: at(), answers: [plain, SILENT] });
    expect(outcome).toMatchObject({
      generation: { cost: costOf(5, 3), chat: { usageSource: 'counted' } },
      health: 100,
    });
  });

  it('a failure moves to the next endpoint, and a reported bill is unpaid', async () => {
    const failing: Answer = (_request, response) =>
      sendJson(response, 200, {
        error: { code: 500, message: 'broken' },
        usage: { prompt_tokens: 100, completion_tokens: 50 },
      });
    const outcome = await service.run({ app: at(), answers: [failing, BUSY, answerChat] });
    expect(outcome).toMatchObject({
      generation: { cost: REPORTED, upstreamCost: REPORTED + costOf(100, 50) },
      health: 0,
      tried: 3,
    });
    expect(outcome.unpaid['failed_call']).toBeCloseTo(Number(costOf(100, 50)) / 1e12, 12);
  });

  it('a whole answer above its bound of bytes is charged by an estimate, says nothing of its endpoint, and must not be repeated', async () => {
    const large: Answer = (_request, response) =>
      sendJson(
        response,
        200,
        answerOf('word '.repeat(20_000), { usage: { prompt_tokens: 10, completion_tokens: 20_000 } }),
      );
    const outcome = await service.run({ app: at(), answers: [large, answerChat] });
    const { cost, upstreamCost, chat } = outcome.generation;
    expect(outcome).toMatchObject({ health: null, tried: 1, response: { status: 502 } });
    expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
    // The call may have 500 tokens; the bytes that came were those of many more.
    expect([cost, upstreamCost, chat?.usageSource]).toEqual([costOf(5, 500), costOf(5, 500), 'estimated']);
  });
});

describe('the bytes of an answer without a stream', () => {
  it('are acquired before its call, by the tokens that it may have', async () => {
    const { app } = service;
    const releases: (() => void)[] = [];
    const model = service.newModel();
    service.answer(model, (request, response) => {
      releases.push(() => answerChat(request, response));
    });
    // 8,000 tokens with 21 log probabilities each are more than an answer may have: it acquires all of that.
    const chat = { model, max_tokens: 1_000, n: 8, logprobs: true, top_logprobs: 20 };
    const statuses: number[] = [];
    const calls = Array.from({ length: 8 }, async () => {
      const response = await postChat(app, chat);
      statuses.push(response.status);
      await response.text();
    });
    await eventually(
      () => Promise.resolve([releases.length, statuses.length]),
      ([held = 0, answered = 0]) => held + answered === calls.length,
    );
    expect([releases.length, new Set(statuses)]).toEqual([3, new Set([503])]);
    for (const release of releases) release();
    await Promise.all(calls);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    await app.application.get(LoadShedder).whenIdle();
    const { text } = await app.http.get('/metrics');
    expect(text).toContain('in_flight_bytes{group="chats"} 0');
  });
});

describe('a caller that leaves before its answer', () => {
  async function leave(billing: Billing, finish: boolean): Promise<CallOutcome> {
    const leaving = new AbortController();
    let finishIt = (): void => undefined;
    const before = service.upstream.requests.length;
    const answer: Answer = (request, response) => {
      finishIt = () => answerChat(request, response);
    };
    return service.run({
      app: service.app,
      billing,
      answers: [answer, SILENT],
      signal: leaving.signal,
      beside: async () => {
        await eventually(
          () => Promise.resolve(service.upstream.requests.length),
          (count) => count > before,
        );
        leaving.abort();
        if (!finish) return;
        await eventually(
          () => service.app.http.get('/metrics'),
          ({ text }) => text.includes('signalbox_chat_open_drains 1'),
        );
        finishIt();
      },
    });
  }

  it('pays the prompt where its provider stops', async () => {
    const outcome = await leave('stops_always', false);
    expect(outcome).toMatchObject({
      generation: {
        status: 499,
        cost: costOf(5, 0),
        chat: { isCancelled: true, usageSource: 'counted' },
        attempts: [{ errorType: 'caller_left' }],
      },
      health: null,
      tried: 1,
    });
  });

  it('pays the reported usage where its provider bills to the end', async () => {
    const outcome = await leave('runs_on', true);
    expect(outcome).toMatchObject({
      generation: { status: 499, cost: REPORTED, chat: { isCancelled: true, usageSource: 'reported' } },
      health: null,
      tried: 1,
    });
  });

  it('has left as well when it closes only its sending side', async () => {
    const { app } = service;
    const model = service.newModel('stops_always');
    service.answer(model, SILENT);
    const key = await app.createKey({ limit: 10n ** 12n });
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 500 });
    const { hostname, port } = new URL(app.origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const before = service.upstream.requests.length;
    socket.write(
      `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.secret}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await eventually(
      () => Promise.resolve(service.upstream.requests.length),
      (count) => count > before,
    );
    const received: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => received.push(bytes));
    socket.end();
    await once(socket, 'end');
    const [generation] = await eventually(
      () => chatsOf(app, key.record.id),
      ({ length }) => length === 1,
    );
    expect(generation).toMatchObject({ status: 499, chat: { isCancelled: true } });
    expect(Buffer.concat(received).toString()).toBe('');
  });
});

describe('a service whose times are short', () => {
  it('tries one other endpoint after an answer that did not come in time, and estimates the work as unpaid', async () => {
    const impatient = await startEndings({ CHAT_ANSWER_TIMEOUT_MS: '1000' });
    const { app } = impatient;
    const outcome = await impatient.run({ app, answers: [SILENT, SILENT, answerChat] });
    const { cost, upstreamCost, attempts } = outcome.generation;
    expect(outcome).toMatchObject({ tried: 2, health: 0, response: { status: 524 } });
    expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
    expect(cost).toBe(0n);
    // A second at 200 tokens each, and at most the 500 tokens that the call may have.
    expect(upstreamCost).toBeGreaterThanOrEqual(2n * costOf(5, 195));
    expect(upstreamCost).toBeLessThanOrEqual(2n * costOf(5, 500));
    expect(attempts.map(({ errorType }) => errorType)).toEqual(['own_timeout', 'own_timeout']);
    expect(outcome.unpaid['ended_here']).toBeCloseTo(Number(upstreamCost) / 1e12, 12);
    await impatient.close();
  });

  it('charges nothing for a deadline before the answer, and counts the work as unpaid', async () => {
    const fuse = await startEndings({ CHAT_DEADLINE_MS: '2000' });
    const outcome = await fuse.run({ app: fuse.app, answers: [SILENT, answerChat] });
    expect(outcome).toMatchObject({
      generation: { status: 408, cost: 0n, attempts: [{ errorType: 'own_deadline' }] },
      health: null,
      tried: 1,
      response: { status: 408 },
    });
    expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
    expect(outcome.unpaid['ended_here']).toBeGreaterThan(0);
    await fuse.close();
  });
});
