import { describe, expect, it } from '@jest/globals';
import { countNewer, joinPages } from './held-rows';

const keyOf = (row: string): string => row;

/** The first page, and a further one by offset. */
const join = (first: readonly string[], further: readonly string[]) =>
  joinPages([{ data: first }, { data: further, repeatsLast: true }], keyOf);

describe('the rows of pages by offset', () => {
  it('are those of all pages', () => {
    expect(join(['a', 'b'], ['b', 'c'])).toEqual({ rows: ['a', 'b', 'c'], hasChanged: false });
  });

  it('come once when one was created in between, and the list has changed', () => {
    expect(join(['b', 'c'], ['b', 'c'])).toEqual({ rows: ['b', 'c'], hasChanged: true });
  });

  it('are complete when one was deleted in between, and the list has changed', () => {
    expect(join(['a', 'b'], ['c', 'd'])).toEqual({ rows: ['a', 'b', 'c', 'd'], hasChanged: true });
  });

  it('have changed when there is no row any more where there was one', () => {
    expect(join(['a', 'b'], [])).toEqual({ rows: ['a', 'b'], hasChanged: true });
  });

  it('are compared with the end of the former page, whatever was shown before', () => {
    const pages = [
      { data: ['c', 'd'] },
      { data: ['b', 'c'], repeatsLast: true },
      { data: ['c', 'd', 'e'], repeatsLast: true },
    ];
    expect(joinPages(pages, keyOf).rows).toEqual(['c', 'd', 'b', 'e']);
  });
});

describe('the rows of pages with cursors', () => {
  it('repeat nothing', () => {
    const pages = [{ data: ['a', 'b'] }, { data: ['c'] }];
    expect(joinPages(pages, keyOf)).toEqual({ rows: ['a', 'b', 'c'], hasChanged: false });
  });
});

describe('newer rows', () => {
  it.each([
    [['a', 'b'], ['a', 'b'], 0],
    [['new', 'a', 'b'], ['a', 'b', 'c'], 1],
    // A deleted row lets an older one into the page.
    [['a', 'c'], ['a', 'b'], 0],
    // The first row was deleted.
    [['new', 'b', 'c'], ['a', 'b'], 1],
    [['new', 'newer'], ['a'], 2],
    [['new'], [], 1],
  ])('of %j beside %j', (newest, shown, count) => {
    expect(countNewer(newest, shown, keyOf)).toBe(count);
  });
});
