// The leases of this process on the spend counters: what it may still spend, reserved in the database, so that the
// check of one call can be made in memory and no two replicas spend the same cent.
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
import { describeSpend } from './spend-changes.js';
import {
  RELEASE_RESERVATIONS,
  RENEW_LEASES,
  SWEEP_EXPIRED_LEASES,
  acquireLease,
} from './spend-statements.js';

export interface LeaseOptions {
  readonly needed: PicoUsd;
  /** What all waiting calls need together. */
  readonly wanted: PicoUsd;
  /** Whether the process holds something of the lease already. */
  readonly hasBudget: boolean;
}

export interface LeaseGrant {
  /** At least what was needed, or nothing. */
  readonly granted: PicoUsd;
  /** What is left of the tightest limit and reserved by nobody. */
  readonly available: PicoUsd;
  /** What is left of the tightest limit, reservations not counted. */
  readonly unspent: PicoUsd;
  /** The limits that the database held when it granted; none: there is no limit any more. */
  readonly limits: readonly SpendLimitWindow[];
}

interface GrantRow {
  readonly granted: string;
  /** Null without a limit, like the one below. */
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

/** The channel on which processes ask each other to give back what they do not use. The payload is the holder's id. */
export const RELEASE_REQUEST_CHANNEL = 'spend_recall';

@Injectable()
export class SpendLedger {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds at least what is needed to a lease, or nothing, under the limits that the database holds. A lease that the
   * database has swept is in doubt from then on.
   */
  async acquire(lease: SpendLease, { needed, wanted, hasBudget }: LeaseOptions): Promise<LeaseGrant> {
    const { owner } = lease;
    const askedAt = performance.now();
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
      ],
    });
    if (row?.is_gone) lease.invalidate();
    const granted = parseUsd(row?.granted ?? '0');
    // Nothing granted: nothing was written.
    if (granted > 0n) lease.renew(askedAt);
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

  /** Gives back what calls did not use. */
  async release(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    const spend = describeSpend([], releases);
    await this.queryAbout(
      releases.map(({ lease }) => lease),
      { name: 'give-back', text: RELEASE_RESERVATIONS, values: [spend.releases, spend.changes] },
    );
  }

  /**
   * Of leases that the process holds something of. One that holds nothing in the database was swept while the process was
   * away, or while the database's clock was: it is in doubt. So may be one whose last part is being settled right now,
   * which costs nothing but another lease.
   */
  async renew(leases: readonly SpendLease[]): Promise<void> {
    if (leases.length === 0) return;
    const askedAt = performance.now();
    const rows = await this.database.query<{ id: string }>({
      name: 'renew-leases',
      text: RENEW_LEASES,
      values: [leases.map(({ id }) => id), LEASE_SECONDS],
    });
    const renewed = new Set(rows.map(({ id }) => id));
    for (const lease of leases) {
      if (renewed.has(lease.id)) lease.renew(askedAt);
      else lease.invalidate();
    }
  }

  /** Frees what processes held that are gone. */
  async sweepExpired(): Promise<void> {
    await this.database.query({ name: 'sweep-leases', text: SWEEP_EXPIRED_LEASES });
  }

  /** Asks the other processes to give back what they do not use of this holder's money. */
  async requestRelease(owner: SpendOwner): Promise<void> {
    await this.database.query({
      text: 'SELECT pg_notify($1, $2)',
      values: [RELEASE_REQUEST_CHANNEL, owner.id],
    });
  }

  /** A statement that fails may have been committed all the same, or may yet be. */
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
