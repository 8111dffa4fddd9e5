// Source: docs/contract.md#filter-rules.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { compileFilter } from './filter-match.js';
import { FILTER_FIELDS, FILTER_OPERATORS } from './filter-rules.js';
import type { FilterField, FilterOperator, FilterRule } from './filter-rules.js';

type Value = string | number;

/** Whether one rule matches a text of its field. All other fields are missing. */
function matches(
  operator: FilterOperator,
  value: Value | undefined,
  text: string | null | undefined,
  field: FilterField = 'model',
) {
  const rule: FilterRule = value === undefined ? { field, operator } : { field, operator, value };
  const filter = compileFilter({ enabled: true, groups: [{ logic: 'and', rules: [rule] }] });
  return filter.passes((asked) => (asked === field ? text : null));
}

interface OperatorCase {
  /** A value that the text '1250' matches, and one that it does not; undefined: the operator takes none. */
  readonly hit: Value | undefined;
  readonly miss: Value | undefined;
  /** The text of the miss, if a different text and not a different value causes it. */
  readonly missText?: string;
  readonly hitText?: string;
  readonly whenMissing: boolean;
}

const CASES: Readonly<Record<FilterOperator, OperatorCase>> = {
  equals: { hit: '1250', miss: '125', whenMissing: false },
  not_equals: { hit: '125', miss: '1250', whenMissing: true },
  contains: { hit: '25', miss: '52', whenMissing: false },
  not_contains: { hit: '52', miss: '25', whenMissing: true },
  regex: { hit: '^1\\d+0$', miss: '^2', whenMissing: false },
  starts_with: { hit: '12', miss: '25', whenMissing: false },
  ends_with: { hit: '50', miss: '12', whenMissing: false },
  gt: { hit: 1249.5, miss: 1250, whenMissing: false },
  lt: { hit: '1250.5', miss: '1250', whenMissing: false },
  gte: { hit: 1250, miss: 1250.5, whenMissing: false },
  lte: { hit: '1250', miss: '1249', whenMissing: false },
  exists: { hit: undefined, miss: undefined, missText: '', whenMissing: false },
  not_exists: { hit: undefined, hitText: '', miss: undefined, whenMissing: true },
};

describe.each(FILTER_OPERATORS.map((operator) => ({ operator, ...CASES[operator] })))(
  '$operator',
  ({ operator, hit, miss, hitText = '1250', missText = '1250', whenMissing }) => {
    it.each(FILTER_FIELDS)('of %s: a match, no match, and a missing field', (field) => {
      expect(matches(operator, hit, hitText, field)).toBe(true);
      expect(matches(operator, miss, missText, field)).toBe(false);
      expect(matches(operator, hit, null, field)).toBe(whenMissing);
      expect(matches(operator, miss, null, field)).toBe(whenMissing);
    });

    it('of an unknown field: no match', () => {
      expect(matches(operator, hit, undefined)).toBe(false);
      expect(matches(operator, miss, undefined)).toBe(false);
    });
  },
);

it('the table has 12 fields and 13 operators', () => {
  expect([FILTER_FIELDS.length, FILTER_OPERATORS.length]).toEqual([12, 13]);
});

describe('string operators', () => {
  it.each<[FilterOperator, string]>([
    ['equals', 'Alpha'],
    ['contains', 'LPH'],
    ['starts_with', 'AL'],
    ['ends_with', 'HA'],
    ['regex', '^ALPHA$'],
  ])('%s is case-sensitive', (operator, value) => {
    expect(matches(operator, value, 'alpha')).toBe(false);
    expect(matches(operator, value.toLowerCase(), 'alpha')).toBe(true);
  });

  it('use the plain decimal text of a number', () => {
    expect(matches('equals', 1.8e-7, '0.00000018')).toBe(true);
    expect(matches('equals', 1e21, '1000000000000000000000')).toBe(true);
    expect(matches('equals', 10.0, '10')).toBe(true);
    expect(matches('starts_with', -0.5, '-0.5 degrees')).toBe(true);
    // Finer than any amount of money.
    expect(matches('contains', 1e-13, '1e-13')).toBe(true);
  });

  it('compare the text, not its numeric value', () => {
    expect(matches('equals', '10.0', '10')).toBe(false);
    expect(matches('equals', '1.8e-7', '0.00000018')).toBe(false);
  });

  it('find an empty text in every text', () => {
    for (const operator of ['contains', 'starts_with', 'ends_with', 'regex'] as const) {
      expect(matches(operator, '', 'alpha')).toBe(true);
      expect(matches(operator, '', null)).toBe(false);
    }
    expect(matches('equals', '', '')).toBe(true);
  });

  it('agree with each other on any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), fc.string({ maxLength: 3 }), (text, value) => {
        expect(matches('not_equals', value, text)).toBe(!matches('equals', value, text));
        expect(matches('not_contains', value, text)).toBe(!matches('contains', value, text));
        expect(matches('not_exists', undefined, text)).toBe(!matches('exists', undefined, text));
        expect(matches('contains', value, `${text}${value}${text}`)).toBe(true);
        expect(matches('starts_with', value, `${value}${text}`)).toBe(true);
        expect(matches('ends_with', value, `${text}${value}`)).toBe(true);
      }),
    );
  });
});

