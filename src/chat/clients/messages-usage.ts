// Usage in the Messages wire, with every member that its clients read: strict ones read all of them.
import type { ChatUsage } from '../../domain/chat/chat-usage.js';

/** The prompt of the kernel is whole; this wire's input excludes the parts that concern the cache. */
export function messagesUsageMembers(usage: ChatUsage): Readonly<Record<string, unknown>> {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = usage;
  const longLived = usage.cacheWrite1hTokens ?? 0;
  return {
    input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - longLived,
      ephemeral_1h_input_tokens: longLived,
    },
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    inference_geo: null,
    service_tier: 'standard',
  };
}
