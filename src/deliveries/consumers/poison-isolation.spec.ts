// Isolation of poison traces: which traces are delivered, kept or rejected while a platform fails.
import { describe, expect, it } from '@jest/globals';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationTrace } from '../../../test/support/generation-trace.js';
import type { SendResult, TraceResult } from '../batches/batch-sender.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { PoisonIsolation } from './poison-isolation.js';
import type { IsolationOptions } from './poison-isolation.js';

type Answer = 'delivered' | 'refused' | number;

const DELIVERED: TraceResult = { outcome: 'delivered' };
const REJECTED: TraceResult = { outcome: 'refused', message: 'HTTP 400: no' };
const CLAIM = { failures: 0, isPaused: false };

function failureOf(status: number): SendResult['failure'] {
  return { class: status === 401 ? 'blocked' : 'retry', status, message: `HTTP ${status}: oops` };
}

const traces = (count: number) => Array.from({ length: count }, (_, index) => generationTrace(index + 1));
const ids = (list: readonly GenerationTrace[]) => list.map(({ generationId }) => generationId);

/**
 * A platform whose answer is decided by the first trace that it does not accept. All traces before it are delivered.
 */
function createIsolation(
  answerTo: (trace: GenerationTrace) => Answer,
  limits = {},
  claim = CLAIM,
  options: Partial<IsolationOptions> = {},
) {
  const requests: (readonly GenerationTrace[])[] = [];
  const sender = new PoisonIsolation(
    {
      send: async (_target, group) => {
        requests.push(group);
        const settled: TraceResult[] = [];
        for (const trace of group) {
          const answer = answerTo(trace);
          if (typeof answer === 'number') return { settled, rejected: 0, failure: failureOf(answer) };
          settled.push(answer === 'delivered' ? DELIVERED : REJECTED);
        }
        return { settled, rejected: 0, failure: null };
      },
      countRequests: () => 1,
    },
    claim,
    { maxRequests: 4, ahead: new Map(), ...options },
  );
  const target = { kind: { delivery: { limits: { maxTraces: 100, ...limits } } } } as DeliveryTarget;
  const { signal } = new AbortController();
  /** Sends as many traces as requested and counts a failure, like a destination consumer. */
  const send = async (waiting: readonly GenerationTrace[]) => {
    const { maxTraces } = sender.batchBounds(target);
    const sent = await sender.send(target, waiting.slice(0, maxTraces), signal);
    if (sent.failure) sender.failures++;
    else if (!sent.hasRest) sender.noteBacklog(waiting.length > maxTraces);
    return sent;
  };
  const sendAgain = (letters: readonly GenerationTrace[]) => sender.sendAgain(target, letters, signal);
  return { sender, requests, send, sendAgain, sizeOf: () => sender.batchBounds(target).maxTraces };
}

/** Sends all of them, batch by batch, as long as there are no failures. */
async function drain(
  { send }: Pick<ReturnType<typeof createIsolation>, 'send'>,
  waiting: readonly GenerationTrace[],
): Promise<number[]> {
  const sizes: number[] = [];
  let rest = waiting;
  while (rest.length > 0) {
    const { results, failure } = await send(rest);
    if (failure) throw new Error(failure.message);
    sizes.push(results.size);
    rest = rest.filter(({ generationId }) => !results.has(generationId));
  }
  return sizes;
}

