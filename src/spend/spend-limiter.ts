// Reserves the maximum cost of a call before it is made, against the limits of the key and its guardrails, the workspace's budgets
// and the account's credits (docs/contract.md#spend).
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { CancelSignal } from '../concurrency/cancellation.js';
import type { GuardrailsInForce } from '../domain/guardrails/guardrails-in-force.js';
import type { ApiKey, GuardedCaller } from '../domain/keys/api-key.js';
import { AppError } from '../domain/errors.js';
import { amountToward, SpendRelease } from '../domain/spend/spend-limit.js';
import type { SpendBound, SpendLimits } from '../domain/spend/spend-limit.js';
import { LEASE_SECONDS, SpendLease } from '../domain/spend/spend-lease.js';
import { Notifications } from '../persistence/database/notifications.js';
import { RELEASE_REQUEST_CHANNEL, SpendLedger } from '../persistence/spend/spend-ledger.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';
import { limitedOwnersOf, limitsUnder, ofGuardrail } from './limited-owners.js';
import type { LimitedOwner } from './limited-owners.js';
import { LocalQuota, LimitReserved } from './local-quota.js';
import { LIMIT_CODES, ReachedLimits } from './reached-limits.js';
import { SpendPolicyCache, SPEND_POLICY_CHANNEL } from './spend-policy-cache.js';
import { UnpaidLimit } from './unpaid-limit.js';

/** The money that a call holds until it is settled. */
export interface Reservation {
  /** The maximum cost of the call; null without any limit. */
  readonly bound: SpendBound | null;
  /** To append to the log together with the cost. */
  readonly releases: readonly SpendRelease[];
  /** At the end of the call, however it ends: amounts that were not appended to the log become available again. */
  close(): void;
}

/** The maximum cost of a call: a quick generous estimate, and an exact count. */
export interface SpendBounds {
  quick(): SpendBound;
  exact(): Promise<SpendBound>;
}

/** The part that a call has reserved of one owner's money. */
interface ReservedPart {
  readonly quota: LocalQuota;
  readonly owner: LimitedOwner;
  readonly release: SpendRelease;
}

interface CachedOwners {
  readonly policy: SpendPolicy | null;
  readonly guardrails: GuardrailsInForce | null;
  readonly owners: readonly LimitedOwner[];
}

const NOTHING_RESERVED: Reservation = { bound: null, releases: [], close: () => undefined };
// A lease lives for three heartbeats.
const HEARTBEAT_INTERVAL = (LEASE_SECONDS * 1000) / 3;
// Milliseconds that a call waits for money that other calls have reserved.
const MAX_WAIT = 10_000;
/** A deadline in the past. */
const NO_WAIT = -Infinity;
// Ended leases of one statement.
const MAX_ENDED = 10_000;

