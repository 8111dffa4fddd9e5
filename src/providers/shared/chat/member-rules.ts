// Rules of members that several providers share.
import type { ChatCall } from '../chat-wire.js';
import { withTools } from './chat-members.js';
import type { MemberEdit, MemberRule, MessageTraits } from './chat-traits.js';

/** Sampling members that OpenAI's wire does not have. */
export const NO_OPEN_SAMPLING: Readonly<Record<string, MemberRule>> = {
  top_k: 'drop',
  top_a: 'drop',
  min_p: 'drop',
  repetition_penalty: 'drop',
};

/** Members of the wires that have neither a cache to steer nor predictions. */
export const NO_CACHE_SETTINGS: Readonly<Record<string, MemberRule>> = {
  cache_control: 'drop',
  prompt_cache_key: 'drop',
  prompt_cache_options: 'drop',
  prompt_cache_retention: 'drop',
};

/** Servers with open weights: they know the role `system` only. */
export const OPEN_MESSAGES: MessageTraits = {
  developerRole: 'system',
  names: 'all',
  reasoning: 'reasoning',
};

export function stopAsList(name = 'stop'): MemberRule {
  return (value) => {
    const text = value.toString();
    return { name, value: text.startsWith('"') ? `[${text}]` : value };
  };
}

/** Sent in another member or form, which the wire writes itself. */
export function writtenElsewhere(): MemberEdit {
  return 'omitted';
}

/** A number within narrower bounds than the caller's. */
export function clampedTo(least: number, most: number): MemberRule {
  return (value) => {
    const number = Number(value.toString());
    if (number < least) return { value: String(least), isWeaker: true };
    return number > most ? { value: String(most), isWeaker: true } : { value };
  };
}

/** Renames a member and keeps its digits, which may be more than a double holds. */
export function renamed(name: string): MemberRule {
  return (value) => ({ name, value });
}

/** Reasoning models refuse the member. */
export function droppedByReasoning(value: Buffer, { endpoint }: ChatCall): MemberEdit {
  return endpoint.isReasoning ? 'dropped' : { value };
}

/** Some reasoning models refuse the member. */
export function parallelCallsIfListed(value: Buffer, call: ChatCall): MemberEdit {
  const { isReasoning, supportedParameters } = call.endpoint;
  if (isReasoning && !supportedParameters.includes('parallel_tool_calls')) return 'dropped';
  return withTools(value, call);
}

/** Reasoning models refuse every value but 1. */
export function onlyOneWithReasoning(value: Buffer, { endpoint }: ChatCall): MemberEdit {
  return endpoint.isReasoning && Number(value.toString()) !== 1 ? 'dropped' : { value };
}
