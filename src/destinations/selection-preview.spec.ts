import { describe, expect, it } from '@jest/globals';
import { YieldQueue } from '../concurrency/yield-queue.js';
import type { Work } from '../concurrency/yield-queue.js';
import { createGeneration } from '../../test/support/generations/generation.js';
import { SelectionPreview } from './selection-preview.js';

describe('a preview whose rules take long', () => {
  it('ends after the time of a pass, and says how many generations it has checked', async () => {
    const key = { id: 'key', accountId: 'account', workspaceId: 'workspace', hash: 'hash', name: 'Key' };
    const generations = Array.from({ length: 100 }, () => createGeneration(key));
    /** 30 milliseconds of CPU time for each generation. */
    class SlowQueue extends YieldQueue {
      override begin(accountId: string): Work {
        const work = super.begin(accountId);
        const run = work.run.bind(work);
        work.run = async (pieces) => {
          const result = await run(pieces);
          work.busyTime += 30;
          return result;
        };
        return work;
      }
    }
    const preview = new SelectionPreview(
      { list: () => Promise.resolve({ generations, next: null, searchedUntil: null }) } as never,
      {} as never,
      { findForTraces: () => Promise.resolve([key]) } as never,
      new SlowQueue(),
    );
    const counts = await preview.count({
      accountId: key.accountId,
      workspaceId: key.workspaceId,
      regions: ['global'],
      apiKeyHashes: null,
      filterRules: {
        enabled: true,
        groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'exists' }] }],
      },
    });
    expect(counts.of).toBeGreaterThan(0);
    expect(counts.of).toBeLessThan(20);
    expect(counts.matched).toBe(counts.of);
  });
});
