// The sums of calls and released reservations: exact, one entry a counter and a lease, in the order of locking.
import { describe, expect, it } from '@jest/globals';
import { SpendRelease } from '../../domain/spend/spend-limit.js';
import { SpendLease } from '../../domain/spend/spend-lease.js';
import { describeSpend } from './spend-changes.js';
import type { Charged } from './spend-changes.js';

const call = (apiKeyId: string, given: Partial<Charged> = {}): Charged => ({
  workspaceId: 'w1',
  accountId: 'a1',
  apiKeyId,
  cost: 1n,
  upstreamCost: 1n,
  isByok: false,
  ...given,
});
const lease = (kind: 'key' | 'workspace' | 'account', id: string, workspaceId = 'w1') =>
  new SpendLease({ kind, id, workspaceId });
/** A cent is 10^10. */
const CENT = 10n ** 10n;

const recordsOf = (text: string): string[] =>
  [...text.matchAll(/"\(([^)]*)\)"/g)].map(([, record]) => record!);
const changesOf = (...given: Parameters<typeof describeSpend>) => recordsOf(describeSpend(...given).changes);

describe('changes by calls', () => {
  it('are summed for the key, the workspace and the account', () => {
    const calls = [call('k1', { cost: 3n * CENT }), call('k1', { cost: 1n }), call('k2', { cost: CENT })];
    expect(changesOf(calls, [])).toEqual([
      'key,w1,k1,0.030000000001,0,0',
      'key,w1,k2,0.01,0,0',
      'workspace,w1,w1,0.040000000001,0,0',
      'account,a1,a1,0.040000000001,0,0',
    ]);
  });

  it('count charges of own provider keys apart, and nothing without a known price', () => {
    const calls = [
      call('k1', { cost: 0n, upstreamCost: CENT, isByok: true }),
      call('k1', { cost: null, upstreamCost: null, isByok: true }),
      call('k1', { cost: 2n * CENT, upstreamCost: null, isByok: true }),
      call('k1', { cost: CENT, upstreamCost: 5n * CENT }),
    ];
    expect(changesOf(calls, [])[0]).toBe('key,w1,k1,0.03,0.01,0');
  });

  it('are ordered by kind and id, without unchanged counters', () => {
    const calls = [
      call('k3', { workspaceId: 'w2', accountId: 'a2' }),
      call('k9'),
      call('k1'),
      call('k5', { workspaceId: 'w0', accountId: 'a3', cost: 0n }),
    ];
    expect(changesOf(calls, []).map((record) => record.split(',').slice(0, 3).join(' '))).toEqual([
      'key w1 k1',
      'key w1 k9',
      'key w2 k3',
      'workspace w1 w1',
      'workspace w2 w2',
      'account a1 a1',
      'account a2 a2',
    ]);
  });
});

describe('released reservations', () => {
  it('are one entry a lease in the order of their ids, and name the change of their counter', () => {
    const leases = [lease('account', 'a1', 'a1'), lease('key', 'k1'), lease('key', 'k1'), lease('key', 'k0')];
    const releases = [...leases, leases[1]!].map((each) => new SpendRelease(each, CENT));
    const described = describeSpend([call('k1', { cost: CENT })], releases);
    expect(recordsOf(described.changes)).toEqual([
      'key,w1,k0,0,0,0.01',
      'key,w1,k1,0.01,0,0.03',
      'workspace,w1,w1,0.01,0,0',
      'account,a1,a1,0.01,0,0.01',
    ]);
    const expected = leases
      .map(({ id, owner }, index) => {
        const place = [4, 2, 2, 1][index]!;
        return `${place},${owner.workspaceId},${owner.id},${id},${index === 1 ? '0.02' : '0.01'}`;
      })
      .toSorted((one, other) => (one.split(',')[3]! < other.split(',')[3]! ? -1 : 1));
    expect(recordsOf(described.releases)).toEqual(expected);
  });

  it('are empty when nothing was held', () => {
    expect(describeSpend([], [new SpendRelease(lease('key', 'k1'), 0n)])).toEqual({
      releases: '{}',
      changes: '{}',
      unpaid: '{}',
    });
  });
});
