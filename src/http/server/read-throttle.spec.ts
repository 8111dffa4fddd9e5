import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ReadThrottle } from './read-throttle.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const ended: string[] = [];
const read = (name: string, pieces: number) => ({ pieces: () => pieces, end: () => void ended.push(name) });

describe('paused connections', () => {
  beforeEach(() => void ended.splice(0));

  it('take turns, each for as long as its pieces are worth', () => {
    const throttle = new ReadThrottle();
    throttle.add(read('first', 1_200));
    throttle.add(read('second', 2_400));
    jest.advanceTimersByTime(99);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(2);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(198);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(4);
    expect(ended).toEqual(['first', 'second']);
  });

  it('count the pieces that came in the read after which they pause', () => {
    const throttle = new ReadThrottle();
    let pieces = 1_000;
    throttle.add({ pieces: () => pieces, end: () => void ended.push('only') });
    pieces = 2_400;
    jest.advanceTimersByTime(199);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(3);
    expect(ended).toEqual(['only']);
  });

  it('delay no other once they are closed, and begin again when all have ended', () => {
    const throttle = new ReadThrottle();
    for (let count = 0; count < 100; count++) throttle.add(read('closed', 0));
    throttle.add(read('open', 50));
    jest.advanceTimersByTime(150);
    expect(ended.at(-1)).toBe('open');
    throttle.add(read('later', 12));
    jest.advanceTimersByTime(3);
    expect(ended.at(-1)).toBe('later');
  });
});
