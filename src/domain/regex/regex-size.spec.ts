import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { RE2JS } from 're2js';
import { MAX_REGEX_SIZE, sizeOfRegex } from './regex-size.js';

/** Instructions of the compiled program; null for invalid RE2. */
function programSizeOf(pattern: string): number | null {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch {
    return null;
  }
}

describe('the size of a regular expression', () => {
  it.each([
    ['secret|password', 17],
    ['.{1000}', 1_002],
    ['(?:a){3}b', 6],
    ['(ab){2,5}', 25],
    ['x{3,}', 7],
    ['\\Qa.b{3}\\E{2}', 9],
    ['a||()', 9],
    ['[a-z]{10}', 12],
    ['a{,5}', 7],
  ])('%s comes to at most %d instructions', (pattern, size) => {
    expect(sizeOfRegex(pattern).size).toBe(size);
    expect(programSizeOf(pattern)).toBeLessThanOrEqual(size);
  });

  it.each([
    { name: 'a long literal, repeated', pattern: `(?:${'a'.repeat(900)}){1000}`, least: 900_002 },
    { name: 'a repeat of repeats', pattern: '((a{20}){10}){10}', least: 2_000 },
    { name: 'a repeat of repeats, without captures', pattern: '(?:(?:a{100}){100}){100}', least: 1_000_002 },
    { name: 'a class of Unicode, repeated', pattern: '(?i)[\\p{L}]{500}', least: 5_000 },
    { name: 'a repeat behind flags', pattern: '(?:abc)(?i){1000}', least: 3_000 },
    { name: 'a class of many classes', pattern: `(?i)[${'\\pL'.repeat(300)}]`, least: 6_000 },
    { name: 'wide ranges without case', pattern: `(?i)${'[\u{100}-\u{1fff}]'.repeat(100)}`, least: 3_000 },
    { name: 'many alternatives', pattern: '(?:a|b|c|d|e|f){300}', least: 3_300 },
  ])('$name is beyond the bound', ({ pattern, least }) => {
    expect(sizeOfRegex(pattern).size).toBeGreaterThanOrEqual(least);
    expect(least).toBeGreaterThan(MAX_REGEX_SIZE);
  });

  it('is never below that of the program', () => {
    const piece = fc.constantFrom(
      'a',
      'bc',
      '.',
      '^',
      '$',
      '|',
      '(',
      '(?:',
      '(?P<n>',
      '(?i)',
      '(?s-i:',
      ')',
      '*',
      '+',
      '?',
      '{2}',
      '{0}',
      '{3,}',
      '{2,5}',
      '{,3}',
      '[a-c]',
      '[^a]',
      '[]a]',
      '[[:alpha:]x]',
      '[\\d-z]',
      '\\d',
      '\\W',
      '\\pL',
      '\\p{Greek}',
      '\\b',
      '\\Q',
      '\\E',
      '\\x41',
      '\\x{3b1}',
      '\\012',
      '\\.',
      '[\\pL\\s]',
      '-',
      ']',
      '}',
      '\u{1f600}',
    );
    let compiled = 0;
    let runs = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        runs += 1;
        const open = pieces.filter((each) => each.startsWith('(') && !each.endsWith(')')).length;
        const pattern =
          pieces.join('') + ')'.repeat(open - pieces.filter((each) => each === ')').length > 0 ? open : 0);
        const { size } = sizeOfRegex(pattern);
        if (size > 5_000) return;
        const actual = programSizeOf(pattern);
        if (actual === null) return;
        compiled++;
        expect(actual).toBeLessThanOrEqual(size);
      }),
      { numRuns: 2_000, seed: 7 },
    );
    expect(compiled).toBeGreaterThan(runs / 10);
  });

  it('returns the nesting depth of groups', () => {
    expect(sizeOfRegex('a').depth).toBe(0);
    expect(sizeOfRegex('(a)(b)').depth).toBe(1);
    expect(sizeOfRegex(`${'(?:'.repeat(60)}a${')'.repeat(60)}`).depth).toBe(60);
    expect(sizeOfRegex('[(((]\\(\\(\\Q(((\\E').depth).toBe(0);
  });
});
