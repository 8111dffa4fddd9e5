import { describe, expect, it } from '@jest/globals';
import { applyMemoryOptions } from './memory-options.js';

describe('memory options', () => {
  it('are set where the running Node knows them', () => {
    expect(
      applyMemoryOptions(['--heap-growing-percent=200', '--no-allocation-site-pretenuring']),
    ).toHaveLength(2);
  });

  it('are skipped where it does not', () => {
    expect(applyMemoryOptions(['--removed-from-v8=3'])).toEqual([]);
  });
});
