import { describe, expect, it } from '@jest/globals';
import { rolesByGroups } from './group-roles.js';
import type { GroupRules, NewGroupMapping } from './group-roles.js';

const ISSUER = 'https://id.example.com';
const RULES: GroupRules = { mappings: [], ownerGroups: [], defaultRole: null };
const account = (group: string, role: 'owner' | 'admin' | 'developer' | 'viewer'): NewGroupMapping => ({
  issuer: ISSUER,
  group,
  workspaceId: null,
  role,
});
const workspace = (
  group: string,
  workspaceId: string,
  role: 'admin' | 'member' | 'viewer',
): NewGroupMapping => ({
  issuer: ISSUER,
  group,
  workspaceId,
  role,
});

describe('the roles by groups', () => {
  it('are none without a mapping', () => {
    expect(rolesByGroups(['a'], RULES)).toEqual({ accountRole: null, workspaceRoles: new Map() });
  });

  it('are the highest ones, in whatever order the groups come (V42)', () => {
    const mappings = [
      account('a', 'viewer'),
      account('b', 'admin'),
      workspace('a', 'w', 'member'),
      workspace('b', 'w', 'viewer'),
      workspace('b', 'v', 'admin'),
    ];
    const expected = {
      accountRole: 'admin',
      workspaceRoles: new Map([
        ['w', 'member'],
        ['v', 'admin'],
      ]),
    };
    for (const groups of [
      ['a', 'b'],
      ['b', 'a'],
    ])
      for (const given of [mappings, mappings.toReversed()])
        expect(rolesByGroups(groups, { ...RULES, mappings: given })).toEqual(expected);
  });

  it('compare names byte by byte', () => {
    const mappings = [account('Admins', 'admin')];
    for (const group of ['admins', 'Admins ', 'Ａdmins', 'Admin', 'Admins\u200b'])
      expect(rolesByGroups([group], { ...RULES, mappings }).accountRole).toBeNull();
    // One letter with two notations.
    expect(
      rolesByGroups(['e\u0301'], { ...RULES, mappings: [account('\u00e9', 'admin')] }).accountRole,
    ).toBeNull();
  });

  it('are owner by a group of the configuration', () => {
    const rules = { ...RULES, ownerGroups: ['o'], mappings: [account('a', 'viewer')] };
    expect(rolesByGroups(['a', 'o'], rules).accountRole).toBe('owner');
    expect(rolesByGroups(['a'], rules).accountRole).toBe('viewer');
  });

  it('are the default role for a person without any', () => {
    const rules: GroupRules = {
      ...RULES,
      defaultRole: 'developer',
      mappings: [workspace('a', 'w', 'viewer')],
    };
    expect(rolesByGroups([], rules).accountRole).toBe('developer');
    expect(rolesByGroups(['a'], rules).accountRole).toBeNull();
  });
});
