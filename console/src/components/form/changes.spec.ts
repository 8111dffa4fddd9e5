import { describe, expect, it } from '@jest/globals';
import { changedMembers } from './changes';

describe('the members that a change sends', () => {
  it('are those that differ', () => {
    const before = { name: 'a', limit: 1, hashes: ['x'], rules: null };
    expect(changedMembers({ ...before }, before)).toEqual({});
    expect(changedMembers({ ...before, limit: 2 }, before)).toEqual({ limit: 2 });
    expect(changedMembers({ ...before, hashes: ['x', 'y'] }, before)).toEqual({ hashes: ['x', 'y'] });
  });

  it('include those that are removed, and those that were absent', () => {
    const before: Readonly<Record<string, unknown>> = { limit: 1 };
    expect(changedMembers({ limit: null, key: 'secret' }, before)).toEqual({ limit: null, key: 'secret' });
  });
});
