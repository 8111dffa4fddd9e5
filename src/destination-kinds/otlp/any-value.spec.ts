import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { anyValueOf, decimal, flag, integer, text, texts, writeAttribute } from './any-value.js';
import type { AnyValue } from './any-value.js';

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const anyValue = fc
  .oneof(
    anyText.map(text),
    fc.boolean().map(flag),
    fc.maxSafeInteger().map(integer),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(decimal),
    fc.array(anyText, { minLength: 1, maxLength: 3 }).map(texts),
    fc.jsonValue().map(anyValueOf),
  )
  .filter((value) => value !== null);

describe('an attribute', () => {
  it('is written like JSON.stringify, with well-formed texts', () => {
    fc.assert(
      fc.property(anyText, anyValue, (key, value) => {
        const read: unknown = JSON.parse(writeAttribute({ key, value }));
        expect(read).toEqual({ key: key.toWellFormed(), value: wellFormed(value) });
      }),
      { numRuns: 1000 },
    );
  });

  it('reuses the JSON of its text when it is known', () => {
    expect(writeAttribute({ key: 'a', value: { stringValue: '"', json: String.raw`"\""` } })).toBe(
      String.raw`{"key":"a","value":{"stringValue":"\""}}`,
    );
  });
});

/** The value that JSON would read; JSON has no negative zero. */
function wellFormed(value: AnyValue): unknown {
  return JSON.parse(JSON.stringify(value), (_name, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed() : member,
  );
}
