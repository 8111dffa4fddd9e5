// The validity of leases after statements, with a database that answers or fails on command.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TestClock } from '../../../test/support/app/clock.js';
import { SpendRelease } from '../../domain/spend/spend-limit.js';
import { LEASE_SECONDS, SpendLease } from '../../domain/spend/spend-lease.js';
import type { Database } from '../database/database.js';
import type { LeaseProcess } from './lease-process.js';
import { SpendLedger } from './spend-ledger.js';

const LIFE = LEASE_SECONDS * 1000;
const PROCESS: LeaseProcess = { session: 1, place: 'host:3000/0', heldSeconds: 2_460 };
const OPTIONS = { needed: 1n, wanted: 1n, hasBudget: true };

const newLease = (): SpendLease => new SpendLease({ kind: 'key', id: 'key-1', workspaceId: 'workspace-1' });
const row = (granted: string) => ({ granted, available: '1', unspent: '1', is_gone: false, caps: [] });

/** Milliseconds. A statement takes one second. */
let now: number;
let answer: object[] | Error;
let ledger: SpendLedger;
beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const query = (): Promise<object[]> => {
    now += 1000;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  ledger = new SpendLedger({ query } as Partial<Database> as Database, new TestClock(), PROCESS);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a granted lease', () => {
  it('lives from the time of the request, and longer with every addition', async () => {
    answer = [row('0.5')];
    const lease = newLease();
    const askedAt = now;
    await ledger.acquire(lease, OPTIONS);
    expect([askedAt + LIFE - 1, askedAt + LIFE].map((at) => lease.isValid(at))).toEqual([true, false]);
    const againAt = now;
    await ledger.acquire(lease, OPTIONS);
    expect([againAt + LIFE - 1, againAt + LIFE].map((at) => lease.isValid(at))).toEqual([true, false]);
  });

  it('lives no longer if nothing was added', async () => {
    answer = [row('0.5')];
    const lease = newLease();
    const askedAt = now;
    await ledger.acquire(lease, OPTIONS);
    answer = [row('0')];
    await ledger.acquire(lease, OPTIONS);
    expect(lease.isValid(askedAt + LIFE)).toBe(false);
  });

  it('lives from the time of the request for renewal', async () => {
    const lease = newLease();
    answer = [{ id: lease.id, isRenewed: true }];
    const askedAt = now;
    await ledger.renew([lease], []);
    expect([askedAt + LIFE - 1, askedAt + LIFE].map((at) => lease.isValid(at))).toEqual([true, false]);
  });
});

describe('a statement that fails', () => {
  beforeEach(() => {
    answer = new Error('no connection');
  });

  it('invalidates the lease that it was to grant', async () => {
    const lease = newLease();
    await expect(ledger.acquire(lease, OPTIONS)).rejects.toBe(answer);
    expect(lease.isValid(now)).toBe(false);
  });

  it('invalidates every lease of which it was to release parts', async () => {
    const [one, other, beside] = [newLease(), newLease(), newLease()];
    const releases = [one, other].map((lease) => new SpendRelease(lease, 1n));
    await expect(ledger.release(releases)).rejects.toBe(answer);
    expect([one, other, beside].map((lease) => lease.isValid(now))).toEqual([false, false, true]);
  });

  it('renews no lease and invalidates none: it added and took nothing', async () => {
    const lease = newLease();
    lease.renew(now);
    const lastsUntil = now + LIFE;
    await expect(ledger.renew([lease], [])).rejects.toBe(answer);
    expect([lastsUntil - 1, lastsUntil].map((at) => lease.isValid(at))).toEqual([true, false]);
  });
});
