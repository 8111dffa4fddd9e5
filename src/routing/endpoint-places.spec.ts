// Places are handed on in the order in which they were asked for; none is lost, and none is given twice.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Cancellation } from '../outbound/cancellation.js';
import { EndpointPlaces } from './endpoint-places.js';

const LATER = performance.now() + 3_600_000;

type Step = { readonly deed: 'come' } | { readonly deed: 'go' | 'cancel'; readonly who: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ deed: fc.constant('come' as const) }),
    fc.record({ deed: fc.constantFrom('go' as const, 'cancel' as const), who: fc.nat(20) }),
  ),
  { maxLength: 60 },
);

describe('places', () => {
  it('are taken while there are any, and never more than there are', () => {
    const places = new EndpointPlaces();
    expect([1, 2, 3].map(() => places.tryTake(2))).toEqual([true, true, false]);
    places.giveBack();
    expect([1, 2].map(() => places.tryTake(2))).toEqual([true, false]);
  });

  it('are lost by nobody, whoever comes, goes and is cancelled in whatever order, and the first is served first', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (deeds, limit) => {
        const places = new EndpointPlaces();
        const holders: number[] = [];
        const queue: { readonly who: number; readonly cancellation: Cancellation }[] = [];
        const ended: number[] = [];
        for (const [who, step] of deeds.entries()) {
          if (step.deed === 'come' && places.tryTake(limit)) holders.push(who);
          else if (step.deed === 'come') {
            const cancellation = new Cancellation();
            queue.push({ who, cancellation });
            void places.wait(LATER, cancellation).then((hasPlace) => (hasPlace ? holders : ended).push(who));
          } else if (step.deed === 'go' && holders.length > 0) {
            holders.splice(step.who % holders.length, 1);
            const before = [...holders];
            places.giveBack();
            await nextTurn();
            const next = queue.shift();
            expect(holders).toEqual(next ? [...before, next.who] : before);
          } else if (step.deed === 'cancel' && queue.length > 0) {
            const [left] = queue.splice(step.who % queue.length, 1);
            left?.cancellation.abort();
            await nextTurn();
            expect(ended.at(-1)).toBe(left?.who);
          }
          expect(holders.length).toBeLessThanOrEqual(limit);
          if (queue.length > 0) expect(holders).toHaveLength(limit);
        }
        for (const { cancellation } of queue) cancellation.abort();
      }),
    );
  });

  it('are not waited for beyond the deadline, nor by who has been cancelled before', async () => {
    const places = new EndpointPlaces();
    const cancelled = new Cancellation();
    cancelled.abort();
    places.tryTake(1);
    expect(await places.wait(performance.now() - 1, new Cancellation())).toBe(false);
    expect(await places.wait(LATER, cancelled)).toBe(false);
    places.giveBack();
    expect(places.tryTake(1)).toBe(true);
  });

  it('are free again when who was next is cancelled at the same moment', async () => {
    const places = new EndpointPlaces();
    const cancellation = new Cancellation();
    places.tryTake(1);
    const wait = places.wait(LATER, cancellation);
    places.giveBack();
    expect(places.tryTake(1)).toBe(false);
    cancellation.abort();
    expect(await wait).toBe(false);
    await nextTurn();
    expect([1, 2].map(() => places.tryTake(1))).toEqual([true, false]);
  });
});
