// The bodies of notifications (docs/contract.md#notifications). Amounts are decimal strings: exact in every language.
import { formatUsd } from '../spend/money.js';
import { limitWindowName } from '../spend/spend-limit.js';
import type { BudgetCrossing } from './budget-crossing.js';
import type { NotificationRule } from './notification-rule.js';

interface EventIdentity {
  readonly id: string;
  readonly now: Date;
}

/** The body of a budget alert. */
export function budgetPayload(crossing: BudgetCrossing, { id, now }: EventIdentity): string {
  const { rule, subject, threshold, spent, isRefused } = crossing;
  const remaining = subject.limit > spent ? subject.limit - spent : 0n;
  return JSON.stringify({
    id,
    type: 'budget.threshold_reached',
    timestamp: now.toISOString(),
    notification_id: rule.id,
    data: {
      threshold,
      reason: isRefused ? 'call_refused' : 'spend',
      subject: { type: SUBJECT_TYPES[subject.cover], ...subject.names },
      account_id: subject.accountId,
      workspace_id: subject.workspaceId,
      window: {
        interval: limitWindowName(subject),
        starts_at: crossing.windowStart?.toISOString() ?? null,
        ends_at: crossing.windowEnd?.toISOString() ?? null,
      },
      limit_usd: formatUsd(subject.limit),
      spend_usd: formatUsd(spent),
      remaining_usd: formatUsd(remaining),
    },
  });
}

/** The body of a test of the receiver. */
export function testPayload(
  rule: Pick<NotificationRule, 'id' | 'accountId'>,
  { id, now }: EventIdentity,
): string {
  return JSON.stringify({
    id,
    type: 'notification.test',
    timestamp: now.toISOString(),
    notification_id: rule.id,
    data: { account_id: rule.accountId },
  });
}

const SUBJECT_TYPES = { keys: 'api_key', workspace_budgets: 'workspace', credits: 'credits' } as const;
