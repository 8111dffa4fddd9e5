// The table of docs/contract.md#endings for streams, row by row: the charge, the health of the endpoint, the next endpoint,
// and what the client reads.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { OpenChats } from '../../../src/chat/run/open-chats.js';
import type { TestApp } from '../../support/app/app.js';
import { costOf, eventsOf, healthOf, startEndings } from '../../support/chat/endings.js';
import type { Answer, CallOutcome, EndingsService } from '../../support/chat/endings.js';
import { eventually } from '../../support/eventually.js';
import { repeated } from '../../support/extent.js';
import {
  beginStream,
  chatsOf,
  delta,
  postChat,
  sendEvent,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';

const WORDS = 'one two three';
// "hi" with a message's overhead, and the words above.
const COUNTED = costOf(5, 3);
const REPORTED = costOf(10, 2);

const stream = { stream: true };
type Step = object | string | ((response: ServerResponse) => void);
/** Sends events, and lets the connection be. */
const streaming =
  (...steps: readonly Step[]): Answer =>
  (_request, response) => {
    beginStream(response);
    for (const step of steps)
      if (typeof step === 'function') step(response);
      else sendEvent(response, step);
  };
const end = (response: ServerResponse): void => void response.end();
const cut = (response: ServerResponse): void => void setImmediate(() => response.destroy());
const FINISH = delta({}, 'stop');
const GOOD = streaming(text(WORDS), FINISH, usageOnly(10, 2), '[DONE]', end);
const SILENT: Answer = () => undefined;
const BUSY: Answer = (_request, response) => void response.writeHead(503).end('{}');

let service: EndingsService;
beforeAll(async () => {
  const environment = {
    CHAT_MAX_EVENT_BYTES: '8192',
    CHAT_MAX_ANSWER_BYTES: '32768',
    CHAT_MAX_DRAINS: '2',
  };
  service = await startEndings(environment, 2);
});
afterAll(async () => {
  await service.close();
});

/** The last error of a stream; null: it has none. */
function errorIn({ response }: CallOutcome) {
  const events = eventsOf(response?.body ?? '').filter((event) => event !== '[DONE]');
  return events.map(({ error }) => error).find((error) => error !== undefined) ?? null;
}

function finishReasonsIn({ response }: CallOutcome): readonly string[] {
  const events = eventsOf(response?.body ?? '').filter((event) => event !== '[DONE]');
  return events.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? []));
}

