// The validity of a lease.
import { expect, it } from '@jest/globals';
import { LEASE_SECONDS, SpendLease } from './spend-lease.js';

const create = (): SpendLease => new SpendLease({ kind: 'key', id: 'key-1', workspaceId: 'workspace-1' });
const LIFE = LEASE_SECONDS * 1000;

it('a lease is valid for its lifetime since it was last granted or renewed', () => {
  const lease = create();
  expect(lease.isValid(1_000_000)).toBe(true);
  lease.renew(1000);
  expect([1000, 999 + LIFE, 1000 + LIFE].map((now) => lease.isValid(now))).toEqual([true, true, false]);
  lease.renew(2000);
  expect(lease.isValid(1000 + LIFE)).toBe(true);
});

it('an invalidated lease stays invalid', () => {
  const lease = create();
  lease.invalidate();
  lease.renew(1000);
  expect(lease.isValid(1000)).toBe(false);
});

it('every lease has its own id', () => {
  expect(create().id).not.toBe(create().id);
});
