// Reserves what a call may cost before it is made, against the key's limit, the workspace's budgets and the account's
// credits. Source: decisions 18; contract section 6.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { ApiKey } from '../domain/keys/api-key.js';
import { AppError } from '../domain/errors.js';
import { amountToward, NO_LIMITS, SpendRelease } from '../domain/spend/spend-cap.js';
import type { SpendBound, SpendCap, SpendLimits } from '../domain/spend/spend-cap.js';
import { LEASE_SECONDS, SpendLease } from '../domain/spend/spend-lease.js';
import type { SpendHolder } from '../domain/spend/spend-lease.js';
import { Notifications } from '../persistence/database/notifications.js';
import { RECALL_CHANNEL, SpendLedger } from '../persistence/spend/spend-ledger.js';
import type { SpendTerms } from '../persistence/spend/spend-policy.repository.js';
import { Allowance, ReservedElsewhere } from './local-quota.js';
import { SpendTermsCache, TERMS_CHANNEL } from './spend-policy-cache.js';

/** What a call holds until it is settled. */
export interface Reservation {
  /** What the call may cost at most; null where nothing limits it. */
  readonly bound: SpendBound | null;
  /** To be handed to the log together with the cost. */
  readonly releases: readonly SpendRelease[];
  /** At the end of the call, whatever that was: what was not handed to the log can serve another. */
  settled(): void;
}

/** What a call may cost, estimated fast and generously, and counted as exactly as it can be. */
export interface SpendBounds {
  quick(): SpendBound;
  exact(): Promise<SpendBound>;
}

interface Claim {
  readonly holder: SpendHolder;
  readonly caps: readonly SpendCap[];
}

/** What a call has taken of one holder's money. */
interface Taken {
  readonly allowance: Allowance;
  readonly claim: Claim;
  readonly release: SpendRelease;
}

interface KnownClaims {
  readonly terms: SpendTerms | null;
  readonly claims: readonly Claim[];
}

const NOTHING_RESERVED: Reservation = { bound: null, releases: [], settled: () => undefined };
// Three beats fit into a lease's life.
const BEAT = (LEASE_SECONDS * 1000) / 3;
// Milliseconds that a call waits for money that other calls have reserved.
const PATIENCE = 10_000;
/** A deadline that has passed. */
const AT_ONCE = -Infinity;

