// Chat generations as the service writes them, for tests.
import type { ChatFacts } from '../../../src/domain/chat/chat-outcome.js';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import { createGeneration } from './generation.js';

/** The facts of a streamed call with cached and reasoning tokens: the sides of the cost add up to 224,000,000. */
export function createChatFacts(overrides: Partial<ChatFacts> = {}): ChatFacts {
  return {
    wire: 'chat',
    providerWire: 'chat',
    completionTokens: 40,
    reasoningTokens: 30,
    cachedTokens: 800,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    usageSource: 'reported',
    reportedTokens: { prompt: 1_000, completion: 40, reasoning: 30, cached: 800, cacheWrite: null },
    finishReason: 'stop',
    nativeFinishReason: 'stop',
    isStreamed: true,
    isCancelled: false,
    timeToFirstTokenMs: 120,
    serviceTier: 'default',
    overrun: null,
    promptCost: 160_000_000n,
    completionCost: 64_000_000n,
    cachedCost: 80_000_000n,
    cacheWriteCost: 0n,
    cacheWrite1hCost: 0n,
    reasoningCost: 48_000_000n,
    cacheDiscount: 240_000_000n,
    parameters: { temperature: 0.2, max_tokens: 500 },
    mediaCount: 0,
    audioCount: 0,
    ...overrides,
  };
}

export function createChatGeneration(
  key: Pick<ApiKey, 'id' | 'accountId' | 'workspaceId'>,
  { chat, ...overrides }: Partial<Omit<Generation, 'chat'>> & { readonly chat?: Partial<ChatFacts> } = {},
): Generation {
  return createGeneration(key, {
    operation: 'chat',
    model: 'openai/gpt-4.1-mini',
    endpoint: 'openai/gpt-4.1-mini',
    inputCount: 0,
    promptTokens: 1_000,
    totalTokens: 1_040,
    cost: 224_000_000n,
    dimensions: null,
    encodingFormat: null,
    ...overrides,
    chat: createChatFacts(chat),
  });
}
