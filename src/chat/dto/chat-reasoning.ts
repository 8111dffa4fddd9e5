// The three ways to ask for reasoning, as one setting (docs/contract.md#chat-request).
import type { ReasoningSettings } from '../../domain/chat/chat-request.js';
import { AppError } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';

export const REASONING_EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'];
const SUMMARIES = new Set<unknown>(['auto', 'concise', 'detailed']);

interface ReasoningMembers {
  readonly reasoning?: Readonly<Record<string, unknown>>;
  readonly reasoning_effort?: string;
  readonly include_reasoning?: boolean;
}

export function isReasoning(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { effort, max_tokens: maxTokens, exclude, enabled, summary } = value;
  return (
    isAbsentOr(effort, REASONING_EFFORTS.includes(effort as string)) &&
    isAbsentOr(maxTokens, Number.isSafeInteger(maxTokens) && (maxTokens as number) >= 1) &&
    isAbsentOr(exclude, typeof exclude === 'boolean') &&
    isAbsentOr(enabled, typeof enabled === 'boolean') &&
    isAbsentOr(summary, SUMMARIES.has(summary))
  );
}

/** Reads checked members. Null: no reasoning is requested. Throws `invalid_request` for two different efforts. */
export function readReasoning(body: ReasoningMembers): ReasoningSettings | null {
  const { reasoning, reasoning_effort: flatEffort, include_reasoning: isIncluded } = body;
  if (reasoning === undefined && flatEffort === undefined && isIncluded === undefined) return null;
  const effort = (reasoning?.['effort'] as string | null | undefined) ?? null;
  if (effort !== null && flatEffort !== undefined && effort !== flatEffort)
    throw new AppError('invalid_request', { detail: 'reasoning_effort: differs from reasoning.effort' });
  const isEnabled = reasoning?.['enabled'];
  return {
    effort: isEnabled === false ? 'none' : (effort ?? flatEffort ?? null),
    maxTokens: (reasoning?.['max_tokens'] as number | null | undefined) ?? null,
    isExcluded: reasoning?.['exclude'] === true || isIncluded === false,
    isEnabled: isEnabled === true,
  };
}

function isAbsentOr(value: unknown, isValid: boolean): boolean {
  return value === undefined || value === null || isValid;
}
