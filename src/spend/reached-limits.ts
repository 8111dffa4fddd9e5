// The rejection of a call whose cost does not fit: the limit that stops it, its spend, and when it starts over
// (docs/contract.md#spend).
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { ErrorCode } from '../domain/errors.js';
import { formatUsd, usdToNumber } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { limitWindowName } from '../domain/spend/spend-limit.js';
import type { SpendLimitWindow } from '../domain/spend/spend-limit.js';
import type { SpendOwner } from '../domain/spend/spend-lease.js';
import { spendTowardWindow, windowEnd } from '../domain/spend/spend.js';
import { SpendPolicyRepository } from '../persistence/spend/spend-policy.repository.js';

export interface ReachedLimit {
  readonly owner: SpendOwner;
  /** All limits of the owner. */
  readonly limits: readonly SpendLimitWindow[];
  /** The tightest limit; null: the limits have been lifted since. */
  readonly tightest: SpendLimitWindow | null;
  /** The remainder of the tightest limit. */
  readonly unspent: PicoUsd;
  readonly resetsAt: Date | null;
}

@Injectable()
export class ReachedLimits {
  constructor(
    private readonly policies: SpendPolicyRepository,
    private readonly clock: Clock,
  ) {}

  /** `unspent`: the remainder of the tightest of the limits. Queries only to choose among several. */
  async find(
    owner: SpendOwner,
    limits: readonly SpendLimitWindow[],
    unspent: PicoUsd,
  ): Promise<ReachedLimit> {
    const now = this.clock.now();
    const tightest = limits.length > 1 ? await this.tightestOf(owner, limits, now) : (limits[0] ?? null);
    const resetsAt = tightest && windowEnd(tightest.window, now);
    return { owner, limits, tightest, unspent, resetsAt };
  }

  /** Only a workspace has several limits. */
  private async tightestOf(
    { id }: SpendOwner,
    limits: readonly SpendLimitWindow[],
    now: Date,
  ): Promise<SpendLimitWindow | null> {
    const spend = await this.policies.findWorkspaceSpend(id, now);
    const [tightest = null] = limits
      .map((limit) => ({ limit, left: limit.limit - spendTowardWindow(spend, limit) }))
      .toSorted((one, other) => Number(one.left - other.left))
      .map(({ limit }) => limit);
    return tightest;
  }
}

const CODES = {
  key: 'key_limit_exceeded',
  account: 'insufficient_credits',
  workspace: 'budget_exceeded',
  guardrail: 'guardrail_budget_exceeded',
} as const;

export const LIMIT_CODES: ReadonlySet<ErrorCode> = new Set(Object.values(CODES));

/** Remedies of the caller's side, beside a smaller call. */
const REMEDIES = {
  key: "raise the key's limit",
  account: 'buy credits',
  workspace: "raise the workspace's budget",
  guardrail: "raise the guardrail's limit",
} as const;

/** The remainder of a limit is less than `needed`, the maximum cost of the call. */
export function limitReached(reached: ReachedLimit, needed: PicoUsd): AppError {
  const { owner, limits, tightest, unspent, resetsAt } = reached;
  const left = formatUsd(unspent > 0n ? unspent : 0n);
  const whose =
    owner.kind === 'account'
      ? "the account's credits"
      : `this ${owner.kind}'s ${limits.map(describe).join(', ')}`;
  const reset = resetsAt === null ? '' : `, or wait until ${resetsAt.toISOString()}`;
  return new AppError(CODES[owner.kind], {
    detail:
      `this call may cost ${formatUsd(needed)} USD and ${left} USD are left of ${whose}; ` +
      `lower max_tokens, send a shorter input, ${REMEDIES[owner.kind]}${reset}`,
    shortfall: { owner, tightest, needed, unspent, resetsAt, affordableTokens: null },
    metadata: {
      limit_source: owner.kind,
      ...(tightest && {
        limit_window: limitWindowName(tightest),
        limit_usd: usdToNumber(tightest.limit),
        spend_usd: usdToNumber(tightest.limit - unspent),
        resets_at: resetsAt?.toISOString() ?? null,
      }),
    },
  });
}

function describe({ window, limit }: SpendLimitWindow): string {
  return `${window === 'total' ? '' : `${window} `}limit of ${formatUsd(limit)} USD`;
}