describe('a platform that answers every attempt with its own error', () => {
  it('keeps all traces while every trace fails, however long it lasts', async () => {
    const waiting = traces(50);
    let isDown = true;
    const { send } = createIsolation(() => (isDown ? 500 : 'delivered'));
    for (let attempt = 1; attempt <= 30; attempt++) {
      expect(await send(waiting)).toMatchObject({ results: new Map(), failure: { status: 500 } });
    }
    isDown = false;
    expect(await send(waiting)).toMatchObject({ failure: null, hasRest: true });
    const { results } = await send(waiting);
    expect([...results.values()]).toEqual(waiting.map(() => DELIVERED));
  });

  it('delivers other traces, and rejects the one trace that always fails', async () => {
    const waiting = traces(5);
    const [poison] = ids(waiting);
    const { send, requests } = createIsolation(({ generationId }) =>
      generationId === poison ? 500 : 'delivered',
    );
    for (let attempt = 1; attempt <= 9; attempt++) expect((await send(waiting)).results.size).toBe(0);
    const { results, failure, hasRest } = await send(waiting);
    expect(failure).toBeNull();
    expect(hasRest).toBe(true);
    expect([...results]).toEqual([
      [ids(waiting)[1], DELIVERED],
      [poison, { outcome: 'refused', message: 'given up after 11 attempts: HTTP 500: oops' }],
    ]);
    requests.length = 0;
    const rest = await send(waiting.slice(2));
    expect(rest.hasRest).toBe(false);
    expect(requests.map(ids)).toEqual([ids(waiting.slice(2))]);
  });

  it('keeps the suspected trace when the platform recovers before the last attempt', async () => {
    const waiting = traces(3);
    let errors = 1;
    const { send } = createIsolation(() => (errors-- > 0 ? 500 : 'delivered'), {}, { ...CLAIM, failures: 9 });
    const { results, failure } = await send(waiting);
    expect(failure).toBeNull();
    expect([...results.values()]).toEqual([DELIVERED, DELIVERED]);
  });

  it('keeps a single waiting trace: no other trace can show that it is at fault', async () => {
    const { send } = createIsolation(() => 500, {}, { ...CLAIM, failures: 40 });
    expect(await send(traces(1))).toMatchObject({ results: new Map(), failure: { status: 500 } });
  });

  it.each([502, 503, 504, 529])('is not probed with other traces after %i', async (status) => {
    const { send, requests } = createIsolation(() => status, {}, { ...CLAIM, failures: 40 });
    await send(traces(5));
    expect(requests).toHaveLength(1);
  });
});

describe('a part that was delivered before a failure', () => {
  it('counts once: the attempts that follow are consecutive failures', async () => {
    const waiting = traces(10);
    const fallible = ids(waiting)[4] ?? '';
    const { send, sender, sizeOf } = createIsolation(({ generationId }) =>
      generationId === fallible ? 503 : 'delivered',
    );
    expect((await send(waiting)).results.size).toBe(4);
    expect(sender.failures).toBe(1);
    for (let attempt = 1; attempt <= 4; attempt++) await send(waiting.slice(4));
    expect(sender.failures).toBe(5);
    expect(sizeOf()).toBe(1);
  });

  it('is not sent again behind a failed trace, until the cursor is set back', async () => {
    const waiting = traces(4);
    const fallible = ids(waiting)[0];
    const { send, sender, requests } = createIsolation(
      ({ generationId }) => (generationId === fallible ? 503 : 'delivered'),
      { maxTraces: 1, parallelRequests: 4 },
    );
    await send(waiting);
    requests.length = 0;
    for (let attempt = 1; attempt <= 12; attempt++) await send(waiting);
    expect(new Set(requests.flatMap(ids))).toEqual(new Set([fallible]));
    sender.forget();
    sender.failures = 0;
    requests.length = 0;
    await send(waiting);
    expect(requests).toHaveLength(4);
  });
});

describe('a platform that rejects everything', () => {
  it.each<[string, object]>([
    ['in one request', {}],
    ['in many at once', { maxTraces: 1, parallelRequests: 32 }],
  ])('keeps all traces %s: the platform is at fault', async (_name, limits) => {
    const { send } = createIsolation(() => 'refused', limits);
    expect(await send(traces(32))).toMatchObject({
      results: new Map(),
      failure: { class: 'blocked', message: 'everything is refused: HTTP 400: no' },
    });
  });

  it('rejects traces whose replay was requested by name', async () => {
    const { sendAgain } = createIsolation(() => 'refused');
    const { results, failure } = await sendAgain(traces(32));
    expect(failure).toBeNull();
    expect([...results.values()]).toEqual(traces(32).map(() => REJECTED));
  });
});

