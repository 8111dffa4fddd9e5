import { describe, expect, it } from '@jest/globals';
import { retryDelay } from './retry-delay.js';

const BOUNDS = { retryBaseDelay: 1_000, retryMaxDelay: 300_000 };

describe('the delay of the next attempt', () => {
  it.each([
    ['after a failure that may pass', { class: 'retry' }, 0, 300_000],
    ['after blocked credentials', { class: 'blocked' }, 150_000, 300_000],
    ['after twenty rejections in a row', { class: 'blocked', refusesAll: true }, 25_000, 50_000],
  ] as const)('lies between its bounds %s', (_name, failure, least, most) => {
    expect(retryDelay(failure, 30, BOUNDS, 0)).toBe(least);
    expect(retryDelay(failure, 30, BOUNDS, 1)).toBe(most);
  });

  it('exceeds no shorter BROADCAST_RETRY_MAX_DELAY_MS', () => {
    expect(retryDelay({ class: 'blocked', refusesAll: true }, 1, { ...BOUNDS, retryMaxDelay: 40 }, 1)).toBe(
      40,
    );
  });
});
