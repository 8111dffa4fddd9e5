import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { callerTraceIdOf, parentSpanIdOf, spanIdOf, traceIdOf } from './trace-ids.js';

const ID = '0193a1b2-c3d4-7000-8000-0123456789ab';
const WORKSPACE = '0193a1b2-0000-7000-8000-00000000000a';
const OTHER_WORKSPACE = '0193a1b2-0000-7000-8000-00000000000b';
const traced = (trace: Record<string, unknown> | null, workspaceId = WORKSPACE) => ({
  id: ID,
  workspaceId,
  trace,
});
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: digits, maxLength: digits });

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

describe('the id of a trace', () => {
  it("is the generation's own when the caller has none", () => {
    for (const trace of [
      null,
      {},
      { trace_id: '' },
      { trace_id: null },
      { trace_id: ['a'] },
      { trace_id: true },
    ]) {
      expect(traceIdOf(traced(trace))).toBe('0193a1b2c3d4700080000123456789ab');
      expect(callerTraceIdOf(traced(trace))).toBeNull();
    }
  });

  it("is the caller's if it is 32 hex digits and not zero", () => {
    fc.assert(
      fc.property(
        hex(32).filter((id) => !/^0+$/.test(id)),
        (id) => {
          expect(traceIdOf(traced({ trace_id: id }))).toBe(id.toLowerCase());
          expect(traceIdOf(traced({ trace_id: id }, OTHER_WORKSPACE))).toBe(id.toLowerCase());
          expect(callerTraceIdOf(traced({ trace_id: id }))).toBeNull();
        },
      ),
    );
  });

  it("is a hash of the caller's text otherwise, which is kept", () => {
    const texts = fc.oneof(fc.string({ minLength: 1 }), hex(31), hex(33), fc.constant('0'.repeat(32)));
    fc.assert(
      fc.property(texts, (text) => {
        const id = traceIdOf(traced({ trace_id: text }));
        expect(id).toMatch(TRACE_ID);
        expect(id).not.toBe(traceIdOf(traced(null)));
        expect(traceIdOf(traced({ trace_id: text }))).toBe(id);
        expect(callerTraceIdOf(traced({ trace_id: text }))).toBe(text);
        // Equal texts of two customers have different ids.
        expect(traceIdOf(traced({ trace_id: text }, OTHER_WORKSPACE))).not.toBe(id);
      }),
    );
  });

  it('reads a number as its text', () => {
    expect(traceIdOf(traced({ trace_id: 42 }))).toBe(traceIdOf(traced({ trace_id: '42' })));
    expect(callerTraceIdOf(traced({ trace_id: 42 }))).toBe('42');
  });
});

describe('the id of a parent span', () => {
  it('is null unless the caller has one', () => {
    expect(parentSpanIdOf(traced(null))).toBeNull();
    expect(parentSpanIdOf(traced({ parent_span_id: '' }))).toBeNull();
    expect(parentSpanIdOf(traced({ trace_id: 'a' }))).toBeNull();
  });

  it("is the caller's 16 hex digits, or a hash of the caller's text", () => {
    expect(parentSpanIdOf(traced({ parent_span_id: '00F067AA0BA902B7' }))).toBe('00f067aa0ba902b7');
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 1 }), hex(16), fc.constant('0'.repeat(16))), (text) => {
        const id = parentSpanIdOf(traced({ parent_span_id: text }));
        expect(id).toMatch(SPAN_ID);
        expect(parentSpanIdOf(traced({ parent_span_id: text }))).toBe(id);
      }),
    );
  });
});

describe('the id of a span', () => {
  it('is a pure function of destination and generation, and never zero', () => {
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (destinationId, generationId) => {
        const id = spanIdOf(destinationId, generationId);
        expect(id).toMatch(SPAN_ID);
        expect(spanIdOf(destinationId, generationId)).toBe(id);
        const pair = destinationId + generationId;
        expect(seen.get(id) ?? pair).toBe(pair);
        seen.set(id, pair);
      }),
      { numRuns: 1_000 },
    );
  });

  it('differs between destinations and between generations', () => {
    const ids = [spanIdOf(WORKSPACE, ID), spanIdOf(OTHER_WORKSPACE, ID), spanIdOf(WORKSPACE, WORKSPACE)];
    expect(new Set(ids).size).toBe(3);
  });
});
