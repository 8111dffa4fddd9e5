// The leases of this process on the spend counters: what it may still spend, reserved in the database, so that the
// check of one call can be made in memory and no two replicas spend the same cent.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { formatUsd, parseUsd } from '../domain/money.js';
import type { PicoUsd } from '../domain/money.js';
import type { SpendCap, SpendHolder, SpendRelease } from '../domain/spend-cap.js';
import { utcDay } from '../domain/spend.js';
import { Database } from './database.js';
import { GIVE_BACK, RENEW_LEASES, SWEEP_EXPIRED_LEASES, acquireLease } from './spend-statements.js';

/** Seconds that a lease lives without being renewed: what a crashed process held is free again after them. */
export const LEASE_SECONDS = 30;

export interface LeaseGrant {
  /** At least what was needed, or nothing. */
  readonly granted: PicoUsd;
  /** What is left of the tightest cap, reservations not counted. */
  readonly unspent: PicoUsd;
}

/** The channel on which processes ask each other to give back what they do not use. The payload is the holder's id. */
export const RECALL_CHANNEL = 'spend_recall';

@Injectable()
export class SpendLedger {
  readonly processId = randomUUID();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Asks for a lease of at least `needed`; `wanted` is what all waiting calls need together. */
  async acquire(
    holder: SpendHolder,
    caps: readonly SpendCap[],
    needed: PicoUsd,
    wanted: PicoUsd,
  ): Promise<LeaseGrant> {
    const [row] = await this.database.query<{ amount: string; unspent: string }>({
      name: `acquire-lease-${holder.kind}`,
      text: acquireLease(holder.kind),
      values: [
        holder.workspaceId,
        holder.id,
        this.processId,
        JSON.stringify(
          caps.map((cap) => ({
            window: cap.window,
            limit: formatUsd(cap.limit),
            include_byok: cap.includeByok,
          })),
        ),
        utcDay(this.clock.now()),
        formatUsd(needed),
        formatUsd(wanted),
        LEASE_SECONDS,
      ],
    });
    return { granted: parseUsd(row?.amount ?? '0'), unspent: parseUsd(row?.unspent ?? '0') };
  }

  /** Gives back what calls did not use. */
  async giveBack(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    await this.database.query({
      name: 'give-back',
      text: GIVE_BACK,
      values: ['', '', this.describeReleases(releases), this.processId],
    });
  }

  async renew(): Promise<void> {
    await this.database.query({
      name: 'renew-leases',
      text: RENEW_LEASES,
      values: [this.processId, LEASE_SECONDS],
    });
  }

  /** Frees what processes held that are gone. */
  async sweepExpired(): Promise<void> {
    await this.database.query({ name: 'sweep-leases', text: SWEEP_EXPIRED_LEASES });
  }

  /** Asks the other processes to give back what they do not use of this holder's money. */
  async recall(holder: SpendHolder): Promise<void> {
    await this.database.query({ text: 'SELECT pg_notify($1, $2)', values: [RECALL_CHANNEL, holder.id] });
  }

  /** One entry a holder: the statements' $3. */
  describeReleases(releases: readonly SpendRelease[]): string {
    if (releases.length === 0) return '[]';
    const sums = new Map<string, { holder: SpendHolder; amount: PicoUsd }>();
    for (const { holder, amount } of releases) {
      const known = sums.get(holder.id);
      if (known) known.amount += amount;
      else sums.set(holder.id, { holder, amount });
    }
    return JSON.stringify(
      [...sums.values()].map(({ holder, amount }) => ({
        workspace_id: holder.workspaceId,
        holder_id: holder.id,
        amount: formatUsd(amount),
      })),
    );
  }
}
