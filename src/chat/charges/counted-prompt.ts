// The tokens of a prompt whose provider reports none: of everything that was sent, at most its bound
// (docs/contract.md#chat-usage).
import { countTextTokens } from '../../catalogue/text-tokens.js';
import { typicalTokens } from '../../catalogue/token-count.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatRequest, JsonObject, JsonValue } from '../../domain/chat/chat-request.js';
import { countedChatUsage } from '../../domain/chat/chat-usage.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import type { SentPrompt } from '../../providers/shared/chat-wire.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { allowedBytes, promptBound } from './prompt-size.js';
import type { PromptSize } from './prompt-size.js';
import { typicalMediaTokens } from './typical-media.js';

// The overhead of a message in a chat template.
const TOKENS_PER_MESSAGE = 4;

export async function countPrompt(
  request: ChatRequest,
  size: PromptSize,
  { model, endpoint, wire }: ChatTarget,
  pace: Pace,
): Promise<number> {
  const prompt = 'promptOf' in wire ? wire.promptOf?.({ request, endpoint }) : undefined;
  const sent = prompt ?? promptAsItCame(request);
  const texts = await countTextTokens(textsOf(sent, request), model.tokenizer ?? 'o200k', pace);
  const others =
    TOKENS_PER_MESSAGE * request.messages.length +
    typicalMediaTokens(request, endpoint) +
    // Of unknown members, whose texts are released before the end of the call.
    typicalTokens(allowedBytes(size, endpoint));
  return Math.min(texts + others, promptBound(size, endpoint));
}

/** Usage that was reported before the end of an answer is a lower bound of a count. */
export function atLeast(counted: ChatUsage, reported: ChatUsage | undefined): ChatUsage {
  if (reported === undefined) return counted;
  return countedChatUsage(
    Math.max(counted.promptTokens, reported.promptTokens),
    Math.max(counted.completionTokens, reported.completionTokens),
  );
}

function promptAsItCame({ messages, tools }: ChatRequest): SentPrompt {
  return { messages: messages.map(({ body }) => body), tools: tools.map(({ body }) => body) };
}

function* textsOf({ messages, tools }: SentPrompt, request: ChatRequest): Generator<string> {
  for (const message of messages) yield* messageTexts(message);
  // Providers write tools and schemas into the prompt in forms of their own.
  for (const tool of tools) yield JSON.stringify(tool);
  if (request.responseSchema !== null) yield JSON.stringify(request.responseSchema);
  if (request.prediction !== null) yield request.prediction;
}

function* messageTexts(message: JsonObject): Generator<string> {
  for (const [name, value] of Object.entries(message)) {
    if (name === 'content') yield* contentTexts(value);
    else if (name === 'tool_calls') yield* stringsOf(value);
    else if (name !== 'role') yield typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/** Media count at typical rates. */
function* contentTexts(content: JsonValue): Generator<string> {
  if (typeof content === 'string') yield content;
  for (const part of Array.isArray(content) ? (content as readonly JsonObject[]) : []) {
    const text = part['text'] ?? part['refusal'];
    if (typeof text === 'string') yield text;
  }
}

/** The texts of calls, without the names of their members. */
function* stringsOf(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) yield* stringsOf(item);
}