describe('numeric operators', () => {
  const compare: readonly [FilterOperator, (text: number, value: number) => boolean][] = [
    ['gt', (text, value) => text > value],
    ['lt', (text, value) => text < value],
    ['gte', (text, value) => text >= value],
    ['lte', (text, value) => text <= value],
  ];

  it.each(compare)(
    '%s compares any two finite numbers, given as a number or as a text',
    (operator, expected) => {
      const number = fc.oneof(
        fc.integer({ min: -3, max: 3 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      );
      fc.assert(
        fc.property(number, number, (text, value) => {
          expect(matches(operator, String(value), String(text))).toBe(expected(text, value));
          // In plain decimal notation, amounts finer than money stay unchanged.
          expect(matches(operator, value, String(text))).toBe(expected(text, value));
        }),
      );
    },
  );

  it.each(['', ' ', 'alpha', '12 EUR', 'Infinity', 'NaN', '1e999'])('never match the text %p', (text) => {
    for (const [operator] of compare) {
      expect(matches(operator, 0, text)).toBe(false);
      expect(matches(operator, text, '0')).toBe(false);
    }
  });
});

describe('regex', () => {
  it('matches anywhere unless it is anchored', () => {
    expect(matches('regex', 'b+', 'abbc')).toBe(true);
    expect(matches('regex', '^b+$', 'abbc')).toBe(false);
  });

  it.each<[string, string, boolean]>([
    ['(?i)ALPHA', 'alpha', true],
    ['^.$', '🙂', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
    ['^b$', 'a\nb', false],
    ['(?m)^b$', 'a\nb', true],
    ['\\pL{3}', 'éàü', true],
    ['\\d', '٣', false],
    ['\\Aa\\z', 'a', true],
    ['[[:upper:]]+', 'Alpha', true],
  ])('%s has the meaning of RE2', (pattern, text, expected) => {
    expect(matches('regex', pattern, text)).toBe(expected);
  });

  it('agrees with the built-in engine on their common syntax', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(?:a|bb)', 'a*', 'b+?', '(?:ab){1,2}', 'a?');
    const pattern = fc
      .tuple(fc.constantFrom('', '^'), fc.array(atom, { maxLength: 5 }), fc.constantFrom('', '$'))
      .map(([start, atoms, end]) => start + atoms.join('') + end);
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 10 });
    fc.assert(
      fc.property(pattern, text, (source, tested) => {
        expect(matches('regex', source, tested)).toBe(new RegExp(source, 'u').test(tested));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['(?=a)', '(?<!a)b', '(a)\\1', '('])('%s is invalid', (pattern) => {
    expect(() => matches('regex', pattern, 'a')).toThrow(/error parsing regexp/);
  });

  it('takes linear time: an engine that goes back would take longer than the universe is old', () => {
    expect(matches('regex', '(a+)+$', `${'a'.repeat(30_000)}b`)).toBe(false);
    expect(matches('regex', '(a|aa)+$', `${'a'.repeat(30_000)}b`)).toBe(false);
    expect(matches('regex', '(.*)*x(.*)*y', 'x'.repeat(30_000))).toBe(false);
  });

  it('reads a shorter part of a long text for a larger expression', () => {
    const behind = (length: number): string => `${' '.repeat(length)}secret`;
    expect(matches('regex', 'secret', behind(50_000))).toBe(true);
    expect(matches('regex', 'secret', behind(1_000_000))).toBe(false);
    // Five hundred steps for each character.
    expect(matches('regex', 's.{500}|secret', behind(1_500))).toBe(true);
    expect(matches('regex', 's.{500}|secret', behind(50_000))).toBe(false);
  });

  it('shares the steps between all expressions of a filter', () => {
    const rules = Array.from({ length: 50 }, (_, index): FilterRule => {
      return { field: 'input', operator: 'regex', value: index === 0 ? 'secret' : `never ${index}` };
    });
    const filter = compileFilter({ enabled: true, groups: [{ logic: 'or', rules }] });
    expect(filter.passes(() => `${' '.repeat(500)}secret`)).toBe(true);
    expect(filter.passes(() => `${' '.repeat(50_000)}secret`)).toBe(false);
  });
});
