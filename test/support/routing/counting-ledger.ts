// A ledger without a database that keeps one counter as the database keeps each, for specs of what reserves from it.
import type { SpendRelease } from '../../../src/domain/spend/spend-limit.js';
import type { SpendLease } from '../../../src/domain/spend/spend-lease.js';
import type { LeaseGrant, LeaseOptions } from '../../../src/persistence/spend/spend-ledger.js';

// Statements, more than any spec needs: an endless loop of them must fail, and not run for ever.
const MAX_STATEMENTS = 1_000;

/** All leases belong to one counter. Far from the limit it grants a fiftieth of the remainder. */
export class CountingLedger {
  /** The limit that the database holds, whatever a process has heard of it. */
  limit = 100_000n;
  total = 0n;
  reserved = 0n;
  /** Statements wait for it. */
  lock: Promise<void> = Promise.resolve();
  statements = 0;
  releaseRequests = 0;
  renewed: readonly SpendLease[] = [];

  async acquire(_lease: SpendLease, { needed, wanted }: LeaseOptions): Promise<LeaseGrant> {
    if (++this.statements > MAX_STATEMENTS) throw new Error('the ledger gets statements without end');
    await this.lock;
    const { limit } = this;
    const unspent = limit - this.total;
    const room = unspent - this.reserved;
    const share = room >= needed * 1000n ? room / 50n : wanted;
    const most = share < room ? share : room;
    const granted = room < needed ? 0n : most;
    this.reserved += granted;
    const available = room > 0n ? room : 0n;
    return { granted, available, unspent, limits: [{ window: 'total', limit, includeByok: false }] };
  }

  async release(releases: readonly SpendRelease[]): Promise<void> {
    for (const { amount } of releases) this.reserved -= amount;
  }

  async renew(leases: readonly SpendLease[]): Promise<void> {
    this.renewed = leases;
  }

  async sweepExpired(): Promise<void> {}

  async sweepPredecessors(): Promise<void> {}

  async requestRelease(): Promise<void> {
    this.releaseRequests++;
  }
}
