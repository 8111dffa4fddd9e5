// Maps a caller's reasoning settings to the efforts of an endpoint.
import type { ChatCall } from '../chat-wire.js';
import type { SupportTraits } from './chat-traits.js';

/** Lowest first. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const DEFAULT_EFFORT = 'medium';
/** The least share of the output limit, in percent, for which a budget of reasoning tokens is an effort. */
const EFFORT_SHARES = [
  ['high', 80],
  ['medium', 50],
  ['low', 20],
] as const;

/** Of a budget of reasoning tokens, in percent. */
const BUDGET_SHARES: Readonly<Record<string, number>> = {
  max: 95,
  xhigh: 95,
  high: 80,
  medium: 50,
  low: 20,
  minimal: 10,
};

export function shareOfEffort(effort: string): number {
  return BUDGET_SHARES[effort] ?? 50;
}

export type ReasoningEdit =
  | {
      readonly effort: string;
      /** The caller wanted reasoning, and the endpoint takes tools only without. */
      readonly isWeaker?: boolean;
    }
  /** The endpoint reasons or not, without degrees. */
  | { readonly isEnabled: boolean }
  | 'dropped'
  /** The caller leaves the effort to the endpoint. */
  | null;

/** The caller asked for reasoning that it does not get. */
export function isReasoningLost(edit: ReasoningEdit): boolean {
  return edit === 'dropped' || (edit !== null && 'isWeaker' in edit && edit.isWeaker);
}

export function reasoningEdit(
  call: ChatCall,
  { protocol = 'chat', reasoningSwitch }: Pick<SupportTraits, 'protocol' | 'reasoningSwitch'>,
): ReasoningEdit {
  const wanted = wantedEffort(call);
  const { reasoningEfforts, supportedParameters, toolsOnlyWithoutReasoning } = call.endpoint;
  if (protocol === 'chat' && toolsOnlyWithoutReasoning && call.request.tools.length > 0)
    return { effort: 'none', isWeaker: wanted !== null && wanted !== 'none' };
  if (wanted === null) return null;
  const effort = nearestEffort(wanted, reasoningEfforts);
  if (effort !== null) return { effort };
  return reasoningSwitch === true && supportedParameters.includes('reasoning')
    ? { isEnabled: wanted !== 'none' }
    : 'dropped';
}

function wantedEffort({ request: { reasoning }, endpoint, maxOutputTokens }: ChatCall): string | null {
  if (reasoning === null) return null;
  if (reasoning.effort !== null) return reasoning.effort;
  if (reasoning.maxTokens !== null) {
    const limit = maxOutputTokens ?? endpoint.maxOutputTokens ?? endpoint.contextLength;
    const percent = (reasoning.maxTokens / limit) * 100;
    return EFFORT_SHARES.find(([, least]) => percent >= least)?.[0] ?? 'minimal';
  }
  return reasoning.isEnabled ? DEFAULT_EFFORT : null;
}

/** The highest listed effort up to the wanted one, else the lowest that reasons. Null: none is listed. */
function nearestEffort(wanted: string, listed: readonly string[]): string | null {
  // Only an explicit `none` switches reasoning off, and only where the endpoint can.
  if (wanted === 'none') return listed.includes('none') ? 'none' : null;
  const reasoning = EFFORTS.filter((effort) => effort !== 'none' && listed.includes(effort));
  const most = EFFORTS.indexOf(wanted);
  return reasoning.findLast((effort) => EFFORTS.indexOf(effort) <= most) ?? reasoning[0] ?? null;
}
