// Usage in the Responses wire, with every member that its clients read.
import { costMembers } from './messages.js';
import type { ShownUsage } from './client-wire.js';

export function responsesUsage({ usage, cost }: ShownUsage): Readonly<Record<string, unknown>> {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...costMembers(cost),
  };
}
