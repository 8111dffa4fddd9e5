// Reserves what a call may cost before it is made, against the key's limit, the workspace's budgets and the account's
// credits. Source: decisions 18; contract section 6.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { ApiKey } from '../domain/keys/api-key.js';
import { AppError } from '../domain/errors.js';
import { amountToward, NO_LIMITS, SpendRelease } from '../domain/spend/spend-cap.js';
import type { SpendBound, SpendLimitWindow, SpendLimits } from '../domain/spend/spend-cap.js';
import { LEASE_SECONDS, SpendLease } from '../domain/spend/spend-lease.js';
import type { SpendOwner } from '../domain/spend/spend-lease.js';
import { Notifications } from '../persistence/database/notifications.js';
import { RELEASE_REQUEST_CHANNEL, SpendLedger } from '../persistence/spend/spend-ledger.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';
import { LocalQuota, LimitReserved } from './local-quota.js';
import { SpendPolicyCache, SPEND_POLICY_CHANNEL } from './spend-policy-cache.js';

/** What a call holds until it is settled. */
export interface Reservation {
  /** What the call may cost at most; null where nothing limits it. */
  readonly bound: SpendBound | null;
  /** To be handed to the log together with the cost. */
  readonly releases: readonly SpendRelease[];
  /** At the end of the call, whatever that was: what was not handed to the log can serve another. */
  close(): void;
}

/** What a call may cost, estimated fast and generously, and counted as exactly as it can be. */
export interface SpendBounds {
  quick(): SpendBound;
  exact(): Promise<SpendBound>;
}

interface LimitedOwner {
  readonly owner: SpendOwner;
  readonly limits: readonly SpendLimitWindow[];
}

/** What a call has taken of one holder's money. */
interface ReservedPart {
  readonly quota: LocalQuota;
  readonly owner: LimitedOwner;
  readonly release: SpendRelease;
}

interface CachedOwners {
  readonly policy: SpendPolicy | null;
  readonly owners: readonly LimitedOwner[];
}

const NOTHING_RESERVED: Reservation = { bound: null, releases: [], close: () => undefined };
// Three beats fit into a lease's life.
const HEARTBEAT_INTERVAL = (LEASE_SECONDS * 1000) / 3;
// Milliseconds that a call waits for money that other calls have reserved.
const MAX_WAIT = 10_000;
/** A deadline that has passed. */
const NO_WAIT = -Infinity;

