// Reasoning settings of other wires as `thinking` and `output_config.effort` (docs/contract.md#messages-providers).
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatRequest, JsonObject, ReasoningSettings } from '../../../domain/chat/chat-request.js';
import { thinkingBlocks } from './reasoning-details.js';
import { reasoningEdit, shareOfEffort } from '../chat/chat-reasoning.js';
import type { ChatCall } from '../chat-wire.js';

const LEAST_BUDGET = 1_024;
const MOST_BUDGET = 128_000;

export interface ThinkingEdit {
  /** Null: the model's default. */
  readonly thinking: JsonObject | null;
  readonly effort: string | null;
  /** The caller gets less than it asks for. */
  readonly isWeaker: boolean;
}

const DEFAULT: ThinkingEdit = { thinking: null, effort: null, isWeaker: false };
const DISABLED: ThinkingEdit = { ...DEFAULT, thinking: { type: 'disabled' } };

/** `maxTokens`: the limit that is sent. */
export function thinkingEdit(call: ChatCall, maxTokens: number): ThinkingEdit {
  const { reasoning } = call.request;
  if (reasoning === null) return DEFAULT;
  const form = call.endpoint.wire?.thinking ?? null;
  if (form === null) return { ...DEFAULT, isWeaker: reasoning.effort !== 'none' };
  return form === 'budget' ? budgetEdit(call, reasoning, maxTokens) : adaptiveEdit(call, reasoning);
}

/** The model thinks in this call. */
export function thinks(
  { reasoning }: Pick<ChatRequest, 'reasoning'>,
  { wire }: Pick<ChatEndpoint, 'wire'>,
): boolean {
  return reasoning !== null && reasoning.effort !== 'none' && wire?.thinking !== undefined;
}

function adaptiveEdit(call: ChatCall, reasoning: ReasoningSettings): ThinkingEdit {
  const { effort, maxTokens, isEnabled, isExcluded } = reasoning;
  const thinking = { type: 'adaptive', ...(isExcluded ? {} : { display: 'summarized' }) };
  if (effort === null && maxTokens === null) return isEnabled ? { ...DEFAULT, thinking } : DEFAULT;
  const edit = reasoningEdit(call, { protocol: 'messages' });
  if (effort === 'none') {
    if (edit !== 'dropped') return DISABLED;
    const [lowest = null] = call.endpoint.reasoningEfforts;
    return { thinking: null, effort: lowest, isWeaker: true };
  }
  const named = edit !== null && edit !== 'dropped' && 'effort' in edit ? edit.effort : null;
  return { thinking, effort: named, isWeaker: named === null };
}

function budgetEdit(
  { request }: ChatCall,
  { effort, maxTokens: wanted, isEnabled }: ReasoningSettings,
  maxTokens: number,
): ThinkingEdit {
  if (effort === 'none') return DISABLED;
  if (effort === null && wanted === null && !isEnabled) return DEFAULT;
  // The provider wants a thought before the calls of a turn, and other producers' thoughts were lost.
  if (hasForeignCalls(request.messages)) return { ...DISABLED, isWeaker: true };
  const share = Math.floor((maxTokens * shareOfEffort(effort ?? 'medium')) / 100);
  const budget = Math.min(MOST_BUDGET, Math.max(LEAST_BUDGET, wanted ?? share), maxTokens - 1);
  if (budget < LEAST_BUDGET) return { ...DISABLED, isWeaker: true };
  return { ...DEFAULT, thinking: { type: 'enabled', budget_tokens: budget } };
}

/** The last assistant's message calls tools without a thought that the provider reads. */
export function hasForeignCalls(messages: ChatCall['request']['messages']): boolean {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const { toolCalls = [], body = {} } = messages[at] ?? {};
  const isAnswered = messages.slice(at + 1).some(({ role }) => role === 'tool');
  return isAnswered && toolCalls.length > 0 && thinkingBlocks(body['reasoning_details']).blocks.length === 0;
}
