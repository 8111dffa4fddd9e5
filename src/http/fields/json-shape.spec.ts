// Which values are rejected before any code walks all of them, and how little of them is read.
import { describe, expect, it } from '@jest/globals';
import { memberPath } from '../../domain/text/member-path.js';
import { MAX_MEMBERS, OPERATION_BODY, rejectHostileShape, rejectTooManyMembers } from './json-shape.js';

const BOUNDS = { ...OPERATION_BODY, characters: 100 };

function problemOf(value: unknown, bounds = BOUNDS): string | null {
  try {
    rejectHostileShape(value, ['a'], bounds);
    return null;
  } catch (error) {
    return (error as Error).message.replace('Invalid request parameters: ', '');
  }
}

const numbered = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [`m${index}`, index]));

describe('a value', () => {
  it.each([
    ['a: must have at most 256 members', numbered(MAX_MEMBERS + 1)],
    ['a[1].b: must have at most 256 members', [0, { b: numbered(90_000) }]],
    ['a.b: must have at most 1000 elements', { b: Array.from({ length: 1_001 }, () => 1) }],
    ['a: must have at most 20000 values in all', Array.from({ length: 21 }, () => Array(1_000).fill(1))],
    ['a: must have at most 100 characters as JSON', { b: ['x'.repeat(60), 'y'.repeat(60)] }],
    ['a: must have at most 100 characters as JSON', 'x'.repeat(101)],
    ['a.b[0].toString: is not a name that a member may have', { b: [{ toString: 1 }] }],
  ])('is rejected: %s', (problem, value) => {
    expect(
      problemOf(value, { ...BOUNDS, characters: problem.includes('characters') ? 100 : 1_000_000 }),
    ).toBe(problem);
  });

  it('is accepted within the bounds', () => {
    const most = { elements: 1_000, values: 20_000 };
    for (const value of [
      numbered(MAX_MEMBERS),
      Array.from({ length: 1_000 }, () => ({ b: 'x'.repeat(10_000) })),
      'x'.repeat(999),
      null,
      7,
    ])
      expect(problemOf(value, most as typeof BOUNDS)).toBeNull();
  });

  it('is read no further than the bound', () => {
    let read = 0;
    const list = Array.from({ length: 30 }, () => Array(1_000).fill(0));
    const watched = list.map(
      (inner) =>
        new Proxy(inner, {
          get: (target, name) => {
            if (typeof name === 'string' && /^\d+$/.test(name)) read++;
            return Reflect.get(target, name) as unknown;
          },
        }),
    );
    expect(problemOf(watched)).toMatch(/^a: must have at most 20000 values/);
    expect(read).toBeLessThanOrEqual(20_001);
  });
});

it('counts the members of a body without reading their values', () => {
  expect(() => rejectTooManyMembers(numbered(MAX_MEMBERS))).not.toThrow();
  expect(() => rejectTooManyMembers(numbered(MAX_MEMBERS + 1))).toThrow(
    'the body: must have at most 256 members',
  );
});

it('shows paths that are short and of one line', () => {
  expect(memberPath(['a', 0, 'b\n', '12'])).toBe('a[0].b?[12]');
  expect(memberPath(Array<string>(90).fill('x'.repeat(90))).length).toBeLessThan(300);
});