describe('a destination that lags', () => {
  const withoutSession = (count: number) =>
    Array.from({ length: count }, (_, index) => generationTrace(index + 1, { sessionId: null }));
  const inSessions = (count: number, sessions: number) =>
    Array.from({ length: count }, (_, index) =>
      generationTrace(index + 1, { sessionId: `session-${index % sessions}` }),
    );

  it('gets one more request at once after each batch, up to the maximum, and one when it has caught up', async () => {
    const isolation = createIsolation(() => 'delivered');
    expect(await drain(isolation, withoutSession(1_410))).toEqual([100, 200, 300, 400, 400, 10]);
    expect(isolation.requests.map(({ length }) => length)).toEqual([...Array(14).fill(100), 10]);
    expect(isolation.sizeOf()).toBe(100);
  });

  it('gets one request at a time when the operator wants it', async () => {
    const isolation = createIsolation(() => 'delivered', {}, CLAIM, { maxRequests: 1 });
    expect(await drain(isolation, withoutSession(350))).toEqual([100, 100, 100, 50]);
  });

  it('gets one request again after a failure', async () => {
    const waiting = withoutSession(900);
    const fallible = ids(waiting)[350];
    const { send, sizeOf } = createIsolation(({ generationId }) =>
      generationId === fallible ? 503 : 'delivered',
    );
    await send(waiting);
    await send(waiting.slice(100));
    expect(sizeOf()).toBe(300);
    expect(await send(waiting.slice(300))).toMatchObject({ failure: { status: 503 } });
    expect(sizeOf()).toBe(100);
  });

  it('keeps the order within each session, and sends nothing twice, whatever fails', async () => {
    const waiting = inSessions(900, 9);
    const fails = new Map([150, 260, 261, 470, 800].map((index) => [ids(waiting)[index] ?? '', 2]));
    const arrived: GenerationTrace[] = [];
    const isolation = createIsolation((trace) => {
      const left = fails.get(trace.generationId) ?? 0;
      fails.set(trace.generationId, left - 1);
      if (left > 0) return 503;
      arrived.push(trace);
      return 'delivered';
    });
    let rest: readonly GenerationTrace[] = waiting;
    while (rest.length > 0) {
      const { results } = await isolation.send(rest);
      const firstOpen = rest.findIndex(({ generationId }) => !results.has(generationId));
      rest = firstOpen === -1 ? rest.slice(results.size) : rest.slice(firstOpen);
    }
    expect(arrived).toHaveLength(900);
    for (let session = 0; session < 9; session++) {
      const isOf = ({ sessionId }: GenerationTrace) => sessionId === `session-${session}`;
      expect(ids(arrived.filter(isOf))).toEqual(ids(waiting.filter(isOf)));
    }
  });

  it('keeps a session in one request after the other', async () => {
    const { send, requests } = createIsolation(() => 'delivered');
    const waiting = traces(500);
    await send(waiting);
    await send(waiting.slice(100));
    expect(requests.map(ids)).toEqual([
      ids(waiting.slice(0, 100)),
      ids(waiting.slice(100, 200)),
      ids(waiting.slice(200, 300)),
    ]);
  });

  it('hands what is settled ahead to the next consumer', async () => {
    const waiting = withoutSession(400);
    const fallible = ids(waiting)[100];
    const first = createIsolation(({ generationId }) => (generationId === fallible ? 503 : 'delivered'));
    await first.send(waiting);
    await first.send(waiting.slice(100));
    const { ahead } = first.sender;
    expect(ahead.size).toBe(100);
    const next = createIsolation(() => 'delivered', {}, CLAIM, { ahead });
    await drain(next, waiting.slice(100));
    const repeated = next.requests.flatMap(ids).filter((id) => ahead.has(id));
    expect(repeated).toEqual([]);
  });

  it('reads as far as the witnesses behind all that is settled ahead', async () => {
    const waiting = withoutSession(420);
    const [poison] = ids(waiting);
    const ahead = new Map(ids(waiting.slice(1, 400)).map((id) => [id, DELIVERED]));
    const claim = { failures: 9, isPaused: false };
    const { sender, send } = createIsolation(
      ({ generationId }) => (generationId === poison ? 500 : 'delivered'),
      {},
      claim,
      { ahead },
    );
    const target = { kind: { delivery: { limits: { maxTraces: 100 } } } } as DeliveryTarget;
    expect(sender.batchBounds(target)).toEqual({ maxTraces: 419, requests: 5 });
    expect((await send(waiting)).results.get(poison ?? '')).toMatchObject({ outcome: 'refused' });
  });

  it('rejects the one poison trace of a group, and delivers the others once', async () => {
    const waiting = withoutSession(600);
    const poison = ids(waiting)[250];
    const isolation = createIsolation(({ generationId }) =>
      generationId === poison ? 'refused' : 'delivered',
    );
    await drain(isolation, waiting);
    expect(isolation.requests.flatMap(ids)).toHaveLength(600);
  });

  it('pauses for the failure that asks for the longer pause', async () => {
    const waiting = withoutSession(300);
    const limited = new Map([100, 101].map((index) => [ids(waiting)[index], index === 101 ? 401 : 503]));
    const { send } = createIsolation(({ generationId }) => limited.get(generationId) ?? 'delivered');
    await send(waiting);
    expect((await send(waiting.slice(100))).failure).toMatchObject({ class: 'blocked', status: 401 });
  });
});

