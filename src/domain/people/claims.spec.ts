import { describe, expect, it } from '@jest/globals';
import { isInDomains, readGroups, readIdentity } from './claims.js';

const PATH = ['groups'];
const known = (...groups: string[]) => ({ state: 'known', groups });

describe('the groups of a person', () => {
  it.each<[string, object, string[], object]>([
    ['a list', { groups: ['a', 'b'] }, PATH, known('a', 'b')],
    ['an empty list', { groups: [] }, PATH, known()],
    ['a single text', { groups: 'a' }, PATH, known('a')],
    ['a path', { realm_access: { roles: ['a'] } }, ['realm_access', 'roles'], known('a')],
    [
      'a name with dots',
      { 'https://example.com/groups': ['a'] },
      ['https://example', 'com/groups'],
      known('a'),
    ],
    ['no name longer than a mapping has', { groups: ['a', 'x'.repeat(401)] }, PATH, known('a')],
    ['no claim', {}, PATH, { state: 'missing' }],
    ['null', { groups: null }, PATH, { state: 'missing' }],
    ['an object', { groups: { a: true } }, PATH, { state: 'missing' }],
    ['a list with another value', { groups: ['a', 1] }, PATH, { state: 'missing' }],
    ['a path through a text', { a: 'groups' }, ['a', 'groups'], { state: 'missing' }],
    ['a member of every object', {}, ['constructor', 'name'], { state: 'missing' }],
    [
      'a claim elsewhere (V43)',
      { _claim_names: { groups: 'src1' }, _claim_sources: {} },
      PATH,
      { state: 'overage' },
    ],
    [
      'a claim elsewhere beside some',
      { _claim_names: { groups: 'src1' }, groups: ['a'] },
      PATH,
      { state: 'overage' },
    ],
    ['a mark of too many (V43)', { hasgroups: true }, PATH, { state: 'overage' }],
    ['a mark as a text', { hasgroups: 'true' }, PATH, { state: 'overage' }],
    ['another claim elsewhere', { _claim_names: { address: 'src1' }, groups: ['a'] }, PATH, known('a')],
  ])('are read of %s', (_name, claims, path, result) => {
    expect(readGroups({ ...claims }, path)).toEqual(result);
  });

  it('come from the ID token, else from userinfo (V44)', () => {
    const groupsOf = (idToken: object, userInfo: object | null) =>
      readIdentity({ sub: 's', ...idToken }, userInfo && { ...userInfo }, PATH)?.groups;
    expect(groupsOf({ groups: ['a'] }, { groups: ['b'] })).toEqual(known('a'));
    expect(groupsOf({}, { groups: ['b'] })).toEqual(known('b'));
    expect(groupsOf({}, null)).toEqual({ state: 'missing' });
    expect(groupsOf({ hasgroups: true }, { groups: ['b'] })).toEqual({ state: 'overage' });
  });
});

describe('a person', () => {
  it('has a name and an address for display, and the names of the claims', () => {
    const idToken = {
      sub: 's',
      email: 'ann@example.com',
      email_verified: true,
      given_name: 'Ann',
      family_name: 'Lee',
    };
    expect(readIdentity(idToken, null, PATH)).toEqual({
      subject: 's',
      email: 'ann@example.com',
      isEmailVerified: true,
      firstName: 'Ann',
      lastName: 'Lee',
      groups: { state: 'missing' },
      claimNames: ['email', 'email_verified', 'family_name', 'given_name', 'sub'],
    });
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['a number', 1],
    ['one of 256 characters', 'x'.repeat(256)],
    ['NUL', 'a\0'],
  ])('needs a subject: %s', (_name, sub) => {
    expect(readIdentity({ sub }, null, PATH)).toBeNull();
  });

  it('has no text that is too long or cannot be stored', () => {
    const identity = readIdentity({ sub: 's', email: 'x'.repeat(321), given_name: 'a\0' }, null, PATH);
    expect(identity).toMatchObject({ email: null, firstName: null, isEmailVerified: false });
  });

  it('has no verified address by the mark of another source', () => {
    const mixed = readIdentity(
      { sub: 's', email: 'a@example.com' },
      { email: 'b@example.org', email_verified: true },
      PATH,
    );
    expect(mixed).toMatchObject({ email: 'a@example.com', isEmailVerified: false });
    const whole = readIdentity({ sub: 's' }, { email: 'b@example.org', email_verified: true }, PATH);
    expect(whole).toMatchObject({ email: 'b@example.org', isEmailVerified: true });
  });

  it.each<[unknown, boolean]>([
    [true, true],
    [false, false],
    ['true', false],
    [1, false],
    [undefined, false],
  ])('with email_verified %j is in an allowed domain: %j (V39)', (verified, isIn) => {
    const identity = readIdentity(
      { sub: 's', email: 'Ann@Example.COM', email_verified: verified },
      null,
      PATH,
    );
    expect(isInDomains(identity!, ['example.com'])).toBe(isIn);
    expect(isInDomains(identity!, [])).toBe(true);
  });

  it.each(['ann@sub.example.com', 'ann@notexample.com', 'ann@example.com@e.com', 'example.com.e.com', ''])(
    'of another domain is in none: %j',
    (email) => {
      expect(isInDomains({ email, isEmailVerified: true }, ['example.com'])).toBe(false);
    },
  );
});
