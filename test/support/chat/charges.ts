// Endpoints, calls and usage for tests of what a chat may cost and does cost.
import { NEVER_YIELD } from '../../../src/concurrency/yield-queue.js';
import type { BoundedCall } from '../../../src/chat/charges/chat-bound.js';
import { NO_INJECTED_LIMITS } from '../../../src/chat/charges/chat-bound.js';
import { measurePrompt } from '../../../src/chat/charges/prompt-size.js';
import { readChatRequest } from '../../../src/chat/request/read-chat-request.js';
import type { ChatEndpoint, ChatPrices, DatedChatPrices } from '../../../src/domain/chat/chat-model.js';
import { countedChatUsage } from '../../../src/domain/chat/chat-usage.js';

export const DEFAULT_OUTPUT_LIMIT = 32_768;
export const CHARGED_FROM = new Date('2026-06-01T12:00:00Z');
export const CHARGED_UNTIL = new Date('2026-06-01T12:30:00Z');
export const NO_CHAT_USAGE = countedChatUsage(0, 0);
export const LIST_PRICES: ChatPrices = { prompt: 400_000n, cacheRead: 100_000n, completion: 1_600_000n };

export const datedPrices = (prices: ChatPrices, more: Partial<DatedChatPrices> = {}): DatedChatPrices => ({
  effectiveFrom: '2026-01-01',
  source: 'the list of this test',
  ...prices,
  ...more,
});
export const pricedEndpoint = (settings: Partial<ChatEndpoint> = {}): ChatEndpoint => ({
  provider: 'openai',
  upstreamModel: 'a-model',
  contextLength: 1_000_000,
  maxOutputTokens: DEFAULT_OUTPUT_LIMIT,
  supportedParameters: [],
  inputModalities: ['text'],
  reasoningEfforts: [],
  isReasoning: false,
  hidesReasoning: false,
  prices: [datedPrices(LIST_PRICES)],
  quantization: null,
  dataPolicy: { retainsPrompts: false, trains: false },
  ...settings,
});

export async function boundedChat(
  members: object,
  injectedLimits: BoundedCall['injectedLimits'] = NO_INJECTED_LIMITS,
): Promise<BoundedCall> {
  const body = { model: 'a/b', messages: [{ role: 'user', content: 'hi' }], ...members };
  const text = JSON.stringify(body);
  const { request } = readChatRequest(body, Buffer.from(text));
  const size = await measurePrompt(request, NEVER_YIELD);
  return { request, size, predictionBytes: 0, injectedLimits, from: CHARGED_FROM, until: CHARGED_UNTIL };
}
