// Free text of callers and providers. Only this file reads these members on the way to a destination, and privacy mode
// removes them all: the input, and any text that may repeat or describe it.
import { boundedLabel } from '../text/bounded-text.js';
import { callerMetadata, traceText } from '../caller-trace.js';
import type { GenerationCandidate } from './generation-candidate.js';
import type { RerankContent } from '../rerank/rerank.js';
import type { TracedChatContent, TracedContent } from './generation-trace.js';
import type { Generation } from './generation.js';
import type { ChatFacts } from '../chat/chat-outcome.js';
import { isPlainSetting } from '../chat/chat-parameters.js';
import type { JsonObject } from '../chat/chat-request.js';
import { isInputType } from '../embeddings/embedding.js';
import { callerTraceIdOf } from './trace-ids.js';

type FreeTextMember = 'trace' | 'requestContext' | 'inputType' | 'upstreamId' | 'chat';
type FreeTextOfChat = 'parameters' | 'finishReason' | 'nativeFinishReason' | 'serviceTier';

/** A generation without those members: ids, numbers and words of this service only. */
export type RecordedFacts = Omit<Generation, FreeTextMember> & {
  readonly chat: Omit<ChatFacts, FreeTextOfChat> | null;
};

/** The words of a chat call: the caller's settings, and the provider's. */
export type ChatWords = Pick<ChatFacts, FreeTextOfChat> & { readonly content: TracedChatContent | null };

export interface FreeText {
  /** Null for chat. */
  readonly input: TracedContent | null;
  /** Null for other operations. */
  readonly chat: ChatWords | null;
  /** Null for other operations, and in privacy mode. */
  readonly rerank: RerankContent | null;
  readonly errorMessage: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly callerTraceId: string | null;
  readonly traceName: string | null;
  readonly spanName: string | null;
  readonly inputType: string | null;
  readonly upstreamId: string | null;
  readonly userAgent: string | null;
  readonly referer: string | null;
  readonly title: string | null;
}

export function freeTextOf({ generation, content }: GenerationCandidate): FreeText {
  const { trace, requestContext, chat } = generation;
  return {
    input: content && !chat ? { items: content.items, isTruncated: content.isTruncated } : null,
    chat: chat && {
      parameters: chat.parameters,
      finishReason: boundedLabel(chat.finishReason),
      nativeFinishReason: boundedLabel(chat.nativeFinishReason),
      serviceTier: boundedLabel(chat.serviceTier),
      content: content?.chat ? { ...content.chat, isInputTruncated: content.isTruncated } : null,
    },
    rerank: content?.rerank ?? null,
    errorMessage: content?.errorMessage ?? null,
    metadata: callerMetadata(trace),
    callerTraceId: boundedLabel(callerTraceIdOf(generation)),
    traceName: boundedLabel(traceText(trace, 'trace_name')),
    spanName: boundedLabel(
      traceText(trace, 'generation_name') ?? traceText(trace, 'span_name') ?? traceText(trace, 'trace_name'),
    ),
    inputType: boundedLabel(generation.inputType),
    upstreamId: boundedLabel(generation.upstreamId),
    userAgent: boundedLabel(requestContext?.userAgent),
    referer: boundedLabel(requestContext?.referer),
    title: boundedLabel(requestContext?.title),
  };
}

/** The form of ids, and of a provider's words for a finish reason or a tier. */
const WORD = /^[\w.:-]{1,128}$/;

/** The values of free members that are not free text: a known input type, and an id with the form of one. */
export function privateTextOf({
  generation: { inputType, upstreamId, chat },
}: Pick<GenerationCandidate, 'generation'>): FreeText {
  return {
    input: null,
    chat: chat && {
      parameters: chat.parameters && plainSettings(chat.parameters),
      finishReason: wordOf(chat.finishReason),
      nativeFinishReason: wordOf(chat.nativeFinishReason),
      serviceTier: wordOf(chat.serviceTier),
      content: null,
    },
    rerank: null,
    errorMessage: null,
    metadata: {},
    callerTraceId: null,
    traceName: null,
    spanName: null,
    inputType: inputType !== null && isInputType(inputType) ? inputType : null,
    upstreamId: wordOf(upstreamId),
    userAgent: null,
    referer: null,
    title: null,
  };
}

function wordOf(text: string | null): string | null {
  return text !== null && WORD.test(text) ? text : null;
}

function plainSettings(parameters: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => isPlainSetting(value)));
}
