import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { wellFormedJson, wellFormedText, withoutNul } from './well-formed-json.js';

// Lone surrogates, backslashes and the letters of escapes, in any order.
const texts = fc
  .array(fc.constantFrom('\ud83d', '\ude42', '\\', 'u', 'd', '8', '0', '"', '\n', '\u0000', 'é', '🙂'), {
    maxLength: 24,
  })
  .map((parts) => parts.join(''));

describe('well-formed JSON', () => {
  it('equals JSON.stringify, with U+FFFD for lone surrogates, in keys as well', () => {
    fc.assert(
      fc.property(texts, texts, (key, value) => {
        fc.pre(key !== '__proto__');
        expect(JSON.parse(wellFormedJson({ [key]: [value] }))).toEqual({
          [key.toWellFormed()]: [value.toWellFormed()],
        });
      }),
      { numRuns: 2000 },
    );
  });

  it('writes a single text like a text within a value', () => {
    const anyText = fc.oneof(texts, fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(anyText, (text) => expect(`[${wellFormedText(text)}]`).toBe(wellFormedJson([text]))),
      { numRuns: 2000 },
    );
  });

  it('keeps a text that only looks like an escape', () => {
    expect(wellFormedJson(['\\ud800'])).toBe('["\\\\ud800"]');
    expect(wellFormedJson(['\\\ud800'])).toBe('["\\\\\ufffd"]');
  });
});

describe('JSON without U+0000', () => {
  it('has U+FFFD in its place, in keys as well, and is unchanged otherwise', () => {
    fc.assert(
      fc.property(texts, texts, (key, value) => {
        fc.pre(key !== '__proto__');
        const json = withoutNul(wellFormedJson({ [key]: [value] }));
        const clean = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');
        expect(JSON.parse(json)).toEqual({ [clean(key)]: [clean(value)] });
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps a text that only looks like an escape', () => {
    expect(withoutNul(wellFormedJson(['\\u0000']))).toBe('["\\\\u0000"]');
  });
});
