// The parts of a trace that kinds share: facts under common names, texts and ids for platforms with their own formats,
// and JSON within a size limit.
import type {
  GenerationTrace,
  TracedChat,
  TracedContent,
  TracedRerank,
} from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { cutTexts, settingsOf } from './chat-forms.js';
import type { DeliveryRequest } from './delivery.js';
import { wellFormedJson } from '../../domain/text/well-formed-json.js';

/** `body`: a value, or JSON text. */
export function postJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object | string,
): DeliveryRequest {
  return {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : wellFormedJson(body),
  };
}

/**
 * The facts of a generation, including those for which a platform has its own fields. Each call returns a new object.
 */
export function traceProperties(trace: GenerationTrace): Record<string, unknown> {
  // Unknown values are undefined, so that JSON omits them.
  return {
    generation_id: generationHeaderId(trace.generationId),
    trace_id: trace.traceId,
    parent_span_id: trace.parentSpanId ?? undefined,
    caller_trace_id: trace.callerTraceId ?? undefined,
    trace_name: trace.traceName ?? undefined,
    operation: trace.operation,
    model: trace.model,
    upstream_model: trace.upstreamModel ?? undefined,
    provider: trace.provider ?? undefined,
    upstream_id: trace.upstreamId ?? undefined,
    status: trace.status,
    error_type: trace.error?.type,
    duration_ms: trace.durationMs,
    input_count: trace.chat === null ? trace.inputCount : undefined,
    input_truncated: (trace.input?.isTruncated ?? trace.chat?.content?.isInputTruncated) || undefined,
    prompt_tokens: trace.promptTokens,
    total_tokens: trace.totalTokens,
    ...(trace.chat && chatProperties(trace.chat)),
    ...(trace.rerank && rerankProperties(trace.rerank)),
    cost: trace.cost ?? undefined,
    is_byok: trace.isByok,
    dimensions: trace.dimensions ?? undefined,
    encoding_format: trace.encodingFormat ?? undefined,
    input_type: trace.inputType ?? undefined,
    workspace_id: trace.workspaceId,
    api_key_name: trace.apiKeyName,
    creator_user_id: trace.creatorUserId ?? undefined,
    user_id: trace.userId ?? undefined,
    session_id: trace.sessionId ?? undefined,
    attempts: trace.attempts,
    openrouter_generation: Object.keys(trace.facts).length > 0 ? trace.facts : undefined,
  };
}

function rerankProperties({ searchUnits, topN, usageSource }: TracedRerank): Record<string, unknown> {
  return { search_units: searchUnits ?? undefined, top_n: topN ?? undefined, usage_source: usageSource };
}

function chatProperties(chat: TracedChat): Record<string, unknown> {
  return {
    output_truncated: chat.content?.isOutputTruncated || undefined,
    completion_tokens: chat.completionTokens,
    reasoning_tokens: chat.reasoningTokens,
    cached_tokens: chat.cachedTokens,
    cache_write_tokens: chat.cacheWriteTokens,
    usage_source: chat.usageSource,
    finish_reason: chat.finishReason ?? undefined,
    native_finish_reason: chat.nativeFinishReason ?? undefined,
    streamed: chat.isStreamed,
    cancelled: chat.isCancelled || undefined,
    time_to_first_token_ms: chat.timeToFirstTokenMs ?? undefined,
    service_tier: chat.serviceTier ?? undefined,
    parameters: settingsOf(chat),
  };
}

// Receivers conclude from the absence of these names, so a caller cannot set them.
const RESERVED = new Set(['error_type', 'openrouter_generation']);

/**
 * The properties and the caller's own keys. A property with a value takes precedence. Each call returns a new object.
 */
export function traceMetadata(trace: GenerationTrace): Record<string, unknown> {
  // Keys are added to the properties: spreading two objects into a third takes fifteen times as long.
  const metadata = traceProperties(trace);
  for (const [key, value] of Object.entries(trace.metadata)) {
    const isTaken = Object.hasOwn(metadata, key) && metadata[key] !== undefined;
    if (isTaken || RESERVED.has(key)) continue;
    // An assignment would change the prototype for the key `__proto__`.
    Object.defineProperty(metadata, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return metadata;
}

/** The inputs as texts: token ids as their JSON. */
export function inputTexts({ items }: TracedContent): string[] {
  return items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

/** The reason of a failure: its message, or its type when the message is private. Undefined for a success. */
export function errorText({ error }: GenerationTrace): string | undefined {
  return error === null ? undefined : (error.message ?? error.type);
}

/** The name of a model without its author, as price lists of platforms have it: `text-embedding-3-small`. */
export function bareModelName({ model }: GenerationTrace): string {
  return model.slice(model.indexOf('/') + 1);
}

/** Embeddings of providers that count more than the input have the rest here. */
export function completionTokensOf({ chat, promptTokens, totalTokens }: GenerationTrace): number {
  return chat?.completionTokens ?? Math.max(0, totalTokens - promptTokens);
}

/** A summary instead of the vectors, which are never sent; the results of a rerank call. Undefined for a failure. */
export function outputSummary({
  error,
  inputCount,
  dimensions,
  rerank,
}: GenerationTrace): object | undefined {
  if (error !== null) return undefined;
  if (rerank?.content)
    return { results: rerank.content.results.map(({ index, score }) => ({ index, relevance_score: score })) };
  return { count: inputCount, dimensions: dimensions ?? undefined };
}

/**
 * A UUID (version 7) that is a pure function of the generation and the destination. It holds the start of the call and the
 * hash in its span id. `ordinal` separates the two ids that some platforms need.
 */
export function uuidOfTrace({ startedAt, spanId }: GenerationTrace, ordinal: 0 | 1 = 0): string {
  const time = startedAt.getTime().toString(16).padStart(12, '0');
  const [first, second, third] = [spanId.slice(0, 3), spanId.slice(3, 6), spanId.slice(6)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${first}-8${second}-${third}0${ordinal}`;
}

/**
 * The JSON of an item that would exceed the platform's limit: without its inputs, or with the beginnings of the texts of a
 * chat.
 */
export function jsonWithin(
  maxBytes: number,
  trace: GenerationTrace,
  encodeItem: (trace: GenerationTrace) => object,
): string {
  const json = wellFormedJson(encodeItem(trace));
  if (Buffer.byteLength(json) <= maxBytes) return json;
  if (trace.chat?.content) return chatWithin(maxBytes, trace, trace.chat, encodeItem);
  return trace.input === null
    ? json
    : wellFormedJson(encodeItem({ ...trace, input: { items: [], isTruncated: true } }));
}

// Characters of a text, and the next shorter length.
const LONGEST_TEXT = 131_072;
const SHRINKS_BY = 4;

function chatWithin(
  maxBytes: number,
  trace: GenerationTrace,
  chat: TracedChat,
  encodeItem: (trace: GenerationTrace) => object,
): string {
  const encodeWith = (content: TracedChat['content']): string =>
    wellFormedJson(encodeItem({ ...trace, chat: { ...chat, content } }));
  for (let length = LONGEST_TEXT; length > 1 && chat.content; length = Math.floor(length / SHRINKS_BY)) {
    const cut = { ...cutTexts(chat.content, length), isInputTruncated: true, isOutputTruncated: true };
    const json = encodeWith(cut);
    if (Buffer.byteLength(json) <= maxBytes) return json;
  }
  return encodeWith(null);
}