describe.each(
  repeated([
    ['one process', 0],
    ['a second replica', 1],
  ] as const),
)('at %s', (_name, index) => {
  const at = () => service.apps[index]!;

  it('a complete stream is charged as reported, and is a success of its endpoint', async () => {
    const outcome = await service.run({ app: at(), body: stream, answers: [GOOD, GOOD] });
    expect(outcome).toMatchObject({
      generation: { cost: REPORTED, chat: { usageSource: 'reported' }, attempts: [{ errorType: null }] },
      health: 100,
      tried: 1,
      unpaid: {},
    });
    expect(errorIn(outcome)).toBeNull();
  });

  it('a failure before content moves to the next endpoint, and a reported bill is unpaid', async () => {
    const failing = streaming(usageOnly(100, 50), { error: { code: 500, message: 'broken' } }, end);
    const outcome = await service.run({ app: at(), body: stream, answers: [failing, BUSY, GOOD] });
    expect(outcome).toMatchObject({
      generation: { cost: REPORTED, upstreamCost: REPORTED + costOf(100, 50) },
      health: 0,
      tried: 3,
    });
    expect(outcome.unpaid['failed_call']).toBeCloseTo(Number(costOf(100, 50)) / 1e12, 12);
  });

  it.each([
    ['an error event', { error: { code: 502, message: 'broken' } }, end],
    ['a broken event', '{"choices":[', end],
    ['a lost connection', cut],
    ['an end without a finish reason', end],
  ])('a failure after content by %s is free, and its work is unpaid', async (_how, ...steps) => {
    const outcome = await service.run({
      app: at(),
      body: stream,
      answers: [streaming(text(WORDS), ...(steps as Step[])), GOOD],
    });
    expect(outcome).toMatchObject({
      generation: {
        status: 502,
        cost: 0n,
        upstreamCost: COUNTED,
        chat: { usageSource: 'none' },
        attempts: [{ errorType: 'provider_after_content' }],
      },
      health: 0,
      tried: 1,
    });
    expect(outcome.unpaid['failed_call']).toBeCloseTo(Number(COUNTED) / 1e12, 12);
    expect(errorIn(outcome)).toMatchObject({ code: 502 });
  });

  it.each([
    ['an error event', { error: { code: 502, message: 'broken' } }, end],
    ['a broken event', '{"choices":[', end],
    ['a lost connection', cut],
    ['an event that is too large', text('x'.repeat(10_000)), end],
  ])(
    'a stream that breaks after its last finish reason by %s ends as a complete one',
    async (_how, ...steps) => {
      const outcome = await service.run({
        app: at(),
        body: stream,
        answers: [streaming(text(WORDS), FINISH, ...(steps as Step[])), GOOD],
      });
      expect(outcome).toMatchObject({
        generation: { status: 200, cost: COUNTED, chat: { usageSource: 'counted', finishReason: 'stop' } },
        health: 100,
        tried: 1,
        unpaid: {},
      });
      expect([errorIn(outcome), finishReasonsIn(outcome)]).toEqual([null, ['stop']]);
      expect(outcome.response?.body.endsWith('data: [DONE]\n\n')).toBe(true);
    },
  );

  it.each([
    ['bytes', Array.from({ length: 8 }, () => text('word '.repeat(1_000)))],
    ['the bytes of an event', [text('word '.repeat(2_000))]],
  ])(
    'a stream above the bound of %s is charged, says nothing of its endpoint, and must not be repeated',
    async (_what, large) => {
      const outcome = await service.run({
        app: at(),
        body: stream,
        answers: [streaming(text(WORDS), ...large, FINISH, usageOnly(10, 9_000), '[DONE]', end), GOOD],
      });
      const { cost, chat } = outcome.generation;
      expect(cost).toBeGreaterThanOrEqual(COUNTED);
      // The reservation: the prompt's bound and 500 tokens.
      expect(cost).toBeLessThanOrEqual(costOf(5 + 274, 500));
      expect(chat).toMatchObject({ usageSource: 'counted' });
      expect(outcome).toMatchObject({ health: null, tried: 1, generation: { status: 502 } });
      expect(errorIn(outcome)).toMatchObject({
        code: 502,
        metadata: { headers: { 'x-should-retry': 'false' } },
      });
    },
  );

  it('a stream with too large a first event has a status, and must not be repeated', async () => {
    const large = streaming(text('x'.repeat(10_000)), end);
    const outcome = await service.run({ app: at(), body: stream, answers: [large, GOOD] });
    expect(outcome).toMatchObject({ health: null, tried: 1, response: { status: 502 } });
    expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
    expect(outcome.generation.cost).toBe(costOf(5, 0));
  });
});

describe('a stream whose caller leaves', () => {
  it('is counted where its provider stops, and says nothing of its endpoint', async () => {
    const leaving = new AbortController();
    const outcome = await service.run({
      app: service.app,
      body: stream,
      answers: [streaming(text(WORDS)), GOOD],
      signal: leaving.signal,
      beside: async (headers) => {
        await headers;
        leaving.abort();
      },
    });
    expect(outcome).toMatchObject({
      generation: {
        status: 200,
        cost: COUNTED,
        chat: { isCancelled: true, usageSource: 'counted' },
        attempts: [{ errorType: 'caller_left' }],
      },
      health: null,
      tried: 1,
    });
  });

  it.each([
    ['as reported', 'the rest', REPORTED, 'reported'],
    ['as counted', 'an error', COUNTED, 'counted'],
  ] as const)(
    'is charged %s where its provider bills on and then sends %s, and says nothing of its endpoint',
    async (_how, sent, cost, usageSource) => {
      const leaving = new AbortController();
      let proceed = (): void => undefined;
      const answer: Answer = (request, response) => {
        streaming(text(WORDS))(request, response);
        proceed = () => {
          if (sent === 'the rest')
            for (const event of [FINISH, usageOnly(10, 2), '[DONE]']) sendEvent(response, event);
          else sendEvent(response, { error: { code: 500, message: 'broken' } });
          response.end();
        };
      };
      const outcome = await service.run({
        app: service.app,
        body: stream,
        billing: 'runs_on',
        answers: [answer, GOOD],
        signal: leaving.signal,
        beside: async (headers) => {
          await headers;
          leaving.abort();
          await eventually(
            () => service.app.http.get('/metrics'),
            ({ text: metrics }) => metrics.includes('signalbox_chat_open_drains 1'),
          );
          proceed();
        },
      });
      expect(outcome).toMatchObject({
        generation: { cost, chat: { isCancelled: true, usageSource } },
        health: null,
        tried: 1,
      });
    },
  );
});

