import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LimitShortfall } from '../domain/spend/spend-limit.js';
import { RefusedLimits } from './refused-limits.js';

const PAUSE = 10_000;

let now = 0;
beforeEach(() => {
  now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** The cache reads the time once a millisecond. */
async function waitForPause(): Promise<void> {
  now += PAUSE + 1;
  await pause(10);
}

const reached = (id: string, window: 'daily' | 'monthly' = 'daily'): LimitShortfall => {
  const tightest = { window, limit: 1n, includeByok: false };
  const owner = { kind: 'workspace', id, workspaceId: id } as const;
  return { owner, tightest, needed: 1n, unspent: 0n, resetsAt: null, affordableTokens: null };
};
const refused = (id: string, window: 'daily' | 'monthly' = 'daily') => ({
  kind: 'workspace',
  id,
  workspaceId: id,
  window,
});

describe('limits that refused a call', () => {
  it('are noted once within the pause, each window for itself', async () => {
    const limits = new RefusedLimits();
    limits.note(reached('a'));
    limits.note(reached('a'));
    limits.note(reached('a', 'monthly'));
    limits.note(reached('b'));
    expect(limits.drain()).toEqual([refused('a'), refused('a', 'monthly'), refused('b')]);
    expect(limits.drain()).toEqual([]);
    limits.note(reached('a'));
    expect(limits.drain()).toEqual([]);
    await waitForPause();
    limits.note(reached('a'));
    expect(limits.drain()).toEqual([refused('a')]);
  });

  it.each(['after', 'before'])(
    'are reported once when they refuse again %s their failed report is kept',
    async (order) => {
      const limits = new RefusedLimits();
      limits.note(reached('a'));
      const drained = limits.drain();
      await waitForPause();
      if (order === 'before') limits.note(reached('a'));
      limits.keep(drained);
      if (order === 'after') limits.note(reached('a'));
      expect(limits.drain()).toEqual([refused('a')]);
    },
  );

  it('are 1,000 at most', () => {
    const limits = new RefusedLimits();
    const names = Array.from({ length: 1_001 }, (_one, index) => String(index));
    for (const name of names) limits.note(reached(name));
    const drained = limits.drain();
    expect(drained).toHaveLength(1_000);
    limits.note(reached('1001'));
    limits.keep(drained);
    expect(limits.drain()).toHaveLength(1_000);
  });
});
