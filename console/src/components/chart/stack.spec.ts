import { describe, expect, it } from '@jest/globals';
import { stack, totalsOf } from './stack';

describe('stacked series', () => {
  it('stand on those before them, and a gap adds nothing', () => {
    expect(
      stack([
        [1, 2],
        [3, null],
        [5, 6],
      ]),
    ).toEqual([
      [1, 2],
      [4, 2],
      [9, 8],
    ]);
  });

  it('sum up to a gap only where every one has a gap', () => {
    expect(
      totalsOf([
        [1, null, null],
        [3, 4, null],
      ]),
    ).toEqual([4, 4, null]);
  });
});
