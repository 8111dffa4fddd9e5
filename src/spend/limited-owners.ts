// The owners of the limits that a call of a key counts towards.
import type { ApiKey } from '../domain/keys/api-key.js';
import type { SpendOwner } from '../domain/spend/spend-lease.js';
import { NO_LIMITS } from '../domain/spend/spend-limit.js';
import type { SpendLimitWindow, SpendLimits } from '../domain/spend/spend-limit.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

export interface LimitedOwner {
  readonly owner: SpendOwner;
  readonly limits: readonly SpendLimitWindow[];
}

export function limitsUnder({ limit, includeByokInLimit }: ApiKey, policy: SpendPolicy | null): SpendLimits {
  const { budgets = [], credits = null } = policy ?? {};
  if (limit === null && budgets.length === 0 && credits === null) return NO_LIMITS;
  const includesByok =
    (limit !== null && includeByokInLimit) || budgets.some(({ includeByok }) => includeByok);
  return { isLimited: true, includesByok };
}

export function limitedOwnersOf(
  { id, limit, limitReset, includeByokInLimit, workspaceId, accountId }: ApiKey,
  policy: SpendPolicy | null,
): LimitedOwner[] {
  const { budgets = [], credits = null } = policy ?? {};
  const owners: LimitedOwner[] = [];
  if (limit !== null) {
    const limitWindow = {
      window: limitReset ?? 'total',
      limit,
      includeByok: includeByokInLimit,
    } as const;
    owners.push({ owner: { kind: 'key', id, workspaceId }, limits: [limitWindow] });
  }
  if (budgets.length > 0) {
    owners.push({ owner: { kind: 'workspace', id: workspaceId, workspaceId }, limits: budgets });
  }
  if (credits !== null) {
    const limitWindow = { window: 'total', limit: credits, includeByok: false } as const;
    owners.push({ owner: { kind: 'account', id: accountId, workspaceId: accountId }, limits: [limitWindow] });
  }
  return owners;
}
