import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { editStrings, hasRepeatedNames } from './edited-strings.js';

const AT_TEXT = (path: readonly (string | number)[]) => path.join('.') === 'texts.1';

describe('editStrings', () => {
  it('replaces a part of one string, and keeps all other bytes', () => {
    const bytes = Buffer.from('{ "n": 1.0e5, "texts": ["a@b", "to \\u0061nn\\u0040b.c \\ud83d\\ude00😀!"] }');
    const edited = editStrings(bytes, (path) =>
      AT_TEXT(path)
        ? [
            { start: 3, end: 10, text: '["E"]' },
            { start: 13, end: 15, text: ':)' },
          ]
        : null,
    );
    expect(edited.toString()).toBe('{ "n": 1.0e5, "texts": ["a@b", "to [\\"E\\"] \\ud83d\\ude00:)!"] }');
  });

  it('edits what a reader of the document sees', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        (text, one, other, isEscaped) => {
          // Between grapheme clusters, as matches are.
          const parts = [...new Intl.Segmenter().segment(text)].map(({ index }) => index).concat(text.length);
          const [start, end] = [parts[one % parts.length]!, parts[other % parts.length]!].toSorted(
            (a, b) => a - b,
          );
          const json = JSON.stringify({ texts: ['x', text] });
          const escaped = json.replace(
            /[^ -~]/g,
            (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
          );
          const edited = editStrings(Buffer.from(isEscaped ? escaped : json), (path) =>
            AT_TEXT(path) ? [{ start: start!, end: end!, text: '[X]' }] : null,
          );
          const wanted = { texts: ['x', `${text.slice(0, start)}[X]${text.slice(end)}`] };
          expect(JSON.parse(edited.toString())).toEqual(wanted);
        },
      ),
    );
  });
});

describe('hasRepeatedNames', () => {
  it.each([
    ['{"a":1,"b":{"a":2}}', false],
    ['{"a":[{"b":1},{"b":2}]}', false],
    ['{"a":{"b":1,"\\u0062":2}}', true],
  ])('%s: %s', (json, repeats) => {
    expect(hasRepeatedNames(Buffer.from(json))).toBe(repeats);
  });
});
