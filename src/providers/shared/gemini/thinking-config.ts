// Reasoning settings of other wires as `thinkingConfig`: a level from Gemini 3 on, a budget of tokens before
// (docs/contract.md#gemini-providers).
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { isReasoningLost, reasoningEdit, shareOfEffort } from '../chat/chat-reasoning.js';
import type { ChatCall } from '../chat-wire.js';
import { isGemini3OrLater } from './thought-signatures.js';

export interface ThinkingConfigEdit {
  /** Null: the model's default. */
  readonly config: JsonObject | null;
  /** The caller gets less than it asks for. */
  readonly isWeaker: boolean;
}

const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** Of a budget in tokens, by the name of the model. Source: Google's guide to thinking. */
const BUDGETS = [
  [/flash-lite/, { least: 512, most: 24_576 }],
  [/flash/, { least: 1, most: 24_576 }],
  [/(?:)/, { least: 128, most: 32_768 }],
] as const;

export function thinkingConfig(call: ChatCall): ThinkingConfigEdit {
  const { reasoning } = call.request;
  if (reasoning === null) return { config: null, isWeaker: false };
  const { effort, maxTokens, isExcluded } = reasoning;
  if (!call.endpoint.isReasoning) return { config: null, isWeaker: effort !== 'none' };
  const shown = isExcluded || effort === 'none' ? {} : { includeThoughts: true };
  const { amount, isWeaker } =
    effort === null && maxTokens === null ? { amount: {}, isWeaker: false } : amountOf(call, maxTokens);
  const config = { ...shown, ...amount };
  return { config: Object.keys(config).length === 0 ? null : config, isWeaker };
}

function amountOf(
  call: ChatCall,
  maxTokens: number | null,
): { readonly amount: JsonObject; readonly isWeaker: boolean } {
  const { upstreamModel, reasoningEfforts } = call.endpoint;
  const edit = reasoningEdit(call, { protocol: 'gemini' });
  const named = edit !== null && edit !== 'dropped' && 'effort' in edit ? edit.effort : null;
  const wantsNone = call.request.reasoning?.effort === 'none';
  const isWeaker = isReasoningLost(edit);
  if (isGemini3OrLater(upstreamModel)) {
    // These models think always.
    const least = reasoningEfforts.find((effort) => effort !== 'none');
    const level = named === null || named === 'none' ? (wantsNone ? least : undefined) : named;
    const thinkingLevel = level === undefined ? undefined : LEVELS[level];
    return { amount: thinkingLevel === undefined ? {} : { thinkingLevel }, isWeaker: isWeaker || wantsNone };
  }
  const { least, most } = BUDGETS.find(([name]) => name.test(upstreamModel))?.[1] ?? BUDGETS[2][1];
  if (named === 'none') return { amount: { thinkingBudget: 0 }, isWeaker };
  if (wantsNone) return { amount: { thinkingBudget: least }, isWeaker };
  if (named === null) return { amount: {}, isWeaker };
  const tokens = maxTokens ?? Math.floor((most * shareOfEffort(named)) / 100);
  return { amount: { thinkingBudget: Math.min(most, Math.max(least, tokens)) }, isWeaker };
}
