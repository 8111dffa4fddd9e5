// Usage in the Messages wire, with every member that its clients read: strict ones read all of them.
import type { ChatUsage } from '../../domain/chat/chat-usage.js';

export interface ShownMessagesUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly thinking: number;
}

/** The prompt of the kernel is whole; this wire's input excludes the parts that concern the cache. */
export function shownMessagesUsage(usage: ChatUsage): ShownMessagesUsage {
  const { promptTokens, cachedTokens: cacheRead, cacheWriteTokens: cacheWrite } = usage;
  return {
    input: promptTokens - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: usage.cacheWrite1hTokens ?? 0,
    output: usage.completionTokens,
    thinking: usage.reasoningTokens,
  };
}

export function messagesUsageMembers(shown: ShownMessagesUsage): Readonly<Record<string, unknown>> {
  return {
    input_tokens: shown.input,
    cache_creation_input_tokens: shown.cacheWrite,
    cache_read_input_tokens: shown.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: shown.cacheWrite - shown.cacheWrite1h,
      ephemeral_1h_input_tokens: shown.cacheWrite1h,
    },
    output_tokens: shown.output,
    output_tokens_details: { thinking_tokens: shown.thinking },
    server_tool_use: null,
    inference_geo: null,
    service_tier: 'standard',
  };
}