@Injectable()
export class SpendLimiter implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger(SpendLimiter.name);
  /** By owner. */
  private readonly quotas = new Map<string, LocalQuota>();
  /** Keyed by the cached objects of key, policy and guardrails: a change replaces them. */
  private readonly limitedOwners = new WeakMap<ApiKey, CachedOwners>();
  /** Invalid leases: calls still hold parts of them, and nothing more is granted. */
  private readonly retired = new Set<LocalQuota>();
  /** Leases that no call holds, of which the database may still have an amount. */
  private readonly ended = new Set<SpendLease>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly ledger: SpendLedger,
    private readonly policies: SpendPolicyCache,
    private readonly reachedLimits: ReachedLimits,
    private readonly unpaidLimit: UnpaidLimit,
    notifications: Notifications,
  ) {
    const onNotification = (ownerId: string): void => void this.releaseUnused(ownerId);
    notifications.subscribe({ channel: RELEASE_REQUEST_CHANNEL, onNotification });
    // Notifications during the disconnection were missed.
    const onConnected = (): void => void this.releaseAllUnused();
    notifications.subscribe({ channel: SPEND_POLICY_CHANNEL, onNotification, onConnected });
  }

  async onApplicationBootstrap(): Promise<void> {
    // No RepeatedTask: a heartbeat whose statements hang must not delay the next one until the leases expire. Two at once
    // are harmless, because each is a few statements about the state of that moment.
    this.timer = setInterval(() => void this.heartbeat(), HEARTBEAT_INTERVAL);
    this.timer.unref();
    await this.ledger
      .sweepPredecessors()
      .catch((error: unknown) => this.logger.warn({ error }, 'failed to release leases of dead processes'));
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** After the last call was settled: other replicas need not wait for the leases to expire. */
  async onApplicationShutdown(): Promise<void> {
    const quotas = this.all();
    await this.releaseAllUnused();
    for (const quota of quotas) if (!quota.isValid || !quota.isIdle) this.ended.add(quota.lease);
    await this.renew([]);
  }

  /** Under the current policy; a call may meet another one when it reserves. */
  async limitsOf(caller: GuardedCaller): Promise<SpendLimits> {
    return limitsUnder(caller, await this.policies.find(caller.key.workspaceId));
  }

  /**
   * Reserves the quick bound. When that does not fit at once, it reserves the exact bound, which waits up to
   * `maxWait` milliseconds for money that other calls have reserved. Throws an error that isAboutMoney() when neither
   * fits. `signal` ends the wait with its reason.
   */
  async reserve(
    caller: GuardedCaller,
    bounds: SpendBounds,
    maxWait = MAX_WAIT,
    signal: CancelSignal | null = null,
  ): Promise<Reservation> {
    const { key, guardrails } = caller;
    const policy = await this.policies.find(key.workspaceId);
    const rejection = this.unpaidLimit.rejectionOf(key, policy);
    // Calls that own provider keys or free endpoints alone can serve leave the operator nothing to pay.
    if (rejection && bounds.quick().cost > 0n) throw rejection;
    const known = this.limitedOwners.get(key);
    const isCurrent = known?.policy === policy && known.guardrails === guardrails;
    const owners = isCurrent ? known.owners : await this.refreshOwners(caller, policy);
    if (owners.length === 0) return NOTHING_RESERVED;
    const quick = bounds.quick();
    try {
      return await this.reserveBound(owners, quick, NO_WAIT, signal);
    } catch (error) {
      if (!isAboutMoney(error)) throw error;
    }
    const exact = await bounds.exact();
    return this.reserveBound(owners, exact, performance.now() + maxWait, signal);
  }

  /**
   * Acquires from one owner after another, and waits only while it holds nothing. An amount held of one owner while
   * the call waits for another would block calls that need the first alone.
   */
  private async reserveBound(
    owners: readonly LimitedOwner[],
    bound: SpendBound,
    deadline: number,
    signal: CancelSignal | null,
  ): Promise<Reservation> {
    for (let inOrder = owners; ;) {
      const parts: ReservedPart[] = [];
      let blocked: LimitedOwner | undefined;
      try {
        for (const owner of inOrder) {
          const amount = amountToward(owner.limits, bound);
          // A call without cost waits for no money, and is never rejected for lack of it.
          if (amount === 0n) continue;
          blocked = owner;
          const maxWait = parts.length === 0 ? deadline : NO_WAIT;
          let quota = this.quotaOf(owner);
          while (!(quota.tryAcquire(amount) || (await quota.acquire(amount, maxWait, signal))))
            quota = this.quotaOf(owner);
          parts.push({ quota, owner, release: new SpendRelease(quota.lease, amount) });
        }
        return this.reservationOf(parts, bound);
      } catch (error) {
        for (const part of parts) this.releasePart(part);
        const mayWait = error instanceof LimitReserved && performance.now() < deadline;
        if (!mayWait || !blocked) throw blocked ? ofGuardrail(error, blocked) : error;
        inOrder = [blocked, ...inOrder.filter((owner) => owner !== blocked)];
      }
    }
  }

  private reservationOf(parts: readonly ReservedPart[], bound: SpendBound): Reservation {
    return {
      bound,
      releases: parts.map(({ release }) => release),
      close: () => {
        for (const part of parts) {
          const { quota, release } = part;
          if (release.wasHandedOver) quota.commit(release.amount);
          else this.releasePart(part);
        }
      },
    };
  }

  private releasePart({ quota, owner, release }: ReservedPart): void {
    void this.release(quota.release(release.amount, owner.limits));
  }

  private async refreshOwners(
    caller: GuardedCaller,
    policy: SpendPolicy | null,
  ): Promise<readonly LimitedOwner[]> {
    const { key, guardrails } = caller;
    const known = this.limitedOwners.get(key);
    const owners = limitedOwnersOf(caller, policy);
    this.limitedOwners.set(key, { policy, guardrails, owners });
    // A key that is loaded again may have had another limit, or none, in between, and unreserved money was spent
    // under it. Its present limits do not show that. For budgets and credits the ids of their owners do.
    if (!known) await this.releaseUnused(key.id);
    if (known?.guardrails !== guardrails)
      for (const { owner } of owners) if (owner.kind === 'guardrail') await this.releaseUnused(owner.id);
    return owners;
  }

  private quotaOf({ owner, limits }: LimitedOwner): LocalQuota {
    const known = this.quotas.get(owner.id);
    if (known?.isValid) {
      const unused = known.changeLimits(limits);
      if (unused.length > 0) void this.release(unused);
      return known;
    }
    if (known) this.retire(known);
    const quota = new LocalQuota(new SpendLease(owner), limits, this.ledger, this.reachedLimits);
    this.quotas.set(owner.id, quota);
    return quota;
  }

  private retire(quota: LocalQuota): void {
    this.forget(quota);
    this.retired.add(quota);
    void this.release(quota.drainUnused());
  }

  private forget(quota: LocalQuota): void {
    const { id } = quota.lease.owner;
    if (this.quotas.get(id) === quota) this.quotas.delete(id);
    this.retired.delete(quota);
  }

  private all(): LocalQuota[] {
    return [...this.quotas.values(), ...this.retired];
  }

  /**
   * Renews used leases, returns unused ones, and sweeps those of dead processes. An invalid lease is renewed while calls
   * hold parts of it; then it expires, and its whole amount becomes available.
   */
  async heartbeat(): Promise<void> {
    const unused: SpendRelease[] = [];
    const idle: LocalQuota[] = [];
    for (const quota of this.all()) {
      if (quota.isValid && !quota.wasIdleSince()) continue;
      if (quota.isIdle) {
        this.forget(quota);
        idle.push(quota);
      }
      unused.push(...quota.drainUnused());
    }
    await this.release(unused);
    for (const quota of idle) if (!quota.isValid) this.ended.add(quota.lease);
    await this.renew(this.all().filter(({ hasBudget }) => hasBudget));
  }

  private async renew(inUse: readonly LocalQuota[]): Promise<void> {
    const ended = [...this.ended].slice(0, MAX_ENDED);
    try {
      const leases = inUse.map(({ lease }) => lease);
      await this.ledger.renew(leases, ended);
      for (const lease of ended) this.ended.delete(lease);
      await this.ledger.sweepExpired();
    } catch (error) {
      this.logger.warn({ error }, 'failed to renew spend leases; will retry');
    }
  }

  private async releaseAllUnused(): Promise<void> {
    await this.release(this.all().flatMap((quota) => quota.drainUnused()));
  }

  private async releaseUnused(ownerId: string): Promise<void> {
    await this.release(this.quotas.get(ownerId)?.drainUnused() ?? []);
  }

  /** Amounts that cannot be returned now become available when the lease expires. */
  private async release(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    try {
      await this.ledger.release(releases);
    } catch (error) {
      this.logger.warn({ error }, 'failed to return unused parts of spend leases; they expire');
    }
  }
}

/** Whether a cheaper call might have been served. A cheaper route does not help when the database is unreachable. */
export function isAboutMoney(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  return error instanceof LimitReserved || LIMIT_CODES.has(error.code);
}
