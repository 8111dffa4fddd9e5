// The internal form of a chat call: checked members in their own names, and the bytes of every member for the provider.
import type { CallerTrace } from '../caller-trace.js';

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };
export type JsonObject = { readonly [name: string]: JsonValue };

export interface ChatTextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A part that is not text. `body` is the part as the caller sent it. */
export interface ChatMediaPart {
  readonly type: 'image' | 'audio' | 'file' | 'video';
  readonly body: JsonObject;
  /** The address of an `https:` part; null where the data is inline. */
  readonly url: string | null;
  /** The size of inline data, decoded; 0 for addresses. */
  readonly bytes: number;
  readonly mediaType: string | null;
  /** Images: the caller's detail. Audio: the caller's format. */
  readonly detail: string | null;
}

export type ChatPart = ChatTextPart | ChatMediaPart;

export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  /** A string as the caller sent it, parts, or null. */
  readonly content: string | readonly ChatPart[] | null;
  readonly toolCalls: readonly ChatToolCall[];
  readonly toolCallId: string | null;
  readonly name: string | null;
  /** The whole message as the caller sent it. */
  readonly body: JsonObject;
}

export interface ChatTool {
  readonly name: string;
  readonly body: JsonObject;
}

export interface ReasoningSettings {
  /** max | xhigh | high | medium | low | minimal | none; null: by maxTokens, or the endpoint's default. */
  readonly effort: string | null;
  readonly maxTokens: number | null;
  /** The answer carries no reasoning. */
  readonly isExcluded: boolean;
  readonly isEnabled: boolean;
}

export interface ChatRequest {
  /** As the caller names them, the preferred one first; at least one. */
  readonly models: readonly string[];
  readonly isStreamed: boolean;
  /** `stream_options.include_usage`: the form of the usage chunk. */
  readonly includesUsageChunk: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** none | auto | required, or the name of a function; null: absent. */
  readonly toolChoice:
    { readonly mode: 'none' | 'auto' | 'required' } | { readonly functionName: string } | null;
  /** text | json_object | json_schema | grammar | python */
  readonly responseFormat: string;
  readonly responseSchema: JsonValue;
  /** The smaller of max_tokens and max_completion_tokens; null: no limit by the caller. */
  readonly maxOutputTokens: number | null;
  readonly choiceCount: number;
  readonly wantsLogprobs: boolean;
  /** Alternatives of each token. */
  readonly topLogprobs: number;
  readonly reasoning: ReasoningSettings | null;
  readonly serviceTier: string | null;
  /** The text of `prediction`; null: absent. */
  readonly prediction: string | null;
  /** 5m | 1h where a cache write can happen; null: none is asked for. */
  readonly cacheWriteTtl: '5m' | '1h' | null;
  readonly wantsEnforcedSchema: boolean;
  readonly user: string | null;
  readonly sessionId: string | null;
  readonly trace: CallerTrace | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly promptCacheKey: string | null;
  /**
   * Every top-level member that is not null, in the caller's order: its JSON text byte for byte. Members that the router
   * reads (model, models, provider, trace, session_id, ...) are not in it; all others are, known and unknown. Long ones are
   * removed once no further provider can be tried.
   */
  readonly members: Map<string, Buffer>;
}
