// The bodies of notifications (docs/contract.md#notifications). Amounts are decimal strings: exact in every language.
import { formatUsd } from '../spend/money.js';
import { limitWindowName } from '../spend/spend-limit.js';
import type { BudgetCrossing } from './budget-crossing.js';
import type { Crossings } from './reported-day.js';
import type { NotificationRule } from './notification-rule.js';

type RuleIdentity = Pick<NotificationRule, 'id' | 'accountId'>;

interface EventIdentity {
  readonly id: string;
  readonly now: Date;
}

/** The body of a budget alert about crossings of one rule. */
export function budgetPayload(crossings: Crossings, { id, now }: EventIdentity): string {
  const [first] = crossings;
  const identity = { timestamp: now.toISOString(), notification_id: first.rule.id };
  return JSON.stringify(
    crossings.length === 1
      ? { id, type: 'budget.threshold_reached', ...identity, data: describe(first) }
      : {
          id,
          type: 'budget.thresholds_reached',
          ...identity,
          data: { account_id: first.rule.accountId, crossings: crossings.map(describe) },
        },
  );
}

function describe({
  subject,
  threshold,
  spent,
  isRefused,
  windowStart,
  windowEnd,
}: BudgetCrossing): Readonly<Record<string, unknown>> {
  const remaining = subject.limit > spent ? subject.limit - spent : 0n;
  return {
    threshold,
    reason: isRefused ? 'call_refused' : 'spend',
    subject: { type: SUBJECT_TYPES[subject.cover], ...subject.names },
    account_id: subject.accountId,
    workspace_id: subject.workspaceId,
    window: {
      interval: limitWindowName(subject),
      starts_at: windowStart?.toISOString() ?? null,
      ends_at: windowEnd?.toISOString() ?? null,
    },
    limit_usd: formatUsd(subject.limit),
    spend_usd: formatUsd(spent),
    remaining_usd: formatUsd(remaining),
  };
}

/** The body that says how many reached thresholds of a rule had no alert on a UTC day that is over. */
export function leftOutPayload(
  rule: RuleIdentity,
  { day, leftOut }: { readonly day: string; readonly leftOut: number },
  { id, now }: EventIdentity,
): string {
  return JSON.stringify({
    id,
    type: 'budget.alerts_left_out',
    timestamp: now.toISOString(),
    notification_id: rule.id,
    data: { account_id: rule.accountId, day, left_out: leftOut },
  });
}

/** The body of a test of the receiver. */
export function testPayload(rule: RuleIdentity, { id, now }: EventIdentity): string {
  return JSON.stringify({
    id,
    type: 'notification.test',
    timestamp: now.toISOString(),
    notification_id: rule.id,
    data: { account_id: rule.accountId },
  });
}

const SUBJECT_TYPES = { keys: 'api_key', workspace_budgets: 'workspace', credits: 'credits' } as const;
