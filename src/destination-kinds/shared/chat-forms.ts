// The messages, answers and usage of a chat in the forms that platforms read, and cut to their limits.
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { JsonObject } from '../../domain/chat/chat-request.js';
import { ends, mapTexts, toContentCall } from '../../domain/generations/chat-content.js';
import type { ChatContent, ContentMessage, ContentToolCall } from '../../domain/generations/chat-content.js';
import type {
  GenerationTrace,
  TracedChat,
  TracedChatContent,
} from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { boundedText } from '../../domain/text/bounded-text.js';
import { levelOf } from '../../domain/text/kept-text.js';
import { wellFormedJson } from '../../domain/text/well-formed-json.js';
import { isObject } from '../../domain/members.js';

/** A trace of a chat. */
export interface ChatTrace extends GenerationTrace {
  readonly chat: TracedChat;
}

export function isChat(trace: GenerationTrace): trace is ChatTrace {
  return trace.chat !== null;
}

/** An answer as a message of the wire. */
export interface AnswerMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly ContentToolCall[];
}

/** The messages, and the definitions of tools if there are any. */
export function promptOf({ messages, tools }: ChatContent): object {
  return tools.length === 0 ? { messages } : { messages, tools };
}

export function answerOf({ content, reasoning, refusal, toolCalls }: ChatChoice): AnswerMessage {
  return {
    role: 'assistant',
    content,
    ...(reasoning === null ? {} : { reasoning }),
    ...(refusal === null ? {} : { refusal }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toContentCall) }),
  };
}

/** The text of an answer; its refusal where it says nothing else. */
export function textOfAnswer({
  content,
  refusal,
}: Pick<AnswerMessage, 'content' | 'refusal'>): string | null {
  return content || (refusal ?? content);
}

/** One message per answer. */
export function answersOf({ choices }: ChatContent): readonly AnswerMessage[] {
  return choices.map(answerOf);
}

/** The answers for platforms that show no refusal: it is repeated as the content. */
export function shownAnswersOf(content: ChatContent): readonly AnswerMessage[] {
  return answersOf(content).map((answer) => Object.assign(answer, { content: textOfAnswer(answer) }));
}

/** The answers with their finish reasons, as a completion lists them. */
export function choicesOf({ choices }: ChatContent): readonly object[] {
  return choices.map((choice) => ({
    index: choice.index,
    message: answerOf(choice),
    finish_reason: choice.finishReason,
  }));
}

/** A completion in the form of the wire. Without content it has no choices. */
export function completionOf({ generationId, model, chat }: ChatTrace): Record<string, unknown> {
  return {
    id: generationHeaderId(generationId),
    object: 'chat.completion',
    model,
    choices: chat.content === null ? [] : choicesOf(chat.content),
  };
}

/** The finish reasons of all answers; the first one's where they are not stored. */
export function finishReasonsOf({ content, finishReason }: TracedChat): readonly string[] {
  const reasons = content?.choices.map((choice) => choice.finishReason) ?? [finishReason];
  return reasons.filter((reason) => reason !== null);
}

/** The settings of the request, with the texts that privacy mode omits. */
export function settingsOf({ parameters, content }: TracedChat): Record<string, unknown> {
  return {
    ...parameters,
    ...(content === null || content.stop.length === 0 ? {} : { stop: content.stop }),
    ...(content === null || content.responseSchema === null
      ? {}
      : { response_schema: content.responseSchema }),
  };
}

/** A number among the settings of the request; null: it is not set. */
export function numberSetting({ parameters }: TracedChat, name: string): number | null {
  const value = parameters[name];
  return typeof value === 'number' ? value : null;
}

/** The usage in the form of the wire: details are parts of the totals. */
export function usageOf({ promptTokens, totalTokens, cost, isByok, chat }: ChatTrace): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: chat.completionTokens,
    total_tokens: totalTokens,
    ...tokenDetails(chat),
    ...(cost === null ? {} : { cost }),
    is_byok: isByok,
    cost_details: {
      upstream_inference_prompt_cost: chat.upstreamPromptCost,
      upstream_inference_completions_cost: chat.upstreamCompletionCost,
    },
  };
}

export function tokenDetails(chat: TracedChat): {
  readonly prompt_tokens_details: Readonly<Record<string, number>>;
  readonly completion_tokens_details: Readonly<Record<string, number>>;
} {
  return {
    prompt_tokens_details: {
      cached_tokens: chat.cachedTokens,
      cache_write_tokens: chat.cacheWriteTokens,
      audio_tokens: chat.audioInputTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: chat.reasoningTokens,
      audio_tokens: chat.audioOutputTokens,
    },
  };
}

