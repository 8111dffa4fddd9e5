// Usage in the Messages wire. Its input tokens exclude both parts that concern the cache, and every event may repeat numbers of
// earlier ones: they replace, and never add (docs/contract.md#chat-usage).
import { readProviderToolUses, readWebSearches } from '../../../domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import { isArray, isObject } from '../../../domain/members.js';
import { asObject } from '../wire.js';

interface MessagesCounts {
  input: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
  cacheWrite1h: number | null;
  output: number | null;
  thinking: number | null;
  toolUses: number | null;
  searches: number | null;
}

export class MessagesUsage {
  private readonly counts: MessagesCounts = {
    input: null,
    cacheRead: null,
    cacheWrite: null,
    cacheWrite1h: null,
    output: null,
    thinking: null,
    toolUses: null,
    searches: null,
  };
  serviceTier: string | null = null;

  /**
   * Null: it is no object. `isStart`: its output is a placeholder. Numbers of any kind stay: the normalisation rejects those
   * that are no counts.
   */
  read(usage: unknown, isStart: boolean): ReportedChatUsage | null {
    if (!isObject(usage)) return null;
    const { counts } = this;
    this.take('input', usage['input_tokens']);
    this.take('cacheRead', usage['cache_read_input_tokens']);
    this.take('cacheWrite', usage['cache_creation_input_tokens']);
    this.take('cacheWrite1h', asObject(usage['cache_creation'])['ephemeral_1h_input_tokens']);
    if (!isStart) this.take('output', usage['output_tokens']);
    this.take('thinking', asObject(usage['output_tokens_details'])['thinking_tokens']);
    this.take('toolUses', readProviderToolUses(usage));
    this.take('searches', readWebSearches(usage));
    const { service_tier: tier } = usage;
    if (typeof tier === 'string') this.serviceTier = tier;
    const extra = compactionOf(usage['iterations']);
    const { input, cacheRead, cacheWrite, output } = counts;
    return {
      promptTokens: input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0) + extra.prompt,
      completionTokens: output === null ? null : output + extra.completion,
      totalTokens: null,
      cachedTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      cacheWrite1hTokens: counts.cacheWrite1h,
      audioInputTokens: null,
      videoInputTokens: null,
      reasoningTokens: counts.thinking,
      audioOutputTokens: null,
      imageOutputTokens: null,
      acceptedPredictionTokens: null,
      rejectedPredictionTokens: null,
      providerToolUses: counts.toolUses,
      webSearches: counts.searches,
    };
  }

  /** Null keeps the earlier number. */
  private take(name: keyof MessagesCounts, value: unknown): void {
    if (typeof value === 'number') this.counts[name] = value;
  }
}

/** Tokens of compactions are billed, and are no part of the numbers beside them. */
function compactionOf(iterations: unknown): { readonly prompt: number; readonly completion: number } {
  let prompt = 0;
  let completion = 0;
  for (const iteration of isArray(iterations) ? iterations : []) {
    const usage = asObject(iteration);
    if (usage['type'] !== 'compaction') continue;
    for (const name of ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'])
      prompt += numberOf(usage[name]);
    completion += numberOf(usage['output_tokens']);
  }
  return { prompt, completion };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
