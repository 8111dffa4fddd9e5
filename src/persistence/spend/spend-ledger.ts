// The leases of this process on the spend counters: budget that is reserved in the database. Calls are checked in
// memory, and no two replicas spend the same cent.
import { Injectable } from '@nestjs/common';
import type { QueryConfig, QueryResultRow } from 'pg';
import { Clock } from '../../domain/clock.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendLimitWindow, SpendRelease } from '../../domain/spend/spend-limit.js';
import { LEASE_SECONDS } from '../../domain/spend/spend-lease.js';
import type { SpendOwner, SpendLease } from '../../domain/spend/spend-lease.js';
import { utcDay } from '../../domain/spend/spend.js';
import { Database } from '../database/database.js';
import { LeaseProcess } from './lease-process.js';
import { describeSpend } from './spend-changes.js';
import {
  RELEASE_RESERVATIONS,
  RENEW_LEASES,
  SWEEP_EXPIRED_LEASES,
  SWEEP_LEASES_OF_PREDECESSORS,
  acquireLease,
} from './spend-statements.js';

export interface LeaseOptions {
  readonly needed: PicoUsd;
  /** The sum over all waiting calls. */
  readonly wanted: PicoUsd;
  /** Whether the process already holds a part of the lease. */
  readonly hasBudget: boolean;
}

export interface LeaseGrant {
  /** At least `needed`, or nothing. */
  readonly granted: PicoUsd;
  /** The remainder of the tightest limit without reservations. */
  readonly available: PicoUsd;
  /** The remainder of the tightest limit, reservations included. */
  readonly unspent: PicoUsd;
  /** The limits that the database held at the grant; empty: there is no limit any more. */
  readonly limits: readonly SpendLimitWindow[];
}

interface GrantRow {
  readonly granted: string;
  /** Null without a limit, like `unspent`. */
  readonly available: string | null;
  readonly unspent: string | null;
  readonly is_gone: boolean | null;
  /** Null: there is no such counter. */
  readonly caps:
    | readonly {
        readonly window: SpendLimitWindow['window'];
        readonly limit: string;
        readonly include_byok: boolean;
      }[]
    | null;
}

/** The channel on which processes request the release of unused amounts. The payload is the owner's id. */
export const RELEASE_REQUEST_CHANNEL = 'spend_recall';

@Injectable()
export class SpendLedger {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly process: LeaseProcess,
  ) {}

  /**
   * Adds at least the needed amount to a lease, or nothing, under the limits in the database. A lease that the
   * database has swept lapses.
   */
  async acquire(lease: SpendLease, { needed, wanted, hasBudget }: LeaseOptions): Promise<LeaseGrant> {
    const { owner } = lease;
    const sentAt = performance.now();
    const [row] = await this.queryAbout<GrantRow>([lease], {
      name: `acquire-lease-${owner.kind}`,
      text: acquireLease(owner.kind),
      values: [
        owner.workspaceId,
        owner.id,
        lease.id,
        utcDay(this.clock.now()),
        formatUsd(needed),
        formatUsd(wanted),
        LEASE_SECONDS,
        hasBudget,
        this.process.session,
        this.process.place,
        this.process.heldSeconds,
      ],
    });
    if (row?.is_gone) lease.lapse();
    const granted = parseUsd(row?.granted ?? '0');
    // Without a grant nothing was written.
    if (granted > 0n) lease.renew(sentAt);
    return {
      granted,
      available: parseUsd(row?.available ?? '0'),
      unspent: parseUsd(row?.unspent ?? '0'),
      limits: (row?.caps ?? []).map((limit) => ({
        window: limit.window,
        limit: parseUsd(limit.limit),
        includeByok: limit.include_byok,
      })),
    };
  }

  /** Returns amounts that calls did not use. */
  async release(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    const spend = describeSpend([], releases);
    await this.queryAbout(
      releases.map(({ lease }) => lease),
      { name: 'release-reservations', text: RELEASE_RESERVATIONS, values: [spend.releases, spend.changes] },
    );
  }

  /**
   * Renews leases of which the process holds parts. One that was swept while the process or the database was suspended
   * lapses. One without an amount becomes invalid: its last part may be being settled right now, which only costs a new
   * lease. No call holds `ended` leases any more, and what a statement of unknown outcome has left in them lapses.
   */
  async renew(leases: readonly SpendLease[], ended: readonly SpendLease[]): Promise<void> {
    if (leases.length === 0 && ended.length === 0) return;
    const sentAt = performance.now();
    const rows = await this.database.query<{ id: string; isRenewed: boolean }>({
      name: 'renew-leases',
      text: RENEW_LEASES,
      values: [
        leases.map(({ id }) => id),
        ended.map(({ id }) => id),
        LEASE_SECONDS,
        this.process.heldSeconds,
      ],
    });
    const found = new Map(rows.map(({ id, isRenewed }) => [id, isRenewed]));
    for (const lease of leases) {
      const isRenewed = found.get(lease.id);
      if (isRenewed === undefined) lease.lapse();
      else if (isRenewed) lease.renew(sentAt);
      else lease.invalidate();
    }
  }

  /** Releases the leases that no call holds, and those of dead processes whose place this one has. */
  async sweepExpired(): Promise<void> {
    const values = [this.process.place, this.process.session];
    await this.database.query({ name: 'sweep-leases', text: SWEEP_EXPIRED_LEASES, values });
  }

  /** Releases the leases of dead processes whose place this one has taken. Those whose death shows later follow as expired. */
  async sweepPredecessors(): Promise<void> {
    const { place, session } = this.process;
    if (place === null) return;
    await this.database.query({ text: SWEEP_LEASES_OF_PREDECESSORS, values: [place, session] });
  }

  /** Requests that other processes release unused amounts of this owner. */
  async requestRelease(owner: SpendOwner): Promise<void> {
    await this.database.query({
      text: 'SELECT pg_notify($1, $2)',
      values: [RELEASE_REQUEST_CHANNEL, owner.id],
    });
  }

  /** A failed statement may have been committed all the same, or may be later. */
  private async queryAbout<Row extends QueryResultRow>(
    leases: readonly SpendLease[],
    statement: QueryConfig,
  ): Promise<Row[]> {
    try {
      return await this.database.query<Row>(statement);
    } catch (error) {
      for (const lease of leases) lease.invalidate();
      throw error;
    }
  }
}
