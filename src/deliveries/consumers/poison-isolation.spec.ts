// Isolation of poison traces: which traces are delivered, kept or rejected while a platform fails.
import { describe, expect, it } from '@jest/globals';
import type { TraceResult } from '../batches/batch-sender.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import {
  CLAIM,
  createIsolation,
  DELIVERED,
  drain,
  ids,
  REJECTED,
  traces,
} from '../../../test/support/deliveries/poison-isolation.js';
import type { Answer, TestIsolation } from '../../../test/support/deliveries/poison-isolation.js';

/** Sends all of them, and counts the attempts that fail. */
async function sendAll({ send }: TestIsolation, waiting: readonly GenerationTrace[]) {
  const settled = new Map<string, TraceResult>();
  let failures = 0;
  while (settled.size < waiting.length && failures < 1_000) {
    const sent = await send(waiting.filter(({ generationId }) => !settled.has(generationId)));
    for (const [id, result] of sent.results) settled.set(id, result);
    if (sent.failure) failures++;
  }
  return { failures, outcomes: [...settled].filter(([, { outcome }]) => outcome !== 'delivered') };
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
    expect(await drain({ send }, waiting)).toEqual([1, 2, 4, 8, 16, 19]);
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

describe('one trace of a large batch that fails', () => {
  it.each([0, 1, 333, 600, 998])('is isolated in a few attempts at index %i of 1000', async (index) => {
    const waiting = traces(1_000);
    const poison = ids(waiting)[index]!;
    const isolation = createIsolation(
      ({ generationId }) => (generationId === poison ? 500 : 'delivered'),
      { maxTraces: 1_000 },
      CLAIM,
      { isAtomic: true },
    );
    const { failures, outcomes } = await sendAll(isolation, waiting);
    expect(outcomes).toMatchObject([[poison, { outcome: 'refused' }]]);
    expect(failures).toBeLessThan(25);
    expect(isolation.requests.length).toBeLessThan(45);
  });

  it('lets the others through step by step when it passes after all', async () => {
    const waiting = traces(1_000);
    const fallible = ids(waiting)[600]!;
    let left = 12;
    const isolation = createIsolation(
      ({ generationId }) => (generationId === fallible && left-- > 0 ? 503 : 'delivered'),
      { maxTraces: 1_000 },
      CLAIM,
      { isAtomic: true },
    );
    expect(await sendAll(isolation, waiting)).toEqual({ failures: 12, outcomes: [] });
    expect(isolation.requests.length).toBeLessThan(35);
  });

  it('does not shrink the batches of a destination that limits the rate', async () => {
    const { send, sizeOf } = createIsolation(() => 429);
    await send(traces(100));
    expect(sizeOf()).toBe(100);
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
      failure: { class: 'blocked', message: 'everything is refused: HTTP 400: no', refusesAll: true },
    });
  });

  it.each<Answer>(['refused', 'too_large'])(
    'keeps the twentieth trace that is %s, whatever the number of consumers that sent them',
    async (answer) => {
      const outcomes: unknown[] = [];
      for (let consecutiveRejections = 0; consecutiveRejections < 20; consecutiveRejections++) {
        const { send } = createIsolation(() => answer, {}, { ...CLAIM, consecutiveRejections });
        const { results, failure } = await send(traces(1));
        outcomes.push(failure?.class ?? [...results.values()][0]?.outcome);
      }
      expect(outcomes).toEqual([...Array(19).fill(answer), 'blocked']);
    },
  );

  it('is given twenty more after one accepted trace, named or not', async () => {
    const waiting = traces(2);
    const { send, sendAgain } = createIsolation(
      ({ generationId }) => (generationId === ids(waiting)[0] ? 'delivered' : 'refused'),
      {},
      { ...CLAIM, consecutiveRejections: 19 },
    );
    await sendAgain(waiting.slice(0, 1));
    expect(await send(waiting.slice(1))).toMatchObject({ failure: null });
  });

  it('rejects traces whose replay was requested by name', async () => {
    const { sendAgain } = createIsolation(() => 'refused');
    const { results, failure } = await sendAgain(traces(32));
    expect(failure).toBeNull();
    expect([...results.values()]).toEqual(traces(32).map(() => REJECTED));
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
      const { send } = createIsolation(rejectingOnly(poison), {}, { ...CLAIM, failures, isPaused: true });
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
      { ...CLAIM, failures: 4, isPaused: true },
    );
    expect((await send(waiting)).results.size).toBe(20);
    expect(sender.failures).toBe(0);
  });

  it.each([3, 9])('keeps all traces when it still rejects everything after %i failures', async (failures) => {
    const { send } = createIsolation(() => 'refused', {}, { ...CLAIM, failures, isPaused: true });
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await send(traces(30))).toMatchObject({ results: new Map(), failure: { class: 'blocked' } });
    }
  });

  it('keeps a single rejected trace, because no other trace was accepted', async () => {
    const { send } = createIsolation(() => 'refused', {}, { ...CLAIM, failures: 4, isPaused: true });
    expect(await send(traces(1))).toMatchObject({ results: new Map(), failure: { class: 'blocked' } });
  });

  it('keeps all traces when it fails during isolation, and retries later', async () => {
    const waiting = traces(5);
    const [poison] = ids(waiting);
    const { send, requests } = createIsolation(
      ({ generationId }) => (generationId === poison ? 'refused' : 503),
      {},
      { ...CLAIM, failures: 4, isPaused: true },
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
      { ...CLAIM, failures: 4, isPaused: true },
    );
    expect(await send(waiting)).toMatchObject({ results: new Map(), failure: { status: 500 } });
  });
});