@Injectable()
export class SpendGate implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger(SpendGate.name);
  /** By holder. */
  private readonly allowances = new Map<string, Allowance>();
  /** Of a key and of terms, both as the caches hold them: a change makes others of them. */
  private readonly claims = new WeakMap<ApiKey, KnownClaims>();
  /** Those whose leases cannot be trusted any more: calls still hold parts of them, and nothing more is handed out. */
  private readonly retired = new Set<Allowance>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly ledger: SpendLedger,
    private readonly terms: SpendTermsCache,
    notifications: Notifications,
  ) {
    const onNotification = (holderId: string): void => void this.giveBackUnused(holderId);
    notifications.subscribe({ channel: RECALL_CHANNEL, onNotification });
    // What was told meanwhile, nobody has heard.
    const onConnected = (): void => void this.giveBackAllUnused();
    notifications.subscribe({ channel: TERMS_CHANNEL, onNotification, onConnected });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.beat(), BEAT);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** After the last call was settled: another replica should not have to wait for the leases to expire. */
  async onApplicationShutdown(): Promise<void> {
    await this.giveBackAllUnused();
  }

  /** Of the terms that hold now: a call that begins may find others when it reserves. */
  async limitsOf(key: ApiKey): Promise<SpendLimits> {
    const { workspaceId } = key;
    return limitsUnder(key, this.terms.peek(workspaceId) ?? (await this.terms.find(workspaceId)));
  }

  /**
   * Reserves the quick bound, or, when that does not fit at once, the exact one, which waits so many milliseconds for what
   * other calls have reserved. Throws an error that isAboutMoney() when neither does.
   */
  async reserve(key: ApiKey, bounds: SpendBounds, patience = PATIENCE): Promise<Reservation> {
    const { workspaceId } = key;
    const terms = this.terms.peek(workspaceId) ?? (await this.terms.find(workspaceId));
    const known = this.claims.get(key);
    const claims = known?.terms === terms ? known.claims : await this.renewClaims(key, terms);
    if (claims.length === 0) return NOTHING_RESERVED;
    const quick = bounds.quick();
    try {
      return await this.reserveBound(claims, quick, AT_ONCE);
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
    claims: readonly Claim[],
    bound: SpendBound,
    deadline: number,
  ): Promise<Reservation> {
    for (let inOrder = claims; ;) {
      const taken: Taken[] = [];
      let blocked: Claim | undefined;
      try {
        for (const claim of inOrder) {
          const amount = amountToward(claim.caps, bound);
          // What costs nothing waits for nobody's money, and is refused for want of none.
          if (amount === 0n) continue;
          blocked = claim;
          const patience = taken.length === 0 ? deadline : AT_ONCE;
          let allowance = this.allowanceOf(claim);
          while (!(allowance.takeAtOnce(amount) || (await allowance.take(amount, patience))))
            allowance = this.allowanceOf(claim);
          taken.push({ allowance, claim, release: new SpendRelease(allowance.lease, amount) });
        }
        return this.reservationOf(taken, bound);
      } catch (error) {
        for (const part of taken) this.putBack(part);
        const mayWait = error instanceof ReservedElsewhere && performance.now() < deadline;
        if (!mayWait || !blocked) throw error;
        inOrder = [blocked, ...inOrder.filter((claim) => claim !== blocked)];
      }
    }
  }

  private reservationOf(taken: readonly Taken[], bound: SpendBound): Reservation {
    return {
      bound,
      releases: taken.map(({ release }) => release),
      settled: () => {
        for (const part of taken) {
          const { allowance, release } = part;
          if (release.wasHandedOver) allowance.settled(release.amount);
          else this.putBack(part);
        }
      },
    };
  }

  private putBack({ allowance, claim, release }: Taken): void {
    void this.giveBack(allowance.putBack(release.amount, claim.caps));
  }

  private async renewClaims(key: ApiKey, terms: SpendTerms | null): Promise<readonly Claim[]> {
    const isKnown = this.claims.has(key);
    const claims = makeClaims(key, terms);
    this.claims.set(key, { terms, claims });
    // A key that is read anew may have had another limit since, or none, under which money was spent that nobody reserved:
    // its caps alone do not tell. Of budgets and credits the database does, by their holders' ids.
    if (!isKnown) await this.giveBackUnused(key.id);
    return claims;
  }

  private allowanceOf({ holder, caps }: Claim): Allowance {
    const known = this.allowances.get(holder.id);
    if (known?.isUsable) {
      const unused = known.changeCaps(caps);
      if (unused.length > 0) void this.giveBack(unused);
      return known;
    }
    if (known) this.retire(known);
    const allowance = new Allowance(new SpendLease(holder), caps, this.ledger);
    this.allowances.set(holder.id, allowance);
    return allowance;
  }

  private retire(allowance: Allowance): void {
    this.forget(allowance);
    this.retired.add(allowance);
    void this.giveBack(allowance.takeUnused());
  }

  private forget(allowance: Allowance): void {
    const { id } = allowance.lease.holder;
    if (this.allowances.get(id) === allowance) this.allowances.delete(id);
    this.retired.delete(allowance);
  }

  private all(): Allowance[] {
    return [...this.allowances.values(), ...this.retired];
  }

  /**
   * Renews what is in use, gives back what is not, and frees what crashed processes held. A lease that cannot be trusted
   * is renewed while calls hold parts of it; then it expires, and all that it still held is free.
   */
  async beat(): Promise<void> {
    const unused: SpendRelease[] = [];
    for (const allowance of this.all()) {
      if (allowance.isUsable && !allowance.wasIdleSince()) continue;
      if (allowance.isIdle) this.forget(allowance);
      unused.push(...allowance.takeUnused());
    }
    await this.giveBack(unused);
    try {
      const held = this.all().filter(({ isHeld }) => isHeld);
      await this.ledger.renew(held.map(({ lease }) => lease));
      await this.ledger.sweepExpired();
    } catch (error) {
      this.logger.warn({ error }, 'the spend leases could not be renewed; trying again');
    }
  }

  private async giveBackAllUnused(): Promise<void> {
    await this.giveBack(this.all().flatMap((allowance) => allowance.takeUnused()));
  }

  private async giveBackUnused(holderId: string): Promise<void> {
    await this.giveBack(this.allowances.get(holderId)?.takeUnused() ?? []);
  }

  /** What cannot be given back now comes free when the lease expires. */
  private async giveBack(releases: readonly SpendRelease[]): Promise<void> {
    if (releases.length === 0) return;
    try {
      await this.ledger.giveBack(releases);
    } catch (error) {
      this.logger.warn({ error }, 'unused parts of spend leases could not be given back');
    }
  }
}

/** Whether a call that costs less might have been served. No price and no other route brings back a database. */
export function isAboutMoney(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const { code } = error;
  return error instanceof ReservedElsewhere || code === 'insufficient_credits' || code === 'budget_exceeded';
}

function limitsUnder({ limit, includeByokInLimit }: ApiKey, terms: SpendTerms | null): SpendLimits {
  const { budgets = [], credits = null } = terms ?? {};
  if (limit === null && budgets.length === 0 && credits === null) return NO_LIMITS;
  const includesByok =
    (limit !== null && includeByokInLimit) || budgets.some(({ includeByok }) => includeByok);
  return { isLimited: true, includesByok };
}

function makeClaims(
  { id, limit, limitReset, includeByokInLimit, workspaceId, accountId }: ApiKey,
  terms: SpendTerms | null,
): Claim[] {
  const { budgets = [], credits = null } = terms ?? {};
  const claims: Claim[] = [];
  if (limit !== null) {
    const cap = {
      window: limitReset ?? 'total',
      limit,
      includeByok: includeByokInLimit,
    } as const;
    claims.push({ holder: { kind: 'key', id, workspaceId }, caps: [cap] });
  }
  if (budgets.length > 0) {
    claims.push({ holder: { kind: 'workspace', id: workspaceId, workspaceId }, caps: budgets });
  }
  if (credits !== null) {
    const cap = { window: 'total', limit: credits, includeByok: false } as const;
    claims.push({ holder: { kind: 'account', id: accountId, workspaceId: accountId }, caps: [cap] });
  }
  return claims;
}
