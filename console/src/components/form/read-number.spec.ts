import { describe, expect, it } from '@jest/globals';
import { readNumber } from './read-number';

describe('the number of a field', () => {
  it('is absent from an empty field', () => {
    expect(readNumber(' ')).toEqual({});
  });

  it.each([
    ['0.7', 0.7],
    ['.5', 0.5],
    ['12', 12],
  ])('is that of "%s"', (text, value) => {
    expect(readNumber(text)).toEqual({ value });
  });

  it.each(['0.7.1', '.', 'much', '9'.repeat(400)])('is a problem of "%s"', (text) => {
    expect(readNumber(text)).toEqual({ problem: 'Must be a number' });
  });
});