describe('a filter in front of the platform', () => {
  const PAUSED = { ...CLAIM, failures: 3, isPaused: true };

  it.each([0, 1, 333, 998])('makes few pauses when it blocks one trace at index %i', async (index) => {
    const waiting = traces(1_000);
    const poison = ids(waiting)[index]!;
    const isolation = createIsolation(
      ({ generationId }) => (generationId === poison ? 403 : 'delivered'),
      { maxTraces: 1_000 },
      CLAIM,
      { isAtomic: true },
    );
    const { failures, outcomes } = await sendAll(isolation, waiting);
    expect(outcomes).toMatchObject([[poison, { outcome: 'refused' }]]);
    // Each failure is a pause of minutes.
    expect(failures).toBeLessThanOrEqual(3);
    expect(isolation.requests.length).toBeLessThan(45);
  });

  it('gets one witness for each attempt, and keeps all traces while it blocks everything', async () => {
    const { send, requests } = createIsolation(() => 403, {}, PAUSED);
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await send(traces(30))).toMatchObject({ results: new Map(), failure: { status: 403 } });
    }
    expect(requests).toHaveLength(10);
  });

  // The traces of a conversation repeat its texts: those behind a blocked one are often blocked too.
  it.each<readonly Answer[]>([
    [403, 403],
    [403, 'refused'],
    [403, 500],
    [500, 403],
    ['refused', 403],
  ])('gives up the bad traces alone when it answers %s and %s to two in a row', async (...bad) => {
    const waiting = traces(bad.length + 4);
    const answers = new Map(ids(waiting).map((id, index) => [id, bad[index] ?? 'delivered']));
    const settled = new Map<string, TraceResult>();
    let [failures, isPaused] = [10, true];
    for (let attempt = 1; attempt <= 20 && settled.size < waiting.length; attempt++) {
      // Each attempt after a pause is another claim.
      const { sender, send } = createIsolation(
        ({ generationId }) => answers.get(generationId) ?? 'delivered',
        {},
        { failures, isPaused, consecutiveRejections: 19 },
      );
      const sent = await send(waiting.filter(({ generationId }) => !settled.has(generationId)));
      for (const [id, result] of sent.results) settled.set(id, result);
      [failures, isPaused] = [sender.failures, sent.failure !== null];
    }
    expect(ids(waiting).map((id) => settled.get(id)?.outcome)).toEqual([
      ...bad.map(() => 'refused'),
      ...Array(4).fill('delivered'),
    ]);
  });

  it('keeps the suspected trace when it passes after all', async () => {
    const waiting = traces(3);
    let blocked = 1;
    const { send } = createIsolation(() => (blocked-- > 0 ? 403 : 'delivered'), {}, PAUSED);
    const { results, failure } = await send(waiting);
    expect(failure).toBeNull();
    expect([...results.values()]).toEqual([DELIVERED, DELIVERED]);
  });

  it('is not suspected of blocking one trace when the credentials are refused', async () => {
    const { send, requests } = createIsolation(() => 401, {}, PAUSED);
    await send(traces(5));
    expect(requests).toHaveLength(1);
  });
});

describe('a requested replay', () => {
  it.each([500, 403])('stays a dead letter when the platform answers %i to it alone', async (status) => {
    const letters = traces(4);
    const poison = ids(letters)[2];
    const { sendAgain } = createIsolation(({ generationId }) =>
      generationId === poison ? status : 'delivered',
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

  it.each([503, 401])('remains requested while the platform answers %i', async (status) => {
    const { sendAgain } = createIsolation(() => status);
    expect(await sendAgain(traces(3))).toMatchObject({ results: new Map(), failure: { status } });
  });

  it('remains requested while a paused destination answers 403', async () => {
    const { sendAgain } = createIsolation(() => 403, {}, { ...CLAIM, isPaused: true });
    expect(await sendAgain(traces(3))).toMatchObject({ results: new Map(), failure: { status: 403 } });
  });

  it('is not tried for every letter of a platform that answers 403 to all of them', async () => {
    const { sendAgain, requests } = createIsolation(() => 403);
    expect(await sendAgain(traces(100))).toMatchObject({ results: new Map(), failure: { status: 403 } });
    expect(requests.length).toBeLessThanOrEqual(21);
  });

  it('finds many letters in a row that a filter blocks, among others that it accepts', async () => {
    const letters = traces(60);
    const accepted = new Set([0, 15, 30, 45].map((index) => ids(letters)[index]));
    const { sendAgain } = createIsolation(({ generationId }) =>
      accepted.has(generationId) ? 'delivered' : 403,
    );
    const { results, failure } = await sendAgain(letters);
    expect(failure).toBeNull();
    expect(results.size).toBe(60);
    expect([...results.values()].filter(({ outcome }) => outcome === 'refused')).toHaveLength(56);
  });

  it('remains requested after nineteen others that were sent alone and blocked', async () => {
    const { sendAgain } = createIsolation(() => 403);
    const outcomes: unknown[] = [];
    for (const letter of traces(21)) {
      const { results, failure } = await sendAgain([letter]);
      outcomes.push(failure?.status ?? results.get(letter.generationId)?.outcome);
    }
    expect(outcomes).toEqual([...Array(19).fill('refused'), 403, 403]);
  });

  it('stays a dead letter with all others that are blocked while the platform accepts new traces', async () => {
    const [next, ...letters] = traces(51);
    const { send, sendAgain } = createIsolation((trace) => (trace === next ? 'delivered' : 403));
    await send([next!]);
    const { results, failure } = await sendAgain(letters);
    expect(failure).toBeNull();
    expect([...results.values()].map(({ outcome }) => outcome)).toEqual(Array(50).fill('refused'));
  });
});