/** The prompt tokens that were neither read from the cache nor written to it. */
export function uncachedTokens({ promptTokens, chat }: ChatTrace): number {
  return Math.max(0, promptTokens - chat.cachedTokens - chat.cacheWriteTokens);
}

/** An amount in USD without its parts, to the last unit of prices. */
export function remainder(amount: number, parts: readonly (number | null)[]): number {
  const rest = parts.reduce<number>((sum, part) => sum - (part ?? 0), amount);
  return Math.max(0, Number(rest.toFixed(PRICE_DECIMALS)));
}

/** Seconds to the first token; null without a stream or without content. */
export function firstTokenSeconds({ timeToFirstTokenMs }: TracedChat): number | null {
  return timeToFirstTokenMs === null ? null : timeToFirstTokenMs / 1000;
}

/** The moment of the first token. */
export function firstTokenAt({ startedAt, chat }: ChatTrace): Date | null {
  const { timeToFirstTokenMs: milliseconds } = chat;
  return milliseconds === null ? null : new Date(startedAt.getTime() + milliseconds);
}

/** The functions of tools without the wrapper of the wire. */
export function functionsOf(
  tools: ChatContent['tools'],
): readonly Readonly<Record<'name' | 'description' | 'parameters', unknown>>[] {
  return tools.map((tool) => {
    const { name, description, parameters } = tool['function'] as JsonObject;
    return { name, description, parameters };
  });
}

/** The arguments of a tool call as a value; their text where it is not an object of JSON. */
export function argumentsOf(text: string): object | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** The text of a message, with its parts one a line. */
export function plainText(content: ContentMessage['content']): string {
  if (typeof content === 'string') return content;
  const lines = (content ?? []).map((part) => {
    if (part.type === 'text') return part.text;
    return part.type === 'image_url' ? part.image_url.url : part.video_url.url;
  });
  return lines.join('\n');
}

/** Decimals of the finest amount. */
const PRICE_DECIMALS = 12;

// Characters below which a shorter text says nothing more, and whole messages are omitted instead.
const SHORTEST_CUT = 16;
const SHRINKS_BY = 0.8;

export interface CutText {
  /** JSON. */
  readonly text: string;
  readonly isTruncated: boolean;
}

/**
 * A form of the content as JSON of at most `maxLength` characters, whole as JSON: the longest texts are cut first, then
 * definitions of tools and messages in the middle are omitted.
 */
export function jsonOfContent(
  content: TracedChatContent,
  maxLength: number,
  form: (content: TracedChatContent) => object,
): CutText {
  const whole = wellFormedJson(form(content));
  if (whole.length <= maxLength) return { text: whole, isTruncated: false };
  for (let kept: TracedChatContent = content; ; kept = withFewerEntries(kept)) {
    let level = firstLevel(kept, wellFormedJson(form(kept)).length, maxLength);
    for (; level >= SHORTEST_CUT; level = Math.floor(level * SHRINKS_BY)) {
      const text = wellFormedJson(form(cutTexts(kept, level)));
      if (text.length <= maxLength) return { text, isTruncated: true };
    }
    const isEmpty = kept.messages.length + kept.choices.length + kept.tools.length === 0;
    if (isEmpty) return { text: wellFormedJson(form(kept)), isTruncated: true };
  }
}

/** The content with no text longer than `length` characters. */
export function cutTexts(content: TracedChatContent, length: number): TracedChatContent {
  return { ...content, ...mapTexts(content, (text) => boundedText(text, length)) };
}

/** The length of texts with which the JSON would fit if every character took one. */
function firstLevel(content: TracedChatContent, length: number, maxLength: number): number {
  const lengths: number[] = [];
  mapTexts(content, (text) => {
    lengths.push(text.length);
    return text;
  });
  const ofTexts = lengths.reduce((sum, each) => sum + each, 0);
  return Math.min(maxLength, levelOf(lengths, maxLength - (length - ofTexts)));
}

function withFewerEntries(content: TracedChatContent): TracedChatContent {
  if (content.tools.length > 0) return { ...content, tools: [] };
  return {
    ...content,
    messages: ends(content.messages, Math.floor(content.messages.length / 2)),
    choices: content.choices.slice(0, Math.floor(content.choices.length / 2)),
  };
}
