import { describe, expect, it } from '@jest/globals';
import { changedMembers, changedSettings } from './changes';

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

  it('include the members of the config that differ, and no config without one', () => {
    const before = { name: 'a', config: { url: 'https://a.example', headers: { 'X-Team': 'a' } } };
    expect(changedSettings({ ...before, name: 'b' }, before)).toEqual({ name: 'b' });
    const config = { ...before.config, url: 'https://b.example' };
    expect(changedSettings({ ...before, config }, before)).toEqual({ config: { url: 'https://b.example' } });
  });
});
