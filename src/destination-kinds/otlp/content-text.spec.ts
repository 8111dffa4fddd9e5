import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { beginning, inputText } from './content-text.js';

const itemsOf = (text: string): unknown[] => (JSON.parse(text) as { input: unknown[] }).input;
const anyText = fc.string({ unit: 'binary', maxLength: 200 });
const anyItem = fc.oneof(anyText, fc.array(fc.nat(), { maxLength: 20 }));

describe('inputText', () => {
  it('is the inputs as JSON', () => {
    expect(inputText({ items: ['a', [1, 2], ''], isTruncated: false }, 1000)).toEqual({
      text: '{"input":["a",[1,2],""]}',
      json: String.raw`"{\"input\":[\"a\",[1,2],\"\"]}"`,
      isTruncated: false,
    });
  });

  it('marks inputs that were cut before', () => {
    expect(inputText({ items: [], isTruncated: true }, 1000)).toEqual({
      text: '{"input":[]}',
      json: String.raw`"{\"input\":[]}"`,
      isTruncated: true,
    });
  });

  it('is cut at the end, and stays JSON', () => {
    const { text, isTruncated } = inputText(
      { items: ['first', '"second"', 'third'], isTruncated: false },
      28,
    );
    expect(isTruncated).toBe(true);
    expect(itemsOf(text)).toEqual(['first', '"seco']);
    expect(text).toHaveLength(28);
  });

  it('omits token ids that do not fit: half of them would be another input', () => {
    expect(inputText({ items: ['a', [100_000, 200_000], 'b'], isTruncated: false }, 20).text).toBe(
      '{"input":["a"]}',
    );
  });

  it('is within its bound, valid JSON, and the beginning of any inputs', () => {
    fc.assert(
      fc.property(
        fc.array(anyItem, { maxLength: 8 }),
        fc.integer({ min: 12, max: 400 }),
        (items, maxLength) => {
          const { text, isTruncated } = inputText({ items, isTruncated: false }, maxLength);
          expect(text.length).toBeLessThanOrEqual(maxLength);
          expect(text.isWellFormed()).toBe(true);
          const shown = itemsOf(text);
          const whole = items.map((item) => (typeof item === 'string' ? item.toWellFormed() : item));
          expect(shown.slice(0, -1)).toEqual(whole.slice(0, Math.max(shown.length - 1, 0)));
          const last = shown.at(-1);
          if (typeof last === 'string') expect(whole[shown.length - 1]).toMatch(startsWith(last));
          if (!isTruncated) expect(shown).toEqual(whole);
        },
      ),
    );
  });

  it('keeps most of a text that has few escapes', () => {
    const { text } = inputText({ items: ['word '.repeat(2000)], isTruncated: false }, 4095);
    expect(text).toHaveLength(4095);
  });
});

describe('beginning', () => {
  it('does not split a character', () => {
    expect(beginning('a🙂b', 2)).toBe('a');
    expect(beginning('a🙂b', 3)).toBe('a🙂');
    expect(beginning('a🙂b', 4)).toBe('a🙂b');
  });
});

/** A pattern for texts with the given beginning. */
function startsWith(text: string): RegExp {
  return new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)}`);
}