describe('a paused destination', () => {
  const rejectingOnly =
    (...rejected: readonly (string | undefined)[]) =>
    ({ generationId }: GenerationTrace): Answer =>
      rejected.includes(generationId) ? 'refused' : 'delivered';

  it.each([1, 2, 3, 5, 8, 9, 30])(
    'passes a poison trace after %i failures, once it is repaired',
    async (failures) => {
      const waiting = traces(30);
      const [poison] = ids(waiting);
      const { send } = createIsolation(rejectingOnly(poison), {}, { failures, isPaused: true });
      const { results, failure } = await send(waiting);
      expect(failure).toBeNull();
      expect(results.get(poison ?? '')).toEqual(REJECTED);
      const rest = waiting.filter(({ generationId }) => !results.has(generationId));
      const last = await send(rest);
      expect([...last.results.values()]).toEqual(rest.map(() => DELIVERED));
    },
  );

  it('passes several poison traces', async () => {
    const waiting = traces(30);
    const { send, sender } = createIsolation(
      rejectingOnly(...ids(waiting).slice(0, 19)),
      {},
      { failures: 4, isPaused: true },
    );
    expect((await send(waiting)).results.size).toBe(20);
    expect(sender.failures).toBe(0);
  });

  it.each([3, 9])('keeps all traces when it still rejects everything after %i failures', async (failures) => {
    const { send } = createIsolation(() => 'refused', {}, { failures, isPaused: true });
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await send(traces(30))).toMatchObject({ results: new Map(), failure: { class: 'blocked' } });
    }
  });

  it('keeps a single rejected trace, because no other trace was accepted', async () => {
    const { send } = createIsolation(() => 'refused', {}, { failures: 4, isPaused: true });
    expect(await send(traces(1))).toMatchObject({ results: new Map(), failure: { class: 'blocked' } });
  });

  it('keeps all traces when it fails during isolation, and retries later', async () => {
    const waiting = traces(5);
    const [poison] = ids(waiting);
    const { send, requests } = createIsolation(
      ({ generationId }) => (generationId === poison ? 'refused' : 503),
      {},
      { failures: 4, isPaused: true },
    );
    expect(await send(waiting)).toMatchObject({
      results: new Map(),
      failure: { class: 'retry', status: 503 },
    });
    expect(requests).toHaveLength(2);
  });

  it('rejects no trace for its first own error', async () => {
    const waiting = traces(5);
    const [fallible] = ids(waiting);
    const { send } = createIsolation(
      ({ generationId }) => (generationId === fallible ? 500 : 'delivered'),
      {},
      { failures: 4, isPaused: true },
    );
    expect(await send(waiting)).toMatchObject({ results: new Map(), failure: { status: 500 } });
  });
});

describe('a requested replay', () => {
  it('stays a dead letter when the platform answers with its own error to it alone', async () => {
    const letters = traces(4);
    const poison = ids(letters)[2];
    const { sendAgain } = createIsolation(({ generationId }) =>
      generationId === poison ? 500 : 'delivered',
    );
    const { results, failure } = await sendAgain(letters);
    expect(failure).toBeNull();
    expect(ids(letters).map((id) => results.get(id)?.outcome)).toEqual([
      'delivered',
      'delivered',
      'refused',
      'delivered',
    ]);
  });

  it('remains requested while the platform is unavailable', async () => {
    const { sendAgain } = createIsolation(() => 503);
    expect(await sendAgain(traces(3))).toMatchObject({ results: new Map(), failure: { status: 503 } });
  });
});
