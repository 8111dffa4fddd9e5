import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { textHolding } from './text-search.js';

/** Whether the text contains the other, and the number of pieces of the search. */
function search(text: string, wanted: string): { readonly found: boolean; readonly pieces: number } {
  const pieces = textHolding(wanted)(text);
  if (typeof pieces === 'boolean') return { found: pieces, pieces: 1 };
  for (let count = 1; ; count++) {
    const { done, value } = pieces.next();
    if (done === true) return { found: value, pieces: count };
  }
}

describe('a search in a text', () => {
  it('finds the same as the built-in search, with any repetition', () => {
    const unit = fc.string({ unit: fc.constantFrom('a', 'b', 'ab', 'aab'), maxLength: 4 });
    const repeated = fc
      .tuple(unit, fc.integer({ min: 50, max: 200 }))
      .map(([text, times]) => text.repeat(times));
    const long = fc.tuple(repeated, unit, repeated).map((parts) => parts.join(''));
    fc.assert(
      fc.property(long, long, fc.nat(200), (text, wanted, cut) => {
        expect(search(text, wanted).found).toBe(text.includes(wanted));
        const part = text.slice(cut, -1);
        expect(search(text, part).found).toBe(true);
        expect(search(`${text}${wanted}`, wanted).found).toBe(true);
      }),
    );
  });

  it('reads each character of the text about once, in pieces: V8 takes minutes for this one', () => {
    const text = 'a'.repeat(5_000_000);
    const wanted = `${'a'.repeat(5_000)}b${'a'.repeat(4_999)}`;
    const { found, pieces } = search(text, wanted);
    expect(found).toBe(false);
    expect(pieces).toBe(51);
  });
});
