import { describe, expect, it } from '@jest/globals';
import { readNumber, readWholeNumber } from './read-number';

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

  it.each(['0.7.1', '0,1', '.', 'much', '9'.repeat(400)])('is a problem of "%s"', (text) => {
    expect(readNumber(text)).toEqual({ problem: 'Must be a number' });
  });
});

describe('the whole number of a field', () => {
  it('is absent from an empty field', () => {
    expect(readWholeNumber('')).toEqual({});
  });

  it('is that of "256"', () => {
    expect(readWholeNumber('256')).toEqual({ value: 256 });
  });

  it.each([
    ['1.5', 'Must be a whole number'],
    ['1,000', 'Must be a number'],
  ])('is a problem of "%s"', (text, problem) => {
    expect(readWholeNumber(text)).toEqual({ problem });
  });
});
