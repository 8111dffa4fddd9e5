import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { boundedLabel, boundedText } from './bounded-text.js';

const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '🙂', '\ud83d', '\ude42', '\0'), maxLength: 12 });

describe('a bounded text', () => {
  it('is well-formed, within its bound, and at most one character shorter', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 12 }), (text, maxLength) => {
        const bounded = boundedText(text, maxLength);
        expect(bounded.isWellFormed()).toBe(true);
        expect(bounded.length).toBeLessThanOrEqual(maxLength);
        expect(bounded.length).toBeGreaterThanOrEqual(Math.min(text.length, maxLength - 1));
        expect(text.toWellFormed().startsWith(bounded.slice(0, -1))).toBe(true);
      }),
    );
  });

  it('is unchanged when it fits', () => {
    expect(boundedText('a🙂', 3)).toBe('a🙂');
  });

  it('ends before a character that would be split', () => {
    expect(boundedText('a🙂b', 2)).toBe('a');
  });
});

describe('a label', () => {
  it.each([null, undefined, ''])('is null for the empty value %p', (text) => {
    expect(boundedLabel(text)).toBeNull();
  });

  it('is kept up to a thousand characters', () => {
    expect(boundedLabel('x'.repeat(1_001))).toBe('x'.repeat(1_000));
    expect(boundedLabel('half \ud800')).toBe('half �');
  });
});
