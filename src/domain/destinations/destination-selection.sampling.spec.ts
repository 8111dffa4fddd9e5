import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { createCandidate } from '../../../test/support/generations/generation-candidate.js';
import type { Generation } from '../generations/generation.js';
import { isSampled } from './destination-selection.js';

const uuids = fc.uuid();
const rates = fc.double({ min: 0.0001, max: 1, noNaN: true });
const sessions = fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }), { nil: null });
const traces = fc.option(fc.record({ trace_id: fc.string() }), { nil: null });
const generations = fc
  .record({ id: uuids, sessionId: sessions, trace: traces })
  .map((overrides) => generation(overrides));

function generation(overrides: Partial<Generation>): Generation {
  return createCandidate({ generation: overrides }).generation;
}

describe('a sample', () => {
  it('only grows with its rate', () => {
    fc.assert(
      fc.property(uuids, rates, rates, generations, (id, one, other, call) => {
        const [lower, higher] = [Math.min(one, other), Math.max(one, other)];
        if (isSampled({ id, samplingRate: lower }, call)) {
          expect(isSampled({ id, samplingRate: higher }, call)).toBe(true);
        }
        expect(isSampled({ id, samplingRate: 1 }, call)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has a session as a whole, regardless of its calls', () => {
    fc.assert(
      fc.property(
        uuids,
        rates,
        fc.string({ minLength: 1 }),
        generations,
        generations,
        (id, samplingRate, sessionId, one, other) => {
          expect(isSampled({ id, samplingRate }, { ...one, sessionId })).toBe(
            isSampled({ id, samplingRate }, { ...other, sessionId }),
          );
        },
      ),
    );
  });

  it('has a trace as a whole when there is no session', () => {
    fc.assert(
      fc.property(
        uuids,
        rates,
        fc.string({ minLength: 1 }),
        uuids,
        uuids,
        (id, samplingRate, traceId, one, other) => {
          const call = { sessionId: null, trace: { trace_id: traceId } };
          expect(isSampled({ id, samplingRate }, generation({ id: one, ...call }))).toBe(
            isSampled({ id, samplingRate }, generation({ id: other, ...call })),
          );
        },
      ),
    );
  });

  it('is decided the same way again', () => {
    fc.assert(
      fc.property(uuids, rates, generations, (id, samplingRate, call) => {
        expect(isSampled({ id, samplingRate }, structuredClone(call))).toBe(
          isSampled({ id, samplingRate }, call),
        );
      }),
    );
  });
});

describe('the size of a sample of 20,000', () => {
  const COUNT = 20_000;
  const A = '0193a1b2-0000-7000-8000-00000000000a';
  const B = '0193a1b2-0000-7000-8000-00000000000b';
  const template = generation({});
  const idOf = (index: number): string => `0193a1b2-c3d4-7000-8000-${index.toString(16).padStart(12, '0')}`;
  const inSessions = Array.from({ length: COUNT }, (_, index) => ({
    ...template,
    sessionId: `session-${index}`,
  }));
  const alone = Array.from({ length: COUNT }, (_, index) => ({ ...template, id: idOf(index) }));
  // An empty id is not a session: otherwise all such calls would be in, or none.
  const inNoSession = alone.map((call) => ({ ...call, sessionId: '' }));

  const sizeOf = (calls: readonly Generation[], samplingRate: number): number =>
    calls.filter((call) => isSampled({ id: A, samplingRate }, call)).length;
  /** Five standard deviations: one run in two million would exceed it, if the ids were not the same in every run. */
  const tolerance = (count: number, rate: number): number => 5 * Math.sqrt(count * rate * (1 - rate)) + 1;

  it.each([0.0001, 0.1, 0.5, 0.9])('is its rate of %d', (rate) => {
    for (const calls of [inSessions, alone, inNoSession]) {
      expect(Math.abs(sizeOf(calls, rate) - COUNT * rate)).toBeLessThan(tolerance(COUNT, rate));
    }
  });

  it('is the same in every tenth of the range: no value is more likely', () => {
    const sizes = Array.from({ length: 11 }, (_, step) => sizeOf(inSessions, step / 10));
    for (let step = 1; step <= 10; step++) {
      const between = (sizes[step] ?? 0) - (sizes[step - 1] ?? 0);
      expect(Math.abs(between - COUNT / 10)).toBeLessThan(tolerance(COUNT, 1 / 10));
    }
  });

  it('is independent of the sample of another destination', () => {
    const ofA = inSessions.filter((call) => isSampled({ id: A, samplingRate: 0.5 }, call));
    const ofBoth = ofA.filter((call) => isSampled({ id: B, samplingRate: 0.5 }, call));
    expect(Math.abs(ofBoth.length - ofA.length / 2)).toBeLessThan(tolerance(ofA.length, 0.5));
  });
});