describe('a text that comes as another member', () => {
  it.each(['content', 'reasoning', 'a_name_of_its_own'])(
    'is charged as it is read, as %s too, when its caller leaves',
    async (member) => {
      const { app } = service;
      const model = service.newModel();
      service.answer(model, streaming(text('a'), delta({ [member]: 'word '.repeat(200) })));
      const key = await app.createKey({ limit: 10n ** 12n });
      const leaving = new AbortController();
      const { body } = await postChat(
        app,
        { model, max_tokens: 500, ...stream },
        { key: key.secret, signal: leaving.signal },
      );
      const reader = body!.getReader();
      for (let read = ''; !read.includes('word word');)
        read += Buffer.from((await reader.read()).value ?? []).toString();
      leaving.abort();
      const [generation] = await eventually(
        () => chatsOf(app, key.record.id),
        ({ length }) => length === 1,
      );
      const tokens = Number((generation?.cost ?? 0n) - costOf(5, 0)) / Number(costOf(0, 1));
      expect(tokens).toBeGreaterThanOrEqual(200);
      expect(tokens).toBeLessThanOrEqual(260);
    },
  );
});

describe('drains', () => {
  it('are shared by account, and a call without one is counted as far as it came', async () => {
    const { app } = service;
    const abandon = async (key: string, id: string, billing: 'runs_on') => {
      const model = service.newModel(billing);
      service.answer(model, streaming(text(WORDS)));
      const leaving = new AbortController();
      const response = await fetch(`${app.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content: 'hi' }],
          max_tokens: 500,
          ...stream,
        }),
        signal: leaving.signal,
      });
      expect(response.status).toBe(200);
      leaving.abort();
      return id;
    };
    const drains = async (count: number) =>
      eventually(
        () => app.http.get('/metrics'),
        ({ text: metrics }) => metrics.includes(`signalbox_chat_open_drains ${count}`),
      );
    await drains(0);
    const [one, other] = [await app.createAccount(), await app.createAccount()];
    await abandon(one.apiKey, one.key.id, 'runs_on');
    await drains(1);
    // The second one of the account has no drain: its share of two is one.
    await abandon(one.apiKey, one.key.id, 'runs_on');
    const [counted] = await eventually(
      () => chatsOf(app, one.key.id),
      ({ length }) => length === 1,
    );
    expect(counted).toMatchObject({ cost: COUNTED, chat: { usageSource: 'counted', isCancelled: true } });
    await abandon(other.apiKey, other.key.id, 'runs_on');
    await drains(2);
    expect(await chatsOf(app, other.key.id)).toEqual([]);
    app.application.get(OpenChats).abortAll();
    await drains(0);
    app.application.get(OpenChats).isShuttingDown = false;
  });
});

describe('a service whose times are short', () => {
  let impatient: EndingsService;
  let fuse: EndingsService;
  beforeAll(async () => {
    impatient = await startEndings({ CHAT_FIRST_TOKEN_TIMEOUT_MS: '1000', CHAT_HEADERS_TIMEOUT_MS: '1000' });
    fuse = await startEndings({ CHAT_DEADLINE_MS: '3000', CHAT_SLOW_READER_TIMEOUT_MS: '60000' });
  });
  afterAll(async () => {
    await impatient.close();
    await fuse.close();
  });

  const ROLE = streaming(delta({ role: 'assistant' }));
  it.each([
    ['headers', SILENT],
    ['a first content', ROLE],
  ])(
    'tries one other endpoint after a stream without %s in time, and counts the work as unpaid',
    async (_what, hung) => {
      const outcome = await impatient.run({ app: impatient.app, body: stream, answers: [hung, hung, GOOD] });
      const { cost, upstreamCost, attempts } = outcome.generation;
      expect(outcome).toMatchObject({ tried: 2, health: 0, response: { status: 524 } });
      expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
      expect([cost, upstreamCost]).toEqual([0n, 2n * costOf(5, 0)]);
      expect(attempts.map(({ errorType }) => errorType)).toEqual(['own_timeout', 'own_timeout']);
      expect(outcome.unpaid['ended_here']).toBeCloseTo(Number(2n * costOf(5, 0)) / 1e12, 12);
    },
  );

  it('estimates hidden reasoning of an endpoint that it has cut, and charges the next one alone', async () => {
    const { app } = impatient;
    const outcome = await impatient.run({ app, body: stream, billing: 'hidden', answers: [ROLE, GOOD] });
    const { cost, upstreamCost } = outcome.generation;
    expect(outcome).toMatchObject({ tried: 2, health: 0, response: { status: 200 } });
    expect(cost).toBe(REPORTED);
    // A second at 200 tokens, and at most the 500 tokens that the call may have.
    expect(upstreamCost).toBeGreaterThanOrEqual(REPORTED + costOf(5, 195));
    expect(upstreamCost).toBeLessThanOrEqual(REPORTED + costOf(5, 500));
    expect(outcome.unpaid['ended_here']).toBeGreaterThan(0);
  });

  it('charges a stream whose deadline comes in its content, and says nothing of its endpoint', async () => {
    const { app } = fuse;
    const outcome = await fuse.run({ app, body: stream, answers: [streaming(text(WORDS)), GOOD] });
    expect(outcome).toMatchObject({
      generation: { status: 408, cost: COUNTED, attempts: [{ errorType: 'caller_deadline' }] },
      health: null,
      tried: 1,
      unpaid: {},
    });
    expect(errorIn(outcome)).toMatchObject({
      code: 408,
      metadata: { headers: { 'x-should-retry': 'false' } },
    });
  });

  it('charges nothing for a deadline before any content, and counts the work as unpaid', async () => {
    const outcome = await fuse.run({ app: fuse.app, body: stream, answers: [SILENT, GOOD] });
    expect(outcome).toMatchObject({
      generation: { status: 408, cost: 0n, upstreamCost: costOf(5, 0) },
      health: null,
      tried: 1,
      response: { status: 408 },
    });
    expect(outcome.response?.headers.get('x-should-retry')).toBe('false');
    expect(outcome.unpaid['ended_here']).toBeCloseTo(Number(costOf(5, 0)) / 1e12, 12);
  });

  const FLOOD: Answer = (_request, response) => {
    beginStream(response);
    const more = (): void => {
      if (response.destroyed) return;
      response.write(`data: ${JSON.stringify(text('word '.repeat(10_000)))}\n\n`, more);
    };
    more();
  };

  /** Reads the headers, and then so many bytes a second. */
  function trickle(app: TestApp, key: string, model: string, bytes: number) {
    const body = JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 500,
      ...stream,
    });
    const { hostname, port } = new URL(app.origin);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(
      `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const timer = setInterval(() => socket.read(Math.min(bytes, socket.readableLength)), 1_000);
    return () => {
      clearInterval(timer);
      socket.destroy();
    };
  }

  it('charges a stream that its caller holds up until the deadline, and says nothing of its endpoint', async () => {
    const model = fuse.newModel();
    fuse.answer(model, FLOOD);
    const key = await fuse.app.createKey({ limit: 10n ** 12n });
    const stop = trickle(fuse.app, key.secret, model, 0);
    const [generation] = await eventually(
      () => chatsOf(fuse.app, key.record.id),
      ({ length }) => length === 1,
    );
    stop();
    expect(generation).toMatchObject({ status: 408, attempts: [{ errorType: 'caller_deadline' }] });
    expect(generation?.cost).toBeGreaterThan(COUNTED);
    expect(await healthOf(fuse.app, model)).toBeNull();
  });

  it('counts a caller as gone that reads a few bytes a second', async () => {
    const slow = await startEndings({ CHAT_SLOW_READER_TIMEOUT_MS: '1500' });
    const model = slow.newModel();
    slow.answer(model, FLOOD);
    const key = await slow.app.createKey({ limit: 10n ** 12n });
    const stop = trickle(slow.app, key.secret, model, 100);
    const [generation] = await eventually(
      () => chatsOf(slow.app, key.record.id),
      ({ length }) => length === 1,
    );
    stop();
    expect(generation).toMatchObject({
      status: 200,
      chat: { isCancelled: true, usageSource: 'counted' },
      attempts: [{ errorType: 'caller_too_slow' }],
    });
    expect(generation?.cost).toBeGreaterThan(COUNTED);
    expect(await healthOf(slow.app, model)).toBeNull();
    await slow.close();
  });
});
