// The number of requests in flight to a destination: it follows the backlog, and gives way to the platform.
import { describe, expect, it } from '@jest/globals';
import { RequestWindow } from './request-window.js';

/** The number of requests of each of the next batches, which are accepted and leave a backlog. */
function nextBatches(window: RequestWindow, count: number): number[] {
  return Array.from({ length: count }, () => {
    const { requests } = window;
    window.note(true);
    return requests;
  });
}

describe('RequestWindow', () => {
  it('grows by one a batch up to its maximum while there is a backlog', () => {
    expect(nextBatches(new RequestWindow(4), 6)).toEqual([1, 2, 3, 4, 4, 4]);
    expect(nextBatches(new RequestWindow(1), 3)).toEqual([1, 1, 1]);
  });

  it('is one again when the log has no more', () => {
    const window = new RequestWindow(4);
    nextBatches(window, 5);
    window.note(false);
    expect(nextBatches(window, 5)).toEqual([1, 2, 3, 4, 4]);
  });

  it('stays below the number that failed, and tries it again after fifty batches', () => {
    const window = new RequestWindow(4);
    nextBatches(window, 2);
    expect(window.requests).toBe(3);
    window.noteFailure();
    const batches = nextBatches(window, 60);
    expect(batches.slice(0, 4)).toEqual([1, 2, 2, 2]);
    expect(batches.indexOf(3)).toBeGreaterThanOrEqual(50);
    expect(batches.indexOf(3)).toBeLessThan(55);
  });

  it('keeps its bound through an outage of single requests', () => {
    const window = new RequestWindow(4);
    for (let failure = 1; failure <= 20; failure++) window.noteFailure();
    expect(nextBatches(window, 4)).toEqual([1, 2, 3, 4]);
  });
});
