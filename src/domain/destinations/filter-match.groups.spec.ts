// Source: docs/contract.md#filter-rules.
import { describe, expect, it } from '@jest/globals';
import { compileFilter, contentFieldOf } from './filter-match.js';
import { FILTER_LOGICS } from './filter-rules.js';
import type { FilterField, FilterGroup, FilterRule } from './filter-rules.js';

describe('groups', () => {
  const TRUE: FilterRule = { field: 'model', operator: 'exists' };
  const FALSE: FilterRule = { field: 'model', operator: 'not_exists' };
  const passes = (groups: readonly FilterGroup[], enabled = true): boolean =>
    compileFilter({ enabled, groups }).passes(() => 'text');

  /** All lists of up to `length` truth values. */
  function truths(length: number): boolean[][] {
    if (length === 0) return [[]];
    const shorter = truths(length - 1);
    const longest = shorter.filter((list) => list.length === length - 1);
    return [
      ...shorter,
      ...longest.flatMap((list) => [
        [...list, true],
        [...list, false],
      ]),
    ];
  }

  const groupOf = (logic: FilterGroup['logic'], values: readonly boolean[]): FilterGroup => ({
    logic,
    rules: values.map((value) => (value ? TRUE : FALSE)),
  });
  const truthOf = (logic: FilterGroup['logic'], values: readonly boolean[]): boolean =>
    values.length === 0 || (logic === 'and' ? !values.includes(false) : values.includes(true));

  it.each(FILTER_LOGICS)('a group of %s follows its truth table, and matches without rules', (logic) => {
    for (const values of truths(3)) {
      expect(passes([groupOf(logic, values)])).toBe(truthOf(logic, values));
    }
  });

  it('any two groups pass when one of them does', () => {
    let seen = 0;
    for (const one of truths(2)) {
      for (const other of truths(2)) {
        for (const [first, second] of [
          ['and', 'and'],
          ['and', 'or'],
          ['or', 'or'],
        ] as const) {
          const expected = truthOf(first, one) || truthOf(second, other);
          expect(passes([groupOf(first, one), groupOf(second, other)])).toBe(expected);
          seen++;
        }
      }
    }
    expect(seen).toBe(7 * 7 * 3);
  });

  it('everything passes without a filter, with a disabled one, and without groups', () => {
    expect(compileFilter(null).passes(() => null)).toBe(true);
    expect(passes([groupOf('and', [false])], false)).toBe(true);
    expect(passes([])).toBe(true);
  });

  it('each rule reads its own field only', () => {
    const asked: FilterField[] = [];
    const filter = compileFilter({
      enabled: true,
      groups: [
        {
          logic: 'or',
          rules: [
            { field: 'provider', operator: 'equals', value: 'azure' },
            { field: 'user_id', operator: 'exists' },
            { field: 'input', operator: 'exists' },
          ],
        },
      ],
    });
    const texts: Partial<Record<FilterField, string>> = { user_id: 'customer-7', input: 'azure' };
    expect(
      filter.passes((field) => {
        asked.push(field);
        return texts[field] ?? null;
      }),
    ).toBe(true);
    // No field is read after the result is certain.
    expect(asked).toEqual(['provider', 'user_id']);
  });
});

describe('the field of stored content that a filter reads', () => {
  const group: FilterGroup = {
    logic: 'and',
    rules: [
      { field: 'model', operator: 'exists' },
      { field: 'input', operator: 'contains', value: 'x' },
    ],
  };

  it('is one of its rules, while it is enabled', () => {
    expect(contentFieldOf({ enabled: true, groups: [group] })).toBe('input');
    expect(
      contentFieldOf({
        enabled: true,
        groups: [{ ...group, rules: [{ field: 'output', operator: 'exists' }] }],
      }),
    ).toBe('output');
    expect(contentFieldOf({ enabled: false, groups: [group] })).toBeNull();
    expect(contentFieldOf({ enabled: true, groups: [] })).toBeNull();
    expect(contentFieldOf(null)).toBeNull();
  });
});
