// Checked chat requests, for tests.
import type { ChatMessage, ChatRequest, JsonObject } from '../../../src/domain/chat/chat-request.js';

export function chatMessage(
  role: ChatMessage['role'],
  content: ChatMessage['content'],
  overrides: Partial<ChatMessage> = {},
): ChatMessage {
  return { role, content, toolCalls: [], toolCallId: null, name: null, body: {}, ...overrides };
}

/** `members`: the other top-level members as the caller sent them. */
export function chatRequest(
  messages: readonly ChatMessage[],
  {
    members = {},
    ...overrides
  }: Partial<Omit<ChatRequest, 'members'>> & { readonly members?: JsonObject } = {},
): ChatRequest {
  return {
    native: null,
    models: ['openai/gpt-4.1-mini'],
    isStreamed: true,
    includesUsageChunk: false,
    messages,
    tools: [],
    toolChoice: null,
    responseFormat: 'text',
    responseSchema: null,
    maxOutputTokens: null,
    choiceCount: 1,
    wantsLogprobs: false,
    topLogprobs: 0,
    reasoning: null,
    serviceTier: null,
    prediction: null,
    cacheWriteTtl: null,
    wantsEnforcedSchema: false,
    user: null,
    sessionId: null,
    trace: null,
    metadata: null,
    promptCacheKey: null,
    members: new Map(
      Object.entries(members).map(([name, value]) => [name, Buffer.from(JSON.stringify(value))] as const),
    ),
    ...overrides,
  };
}
