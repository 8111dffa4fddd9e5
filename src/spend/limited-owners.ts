// The owners of the limits that a call of a key counts towards.
import { AppError } from '../domain/errors.js';
import { guardrailCounterId } from '../domain/guardrails/guardrail-counter.js';
import { shownGuardrail } from '../domain/guardrails/guardrails-in-force.js';
import type { AppliedGuardrail, GuardrailsInForce } from '../domain/guardrails/guardrails-in-force.js';
import type { ApiKey, GuardedCaller } from '../domain/keys/api-key.js';
import type { SpendOwner } from '../domain/spend/spend-lease.js';
import { NO_LIMITS } from '../domain/spend/spend-limit.js';
import type { SpendLimitWindow, SpendLimits } from '../domain/spend/spend-limit.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

export interface LimitedOwner {
  readonly owner: SpendOwner;
  readonly limits: readonly SpendLimitWindow[];
  /** Whose limit it is. */
  readonly guardrail?: AppliedGuardrail;
}

export function limitsUnder({ key, guardrails }: GuardedCaller, policy: SpendPolicy | null): SpendLimits {
  const { limit, includeByokInLimit } = key;
  const { budgets = [], credits = null } = policy ?? {};
  const ofGuardrails = limitingOf(guardrails);
  if (limit === null && budgets.length === 0 && credits === null && ofGuardrails.length === 0)
    return NO_LIMITS;
  const includesByok =
    (limit !== null && includeByokInLimit) ||
    budgets.some(({ includeByok }) => includeByok) ||
    ofGuardrails.some(({ includeByokInBudgets }) => includeByokInBudgets);
  return { isLimited: true, includesByok };
}

/** In the order in which a call acquires from them. */
export function limitedOwnersOf(
  { key, guardrails }: GuardedCaller,
  policy: SpendPolicy | null,
): LimitedOwner[] {
  const { id, limit, limitReset, includeByokInLimit, workspaceId, accountId } = key;
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
  for (const guardrail of limitingOf(guardrails)) owners.push(...ownerOf(guardrail, key));
  if (budgets.length > 0) {
    owners.push({ owner: { kind: 'workspace', id: workspaceId, workspaceId }, limits: budgets });
  }
  if (credits !== null) {
    const limitWindow = { window: 'total', limit: credits, includeByok: false } as const;
    owners.push({ owner: { kind: 'account', id: accountId, workspaceId: accountId }, limits: [limitWindow] });
  }
  return owners;
}

const NONE: readonly AppliedGuardrail[] = [];

function limitingOf(inForce: GuardrailsInForce | null): readonly AppliedGuardrail[] {
  return inForce === null ? NONE : inForce.guardrails.filter(({ limit }) => limit !== null);
}

/** The guardrail of a workspace has no limit: the workspace has budgets. */
function ownerOf(guardrail: AppliedGuardrail, { id, workspaceId, creatorUserId }: ApiKey): LimitedOwner[] {
  const { scope, limit, limitReset, includeByokInBudgets: includeByok } = guardrail;
  const subject = scope === 'api_key' ? id : creatorUserId;
  if (scope === 'workspace' || limit === null || limitReset === null || subject === null) return [];
  return [
    {
      owner: { kind: 'guardrail', id: guardrailCounterId(workspaceId, scope, subject), workspaceId },
      limits: [{ window: limitReset, limit, includeByok }],
      guardrail,
    },
  ];
}

/** Names the guardrail whose limit refuses a call. */
export function ofGuardrail(error: unknown, { guardrail }: LimitedOwner): unknown {
  if (!guardrail || !(error instanceof AppError) || error.code !== 'guardrail_budget_exceeded') return error;
  return error.withMetadata({ guardrail: shownGuardrail(guardrail) });
}
