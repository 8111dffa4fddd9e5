import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { callerMetadata, traceText } from './caller-trace.js';

const anyText = fc.string({ unit: 'binary' });
const anyTrace = fc.dictionary(
  fc.oneof(anyText, fc.constantFrom('trace_id', 'constructor', '__proto__')),
  fc.oneof(fc.jsonValue({ stringUnit: 'binary' }), anyText, fc.constant('\ud800')),
);

function nested(depth: number): unknown {
  return depth === 0 ? 'the bottom' : { deeper: nested(depth - 1) };
}

describe('the known keys', () => {
  it('are read as text, and never from inherited members', () => {
    expect(traceText({ span_name: 'Embed', trace_name: 7 }, 'span_name')).toBe('Embed');
    expect(traceText({ span_name: 'Embed', trace_name: 7 }, 'trace_name')).toBe('7');
    expect(traceText(null, 'trace_id')).toBeNull();
    expect(traceText({ trace_id: { nested: 'x' } }, 'trace_id')).toBeNull();
  });
});

describe('the metadata', () => {
  it('is every other key, unchanged', () => {
    const trace = {
      trace_id: 'a',
      trace_name: 'b',
      span_name: 'c',
      generation_name: 'd',
      parent_span_id: 'e',
      environment: 'production',
      nested: { list: [1, null, true, { trace_id: 'kept in here' }], empty: {} },
    };
    expect(callerMetadata(trace)).toEqual({ environment: trace.environment, nested: trace.nested });
  });

  it('is empty without a trace', () => {
    expect(callerMetadata(null)).toEqual({});
  });

  it('is the same JSON for any trace, with well-formed texts', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const { trace_id: _traceId, ...others } = trace;
        const expected: unknown = JSON.parse(JSON.stringify(others), (_key, value: unknown) =>
          typeof value === 'string' ? value.toWellFormed() : value,
        );
        const metadata = callerMetadata(trace);
        expect(JSON.stringify(metadata)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        if (Object.keys(others).every((key) => key.isWellFormed())) {
          expect(JSON.parse(JSON.stringify(metadata))).toEqual(expected);
        }
      }),
    );
  });

  it('keeps keys that are special names of objects', () => {
    const trace = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<
      string,
      unknown
    >;
    const metadata = callerMetadata(trace);
    expect(Object.keys(metadata)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is bounded for any nesting depth', () => {
    expect(JSON.stringify(callerMetadata({ top: nested(30) }))).toContain('the bottom');
    expect(JSON.stringify(callerMetadata({ top: nested(5_000) }))).not.toContain('the bottom');
  });
});