@Injectable()
export class SpendLimiter implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger(SpendLimiter.name);
  /** By holder. */
  private readonly quotas = new Map<string, LocalQuota>();
  /** Of a key and of terms, both as the caches hold them: a change makes others of them. */
  private readonly limitedOwners = new WeakMap<ApiKey, CachedOwners>();
  /** Those whose leases cannot be trusted any more: calls still hold parts of them, and nothing more is handed out. */
  private readonly retired = new Set<LocalQuota>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly ledger: SpendLedger,
    private readonly policies: SpendPolicyCache,
    notifications: Notifications,
  ) {
    const onNotification = (holderId: string): void => void this.releaseUnused(holderId);
    notifications.subscribe({ channel: RELEASE_REQUEST_CHANNEL, onNotification });
    // What was told meanwhile, nobody has heard.
    const onConnected = (): void => void this.releaseAllUnused();
    notifications.subscribe({ channel: SPEND_POLICY_CHANNEL, onNotification, onConnected });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.heartbeat(), HEARTBEAT_INTERVAL);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** After the last call was settled: another replica should not have to wait for the leases to expire. */
  async onApplicationShutdown(): Promise<void> {
    await this.releaseAllUnused();
  }

  /** Of the terms that hold now: a call that begins may find others when it reserves. */
  async limitsOf(key: ApiKey): Promise<SpendLimits> {
    const { workspaceId } = key;
    return limitsUnder(key, this.policies.peek(workspaceId) ?? (await this.policies.find(workspaceId)));
  }

  /**
   * Reserves the quick bound, or, when that does not fit at once, the exact one, which waits so many milliseconds for what
   * other calls have reserved. Throws an error that isAboutMoney() when neither does.
   */
  async reserve(key: ApiKey, bounds: SpendBounds, patience = MAX_WAIT): Promise<Reservation> {
    const { workspaceId } = key;
    const terms = this.policies.peek(workspaceId) ?? (await this.policies.find(workspaceId));
    const known = this.limitedOwners.get(key);
    const claims = known?.policy === terms ? known.owners : await this.refreshOwners(key, terms);
    if (claims.length === 0) return NOTHING_RESERVED;
    const quick = bounds.quick();
    try {
      return await this.reserveBound(claims, quick, NO_WAIT);
    } catch (error) {
      if (!isAboutMoney(error)) throw error;
    }
    const exact = await bounds.exact();
    return this.reserveBound(claims, exact, performance.now() + patience);
  }

  /**
   * Takes from one holder after the other. It waits only while it holds nothing: what a call holds of one holder's money
   * while another's is reserved would keep calls waiting that need the first alone.
   */
  private async reserveBound(
    claims: readonly LimitedOwner[],
    bound: SpendBound,
    deadline: number,
  ): Promise<Reservation> {
    for (let inOrder = claims; ;) {
      const taken: ReservedPart[] = [];
      let blocked: LimitedOwner | undefined;
      try {
        for (const claim of inOrder) {
          const amount = amountToward(claim.limits, bound);
          // What costs nothing waits for nobody's money, and is refused for want of none.
          if (amount === 0n) continue;
          blocked = claim;
          const patience = taken.length === 0 ? deadline : NO_WAIT;
          let allowance = this.quotaOf(claim);
          while (!(allowance.tryAcquire(amount) || (await allowance.acquire(amount, patience))))
            allowance = this.quotaOf(claim);
          taken.push({ quota: allowance, owner: claim, release: new SpendRelease(allowance.lease, amount) });
        }
        return this.reservationOf(taken, bound);
      } catch (error) {
        for (const part of taken) this.releasePart(part);
        const mayWait = error instanceof LimitReserved && performance.now() < deadline;
        if (!mayWait || !blocked) throw error;
        inOrder = [blocked, ...inOrder.filter((claim) => claim !== blocked)];
      }
    }
  }

  private reservationOf(taken: readonly ReservedPart[], bound: SpendBound): Reservation {
    return {
      bound,
      releases: taken.map(({ release }) => release),
      close: () => {
        for (const part of taken) {
          const { quota: allowance, release } = part;
          if (release.wasHandedOver) allowance.commit(release.amount);
          else this.releasePart(part);
        }
      },
    };
  }

  private releasePart({ quota: allowance, owner: claim, release }: ReservedPart): void {
    void this.release(allowance.release(release.amount, claim.limits));
  }

  private async refreshOwners(key: ApiKey, terms: SpendPolicy | null): Promise<readonly LimitedOwner[]> {
    const isKnown = this.limitedOwners.has(key);
    const claims = limitedOwnersOf(key, terms);
    this.limitedOwners.set(key, { policy: terms, owners: claims });
    // A key that is read anew may have had another limit since, or none, under which money was spent that nobody reserved:
    // its caps alone do not tell. Of budgets and credits the database does, by their holders' ids.
    if (!isKnown) await this.releaseUnused(key.id);
    return claims;
  }

  private quotaOf({ owner: holder, limits }: LimitedOwner): LocalQuota {
    const known = this.quotas.get(holder.id);
    if (known?.isValid) {
      const unused = known.changeLimits(limits);
      if (unused.length > 0) void this.release(unused);
      return known;
    }
    if (known) this.retire(known);
    const allowance = new LocalQuota(new SpendLease(holder), limits, this.ledger);
    this.quotas.set(holder.id, allowance);
    return allowance;
  }

  private retire(allowance: LocalQuota): void {
    this.forget(allowance);
    this.retired.add(allowance);
    void this.release(allowance.drainUnused());
  }

  private forget(allowance: LocalQuota): void {
    const { id } = allowance.lease.owner;
    if (this.quotas.get(id) === allowance) this.quotas.delete(id);
    this.retired.delete(allowance);
  }

  private all(): LocalQuota[] {
    return [...this.quotas.values(), ...this.retired];
  }

  /**
   * Renews what is in use, gives back what is not, and frees what crashed processes held. A lease that cannot be trusted
   * is renewed while calls hold parts of it; then it expires, and all that it still held is free.
   */
  async heartbeat(): Promise<void> {
    const unused: SpendRelease[] = [];
    for (const allowance of this.all()) {
      if (allowance.isValid && !allowance.wasIdleSince()) continue;
      if (allowance.isIdle) this.forget(allowance);
      unused.push(...allowance.drainUnused());
    }
    await this.release(unused);
    try {
      const held = this.all().filter(({ hasBudget: isHeld }) => isHeld);
      await this.ledger.renew(held.map(({ lease }) => lease));
      await this.ledger.sweepExpired();
    } catch (error) {
      this.logger.warn({ error }, 'the spend leases could not be renewed; trying again');
    }
  }

  private async releaseAllUnused(): Promise<void> {
    await this.release(this.all().flatMap((allowance) => allowance.drainUnused()));
  }

  private async releaseUnused(holderId: string): Promise<void> {
    await this.release(this.quotas.get(holderId)?.drainUnused() ?? []);
  }

  /** What cannot be given back now comes free when the lease expires. */
  private async release(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    try {
      await this.ledger.release(releases);
    } catch (error) {
      this.logger.warn({ error }, 'unused parts of spend leases could not be given back');
    }
  }
}

/** Whether a call that costs less might have been served. No price and no other route brings back a database. */
export function isAboutMoney(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const { code } = error;
  return error instanceof LimitReserved || code === 'insufficient_credits' || code === 'budget_exceeded';
}

function limitsUnder({ limit, includeByokInLimit }: ApiKey, terms: SpendPolicy | null): SpendLimits {
  const { budgets = [], credits = null } = terms ?? {};
  if (limit === null && budgets.length === 0 && credits === null) return NO_LIMITS;
  const includesByok =
    (limit !== null && includeByokInLimit) || budgets.some(({ includeByok }) => includeByok);
  return { isLimited: true, includesByok };
}

function limitedOwnersOf(
  { id, limit, limitReset, includeByokInLimit, workspaceId, accountId }: ApiKey,
  terms: SpendPolicy | null,
): LimitedOwner[] {
  const { budgets = [], credits = null } = terms ?? {};
  const claims: LimitedOwner[] = [];
  if (limit !== null) {
    const cap = {
      window: limitReset ?? 'total',
      limit,
      includeByok: includeByokInLimit,
    } as const;
    claims.push({ owner: { kind: 'key', id, workspaceId }, limits: [cap] });
  }
  if (budgets.length > 0) {
    claims.push({ owner: { kind: 'workspace', id: workspaceId, workspaceId }, limits: budgets });
  }
  if (credits !== null) {
    const cap = { window: 'total', limit: credits, includeByok: false } as const;
    claims.push({ owner: { kind: 'account', id: accountId, workspaceId: accountId }, limits: [cap] });
  }
  return claims;
}
