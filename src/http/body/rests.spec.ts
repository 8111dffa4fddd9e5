import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Rests } from './rests.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const ended: string[] = [];
const rest = (name: string, pieces: number) => ({ pieces: () => pieces, end: () => void ended.push(name) });

describe('connections that rest', () => {
  beforeEach(() => void ended.splice(0));

  it('take turns, each for as long as its pieces are worth', () => {
    const rests = new Rests();
    rests.add(rest('first', 1_200));
    rests.add(rest('second', 2_400));
    jest.advanceTimersByTime(99);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(2);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(198);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(4);
    expect(ended).toEqual(['first', 'second']);
  });

  it('count the pieces that came in the read after which they rest', () => {
    const rests = new Rests();
    let pieces = 1_000;
    rests.add({ pieces: () => pieces, end: () => void ended.push('only') });
    pieces = 2_400;
    jest.advanceTimersByTime(199);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(3);
    expect(ended).toEqual(['only']);
  });

  it('delay no other once they are closed, and begin again when all have ended', () => {
    const rests = new Rests();
    for (let count = 0; count < 100; count++) rests.add(rest('closed', 0));
    rests.add(rest('open', 50));
    jest.advanceTimersByTime(150);
    expect(ended.at(-1)).toBe('open');
    rests.add(rest('later', 12));
    jest.advanceTimersByTime(3);
    expect(ended.at(-1)).toBe('later');
  });
});
