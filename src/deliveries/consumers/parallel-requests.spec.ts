// Several requests at once while a destination lags: order, repetitions, and the share of each failure.
import { describe, expect, it } from '@jest/globals';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import {
  CLAIM,
  createIsolation,
  DELIVERED,
  drain,
  ids,
  traces,
} from '../../../test/support/deliveries/poison-isolation.js';
import type { DeliveryTarget } from '../workspace-destinations.js';

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
    const claim = { ...CLAIM, failures: 9 };
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
