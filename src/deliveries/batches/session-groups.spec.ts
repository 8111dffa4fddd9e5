// Groups of traces that are sent at the same time: whole sessions, in the order of the log, of about the same size.
import { describe, expect, it } from '@jest/globals';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { groupBySession } from './session-groups.js';

/** One trace for each name of a session, in this order; null: without a session. */
const tracesOf = (sessions: readonly (string | null)[]): readonly GenerationTrace[] =>
  sessions.map((sessionId, index) => generationTrace(index + 1, { sessionId }));
const numbersIn = (group: readonly GenerationTrace[]) =>
  group.map(({ generationId }) => Number.parseInt(generationId.slice(-12), 16));

describe('groupBySession', () => {
  it('keeps the traces of a session in one group, in the order of the log', () => {
    const sessions = Array.from({ length: 200 }, (_, index) => `session-${(index * 7) % 11}`);
    const groups = groupBySession(tracesOf(sessions), { groups: 4, maxTraces: 100 });
    const groupOf = new Map<string | null, number>();
    for (const [number, group] of groups.entries()) {
      expect(numbersIn(group)).toEqual(numbersIn(group).toSorted((one, other) => one - other));
      for (const { sessionId } of group) {
        expect(groupOf.get(sessionId) ?? number).toBe(number);
        groupOf.set(sessionId, number);
      }
    }
    expect(groups).toHaveLength(4);
    expect(groups.flatMap(numbersIn).toSorted((one, other) => one - other)).toEqual(
      sessions.map((_, index) => index + 1),
    );
  });

  it.each([[null], ['']])('divides traces with the session %p evenly, each by itself', (sessionId) => {
    const groups = groupBySession(tracesOf(Array.from({ length: 400 }, () => sessionId)), {
      groups: 4,
      maxTraces: 100,
    });
    expect(groups.map(({ length }) => length)).toEqual([100, 100, 100, 100]);
  });

  it('keeps traces of one trace id together when they have no session', () => {
    const traces = [1, 2, 3, 4].map((number) =>
      generationTrace(number, { sessionId: null, traceId: number % 2 === 0 ? 'even' : 'odd' }),
    );
    expect(groupBySession(traces, { groups: 2, maxTraces: 100 }).map(numbersIn)).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('gives large traces a group of their own', () => {
    const input = { items: ['x'.repeat(100_000)], isTruncated: false };
    const traces = [1, 2, 3, 4, 5].map((number) =>
      generationTrace(number, number === 1 ? { sessionId: null, input } : { sessionId: null }),
    );
    expect(groupBySession(traces, { groups: 2, maxTraces: 100 }).map(numbersIn)).toEqual([[1], [2, 3, 4, 5]]);
  });

  it('keeps a session whole that is longer than a request', () => {
    const traces = tracesOf([...Array.from({ length: 150 }, () => 'long'), 'short']);
    const groups = groupBySession(traces, { groups: 2, maxTraces: 100 });
    expect(groups.map(({ length }) => length)).toEqual([150, 1]);
  });

  it('leaves the traces as they are for one group', () => {
    const traces = tracesOf(['a', 'b', 'a']);
    expect(groupBySession(traces, { groups: 1, maxTraces: 100 })).toEqual([traces]);
  });
});
